//! Samplers, and the function that decodes any of them.

mod access_log_sampler;
pub mod debug_sampler;
mod defaults;
mod dummy_sampler;
#[cfg(any(feature = "mail", feature = "mqtt"))]
mod findings;
mod flow_control;
pub mod ftp;
#[cfg(feature = "grpc")]
pub mod grpc;
#[cfg(not(feature = "grpc"))]
mod grpc_missing;
pub mod http;
pub mod java_sampler;
mod java_socket;
mod jdbc_sampler;
pub mod listing;
#[cfg(feature = "mail")]
pub mod mail;
#[cfg(feature = "mqtt")]
pub mod mqtt;
#[cfg(not(feature = "mqtt"))]
mod mqtt_missing;
pub mod own_part;
mod parallel_http_sampler;
mod parallel_sampler;
mod set_variables_action;
pub mod stream;
mod system_sampler;
mod tcp_client;
mod tcp_sampler;
mod tcp_status;
pub mod websocket;

use drumfire_elements::samplers as facts;
use drumfire_elements::shared::tcp;

use crate::decode::Decoder;
use crate::elements::catalogue::{Role, Rung};
use crate::elements::foreign;
use crate::elements::java;
use crate::elements::jdbc;
use crate::elements::refusal::cannot_run;
use crate::resolve::Element;
use crate::run::needs::Needs;
use crate::run::sampler::Sampler;

pub use parallel_sampler::{CLASS as PARALLEL_CONTROLLER, branch_kind, decode as parallel};

/// Decodes a sampler with the configuration in its scope, the nearest first. `needs` says what the run reads of its result,
/// `is_used` whether scripts in its scope read or change its settings.
pub fn decode(
    d: &mut Decoder,
    configs: &[&Element],
    needs: Needs,
    is_used: bool,
) -> Option<Box<dyn Sampler>> {
    if is_used && shows_settings_in_java(d) {
        java::tell(d, "a script in its scope uses the sampler");
        return in_java(d, configs);
    }
    match d.element.class.as_str() {
        facts::debug_sampler::CLASS => boxed(debug_sampler::decode(d, needs)),
        facts::dummy_sampler::CLASS => boxed(dummy_sampler::decode(d, needs)),
        facts::set_variables_action::CLASS => boxed(set_variables_action::decode(d)),
        facts::java_request::CLASS => match java_sampler::decode(d, configs, needs) {
            Some(sampler) => boxed(sampler),
            None => java_request(d, configs),
        },
        facts::jdbc_request::CLASS if jdbc::runs_here(d.decoding) => {
            boxed(jdbc_sampler::decode(d, needs))
        }
        facts::jdbc_request::CLASS => in_java(d, configs),
        facts::access_log_sampler::CLASS => match access_log_sampler::decode(d, configs, needs) {
            Some(sampler) => boxed(sampler),
            None => instead(d, configs, facts::access_log_sampler::PARSER.name),
        },
        facts::flow_control_action::CLASS => boxed(flow_control::decode(d)),
        facts::os_process_sampler::CLASS => boxed(system_sampler::decode(d)),
        facts::tcp_sampler::CLASS => match tcp_sampler::decode(d, configs, needs) {
            Some(sampler) => boxed(sampler),
            None => instead(d, configs, tcp::CLASSNAME.name),
        },
        facts::ftp_request::CLASS => boxed(ftp::decode(d, configs, needs)),
        facts::http_request::CLASS
        | facts::old_http_request::CLASS
        | facts::bzm_http2_request::CLASS => boxed(http::decode(d, configs, needs)?),
        parallel_http_sampler::CLASS => boxed(parallel_http_sampler::decode(d, configs, needs)?),
        facts::sse_sampler::CLASS => boxed(stream::sse_sampler::decode(d, needs)),
        facts::websocket_sampler::CLASS => boxed(websocket::decode_zaleski(d, configs, needs)),
        class if websocket::CLASSES.contains(&class) => boxed(websocket::decode(d, configs, needs)),
        #[cfg(feature = "grpc")]
        class if grpc::CLASSES.contains(&class) => boxed(grpc::decode(d, needs)),
        #[cfg(not(feature = "grpc"))]
        class if grpc_missing::CLASSES.contains(&class) => grpc_missing::refuse(d),
        #[cfg(feature = "mail")]
        facts::smtp_sampler::CLASS => boxed(mail::smtp(d, configs, needs)),
        #[cfg(feature = "mail")]
        facts::mail_reader_sampler::CLASS => match mail::reader(d, configs, needs) {
            Some(sampler) => boxed(sampler),
            None => {
                java::tell(d, "it names a protocol that runs in Java only");
                in_java(d, configs)
            }
        },
        #[cfg(feature = "mqtt")]
        class if mqtt::CLASSES.contains(&class) => boxed(mqtt::decode(d, needs)),
        #[cfg(not(feature = "mqtt"))]
        class if mqtt_missing::CLASSES.contains(&class) => mqtt_missing::refuse(d),
        class => decode_other(class, d, configs),
    }
}

/// Whether the sampler has a native implementation that shows no settings to scripts, and its Java class runs equally well.
fn shows_settings_in_java(d: &mut Decoder) -> bool {
    match d.element.class.as_str() {
        facts::os_process_sampler::CLASS
        | facts::java_request::CLASS
        | facts::mail_reader_sampler::CLASS
        | facts::smtp_sampler::CLASS
        | facts::tcp_sampler::CLASS
        | facts::ftp_request::CLASS => true,
        // Its listings of variables and properties are those of the run.
        facts::debug_sampler::CLASS => debug_sampler::lists_nothing(d),
        _ => false,
    }
}

/// Runs a sampler without a native implementation in Java, or reports why it cannot run.
fn decode_other(class: &str, d: &mut Decoder, configs: &[&Element]) -> Option<Box<dyn Sampler>> {
    let rung = crate::elements::entry(class).map(|entry| entry.rung);
    let is_foreign = rung.is_none() && foreign::role(d.element, d.decoding) == Some(Role::Sampler);
    if rung == Some(Rung::Jvm) || is_foreign {
        return in_java(d, configs);
    }
    if rung == Some(Rung::Native) {
        d.refuse(
            "sampler-not-built",
            format!("{class} cannot be run"),
            "disable the element",
        );
    } else {
        crate::elements::decode(d); // reports why not
    }
    None
}

fn boxed(sampler: impl Sampler + 'static) -> Option<Box<dyn Sampler>> {
    Some(Box::new(sampler))
}

/// Runs a Java Request whose class is not built in, or reports that no jar has the class.
fn java_request(d: &mut Decoder, configs: &[&Element]) -> Option<Box<dyn Sampler>> {
    let name = facts::java_request::CLASS_NAME.name;
    let sampler = instead(d, configs, name)?;
    let text = d.text_now(name);
    let class = drumfire_java::text::trim(&text);
    if class.is_empty() {
        return Some(sampler);
    }
    let Some(why) = foreign::class_fault(d, class) else {
        return Some(sampler);
    };
    let why = format!("it names the class `{class}`: {why}");
    cannot_run(d, facts::java_request::CLASS, &why);
    None
}

/// Runs a sampler in Java because of the class that one of its properties names.
fn instead(d: &mut Decoder, configs: &[&Element], name: &str) -> Option<Box<dyn Sampler>> {
    let class = d.text_now(name);
    java::tell(d, &format!("it names the class `{class}`"));
    in_java(d, configs)
}

fn in_java(d: &mut Decoder, configs: &[&Element]) -> Option<Box<dyn Sampler>> {
    java::sampler(d, configs).and_then(boxed)
}
