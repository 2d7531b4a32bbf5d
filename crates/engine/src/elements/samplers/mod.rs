//! Samplers, and the function that decodes any of them.

mod access_log_sampler;
pub mod debug_sampler;
mod defaults;
mod dummy_sampler;
mod flow_control;
pub mod http;
mod java_sampler;
mod jdbc_sampler;
pub mod listing;
mod parallel_http_sampler;
mod parallel_sampler;
mod set_variables_action;
mod system_sampler;
mod tcp_client;
mod tcp_sampler;
mod tcp_status;
pub mod websocket;

use crate::decode::Decoder;
use crate::elements::catalogue::{Role, Rung};
use crate::elements::foreign;
use crate::elements::java;
use crate::elements::jdbc;
use crate::resolve::Element;
use crate::run::needs::Needs;
use crate::run::sampler::Sampler;

pub use parallel_sampler::{CLASS as PARALLEL_CONTROLLER, branch_kind, decode as parallel};

/// Decodes a sampler with the configuration in its scope, the nearest first. `needs` says what the run reads of its result.
pub fn decode(d: &mut Decoder, configs: &[&Element], needs: Needs) -> Option<Box<dyn Sampler>> {
    match d.element.class.as_str() {
        "DebugSampler" => boxed(debug_sampler::decode(d, needs)),
        "kg.apc.jmeter.samplers.DummySampler" => boxed(dummy_sampler::decode(d, needs)),
        "kg.apc.jmeter.control.sampler.SetVariablesAction" => {
            boxed(set_variables_action::decode(d))
        }
        "JavaSampler" => match java_sampler::decode(d, configs, needs) {
            Some(sampler) => boxed(sampler),
            None => in_java(d, configs),
        },
        "JDBCSampler" if jdbc::runs_here(d.decoding) => boxed(jdbc_sampler::decode(d, needs)),
        "JDBCSampler" => in_java(d, configs),
        "AccessLogSampler" => match access_log_sampler::decode(d, configs, needs) {
            Some(sampler) => boxed(sampler),
            None => in_java(d, configs),
        },
        "TestAction" => boxed(flow_control::decode(d)),
        "SystemSampler" => boxed(system_sampler::decode(d)),
        "TCPSampler" => match tcp_sampler::decode(d, configs, needs) {
            Some(sampler) => boxed(sampler),
            None => in_java(d, configs),
        },
        "HTTPSamplerProxy"
        | "HTTPSampler_"
        | "com.blazemeter.jmeter.http2.sampler.HTTP2Sampler" => {
            boxed(http::decode(d, configs, needs)?)
        }
        parallel_http_sampler::CLASS => boxed(parallel_http_sampler::decode(d, configs, needs)?),
        class if websocket::CLASSES.contains(&class) => boxed(websocket::decode(d, configs, needs)),
        class => decode_other(class, d, configs),
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

fn in_java(d: &mut Decoder, configs: &[&Element]) -> Option<Box<dyn Sampler>> {
    java::sampler(d, configs).and_then(boxed)
}
