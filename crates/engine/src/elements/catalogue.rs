//! The catalogue of the element classes that the engine knows: how they run, and which function decodes them. The facts about
//! them stand in the crate `elements`.

use std::collections::HashMap;
use std::sync::LazyLock;

use drumfire_elements as facts;
use drumfire_elements::ElementFacts;
use rustc_hash::FxBuildHasher;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::java as java_element;
use crate::elements::{assertions, config, controllers, listeners, post, pre, timers};
use crate::resolve::Element;

/// The part that an element plays in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Plan,
    ThreadGroup,
    Controller,
    Sampler,
    /// Merged into samplers, or defines variables before the run.
    Config,
    /// Any other element in a sampler's scope.
    Scoped,
    /// Does nothing in a run.
    Ignored,
}

impl Role {
    const fn of(role: facts::Role) -> Role {
        match role {
            facts::Role::Plan => Role::Plan,
            facts::Role::ThreadGroup => Role::ThreadGroup,
            facts::Role::Controller | facts::Role::Fragment => Role::Controller,
            facts::Role::Sampler => Role::Sampler,
            facts::Role::Config => Role::Config,
            facts::Role::NonTest => Role::Ignored,
            _ => Role::Scoped,
        }
    }
}

/// How an element is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// By Drumfire's own code.
    Native,
    /// By Java code inside the process.
    Jvm,
    /// Not at all, without effect on the results: disabled, or meant for the graphical interface.
    Skipped,
    /// Not at all; a plan that contains it is refused.
    Refused,
}

/// One element class.
pub struct ElementClass {
    pub class: &'static str,
    pub role: Role,
    pub rung: Rung,
    /// Why it is not native.
    pub why: &'static str,
    pub decode: fn(&mut Decoder) -> Roles,
}

/// The entry of a class (its alias in plan files).
pub fn entry(class: &str) -> Option<&'static ElementClass> {
    static BY_CLASS: LazyLock<HashMap<&str, &ElementClass, FxBuildHasher>> =
        LazyLock::new(|| ENTRIES.iter().map(|entry| (entry.class, entry)).collect());
    BY_CLASS.get(class).copied()
}

/// All elements, by role.
pub fn entries() -> &'static [ElementClass] {
    ENTRIES
}

/// Whether the element is a thread group. A class that is not in the catalogue is recognised by the settings that JMeter's
/// interface saves for every thread group, such as `ThreadGroup.on_sample_error`.
pub fn is_thread_group(element: &Element) -> bool {
    match entry(&element.class) {
        Some(entry) => entry.role == Role::ThreadGroup,
        None => {
            let mut props = element.props.iter();
            props.any(|prop| prop.name.starts_with("ThreadGroup."))
        }
    }
}

/// Why a class that is not in the catalogue cannot run.
pub const UNKNOWN_CLASS: &str = "it is a plugin's element, which needs its Java class";
const SCRIPT: &str = "it is a script";
const PROTOCOL: &str = "its own Java class runs it";
const SERVER_METRICS: &str = "Drumfire does not collect these metrics";
const UPLOAD: &str = "Drumfire does not upload results";

fn nothing(_: &mut Decoder) -> Roles {
    Roles::default()
}

const fn native(facts: &'static ElementFacts, decode: fn(&mut Decoder) -> Roles) -> ElementClass {
    ElementClass {
        class: facts.class,
        role: Role::of(facts.role),
        rung: Rung::Native,
        why: "",
        decode,
    }
}

/// The entry of a mail sampler, which Java runs in a build without mail.
const fn native_with_mail(facts: &'static ElementFacts) -> ElementClass {
    if cfg!(feature = "mail") {
        native(facts, nothing)
    } else {
        java(facts, PROTOCOL, nothing)
    }
}

/// The entry of a class that Java runs.
const fn java(
    facts: &'static ElementFacts,
    why: &'static str,
    decode: fn(&mut Decoder) -> Roles,
) -> ElementClass {
    ElementClass {
        class: facts.class,
        role: Role::of(facts.role),
        rung: Rung::Jvm,
        why,
        decode,
    }
}

const fn other(facts: &'static ElementFacts, rung: Rung, why: &'static str) -> ElementClass {
    ElementClass {
        class: facts.class,
        role: Role::of(facts.role),
        rung,
        why,
        decode: nothing,
    }
}

static ENTRIES: &[ElementClass] = &[
    native(&facts::other::test_plan::FACTS, nothing),
    native(&facts::thread_groups::thread_group::FACTS, nothing),
    native(&facts::thread_groups::setup_thread_group::FACTS, nothing),
    native(&facts::thread_groups::teardown_thread_group::FACTS, nothing),
    native(
        &facts::thread_groups::open_model_thread_group::FACTS,
        nothing,
    ),
    native(&facts::thread_groups::stepping_thread_group::FACTS, nothing),
    native(&facts::thread_groups::ultimate_thread_group::FACTS, nothing),
    native(
        &facts::thread_groups::concurrency_thread_group::FACTS,
        nothing,
    ),
    native(&facts::thread_groups::arrivals_thread_group::FACTS, nothing),
    native(
        &facts::thread_groups::free_form_arrivals_thread_group::FACTS,
        nothing,
    ),
    native(
        &facts::controllers::simple_controller::FACTS,
        controllers::simple,
    ),
    native(
        &facts::controllers::test_fragment::FACTS,
        controllers::simple,
    ),
    native(
        &facts::controllers::recording_controller::FACTS,
        controllers::simple,
    ),
    native(
        &facts::controllers::module_controller::FACTS,
        controllers::simple,
    ),
    native(
        &facts::controllers::include_controller::FACTS,
        controllers::simple,
    ),
    native(
        &facts::controllers::loop_controller::FACTS,
        controllers::loops,
    ),
    native(
        &facts::controllers::while_controller::FACTS,
        controllers::whiles,
    ),
    native(&facts::controllers::if_controller::FACTS, controllers::ifs),
    native(
        &facts::controllers::once_only_controller::FACTS,
        controllers::once_only,
    ),
    native(
        &facts::controllers::transaction_controller::FACTS,
        controllers::transaction,
    ),
    native(
        &facts::controllers::foreach_controller::FACTS,
        controllers::for_each,
    ),
    native(
        &facts::controllers::interleave_controller::FACTS,
        controllers::interleave,
    ),
    native(
        &facts::controllers::random_controller::FACTS,
        controllers::random,
    ),
    native(
        &facts::controllers::random_order_controller::FACTS,
        controllers::random_order,
    ),
    native(
        &facts::controllers::switch_controller::FACTS,
        controllers::switch,
    ),
    native(
        &facts::controllers::throughput_controller::FACTS,
        controllers::throughput,
    ),
    native(
        &facts::controllers::runtime_controller::FACTS,
        controllers::runtime,
    ),
    native(
        &facts::controllers::critical_section_controller::FACTS,
        controllers::critical_section,
    ),
    native(
        &facts::controllers::parameterized_controller::FACTS,
        controllers::parameterized,
    ),
    native(
        &facts::controllers::weighted_switch_controller::FACTS,
        controllers::weighted_switch,
    ),
    native(&facts::controllers::parallel_controller::FACTS, nothing),
    native(
        &facts::controllers::http_async_controller::FACTS,
        controllers::http_async,
    ),
    // Samplers are decoded with the configuration in their scope, by `samplers::decode`.
    native(&facts::samplers::http_request::FACTS, nothing),
    native(&facts::samplers::old_http_request::FACTS, nothing),
    native(&facts::samplers::bzm_http2_request::FACTS, nothing),
    native(&facts::samplers::parallel_http_requests::FACTS, nothing),
    native(&facts::samplers::debug_sampler::FACTS, nothing),
    native(&facts::samplers::flow_control_action::FACTS, nothing),
    native(&facts::samplers::java_request::FACTS, nothing),
    native(&facts::samplers::dummy_sampler::FACTS, nothing),
    java(&facts::samplers::bean_shell_sampler::FACTS, SCRIPT, nothing),
    java(&facts::samplers::jsr223_sampler::FACTS, SCRIPT, nothing),
    java(&facts::samplers::bsf_sampler::FACTS, SCRIPT, nothing),
    native(&facts::samplers::jdbc_request::FACTS, nothing),
    native(&facts::samplers::set_variables_action::FACTS, nothing),
    native(&facts::samplers::os_process_sampler::FACTS, nothing),
    native(&facts::samplers::tcp_sampler::FACTS, nothing),
    native(&facts::samplers::ftp_request::FACTS, nothing),
    native_with_mail(&facts::samplers::smtp_sampler::FACTS),
    native_with_mail(&facts::samplers::mail_reader_sampler::FACTS),
    java(&facts::samplers::ldap_request::FACTS, PROTOCOL, nothing),
    java(
        &facts::samplers::ldap_extended_request::FACTS,
        PROTOCOL,
        nothing,
    ),
    java(
        &facts::samplers::jms_point_to_point::FACTS,
        PROTOCOL,
        nothing,
    ),
    java(&facts::samplers::jms_publisher::FACTS, PROTOCOL, nothing),
    java(&facts::samplers::jms_subscriber::FACTS, PROTOCOL, nothing),
    java(&facts::samplers::junit_request::FACTS, PROTOCOL, nothing),
    native(&facts::samplers::access_log_sampler::FACTS, nothing),
    java(&facts::samplers::ajp_sampler::FACTS, PROTOCOL, nothing),
    java(&facts::samplers::bolt_request::FACTS, PROTOCOL, nothing),
    native(&facts::samplers::sse_sampler::FACTS, nothing),
    native(&facts::samplers::websocket_open::FACTS, nothing),
    native(&facts::samplers::websocket_request_response::FACTS, nothing),
    native(&facts::samplers::websocket_single_read::FACTS, nothing),
    native(&facts::samplers::websocket_single_write::FACTS, nothing),
    native(&facts::samplers::websocket_ping_pong::FACTS, nothing),
    native(&facts::samplers::websocket_close::FACTS, nothing),
    native(&facts::samplers::grpc_request::FACTS, nothing),
    native(&facts::samplers::old_grpc_request::FACTS, nothing),
    native(&facts::samplers::mqtt_connect::FACTS, nothing),
    native(&facts::samplers::mqtt_pub::FACTS, nothing),
    native(&facts::samplers::mqtt_sub::FACTS, nothing),
    native(&facts::samplers::mqtt_disconnect::FACTS, nothing),
    native(&facts::samplers::mqtt_efficient_connect::FACTS, nothing),
    native(&facts::samplers::mqtt_efficient_disconnect::FACTS, nothing),
    native(&facts::samplers::websocket_sampler::FACTS, nothing),
    native(&facts::config::http_defaults::FACTS, nothing),
    native(&facts::config::old_login::FACTS, nothing),
    native(&facts::config::java_defaults::FACTS, nothing),
    native(&facts::config::websocket_text_filter::FACTS, nothing),
    native(&facts::config::websocket_binary_filter::FACTS, nothing),
    native(&facts::config::websocket_ping_filter::FACTS, nothing),
    native(&facts::config::user_defined_variables::FACTS, nothing),
    native(&facts::config::header_manager::FACTS, nothing),
    native(
        &facts::config::cookie_manager::FACTS,
        config::cookie_manager,
    ),
    native(&facts::config::cache_manager::FACTS, config::cache_manager),
    native(&facts::config::auth_manager::FACTS, config::auth_manager),
    native(
        &facts::config::dns_cache_manager::FACTS,
        config::dns_cache_manager,
    ),
    native(
        &facts::config::keystore_configuration::FACTS,
        config::keystore_config,
    ),
    native(&facts::config::csv_data_set::FACTS, config::csv_data_set),
    native(
        &facts::config::random_csv_data_set::FACTS,
        config::random_csv_data_set,
    ),
    native(
        &facts::config::redis_data_set::FACTS,
        config::redis_data_set,
    ),
    native(&facts::config::counter::FACTS, config::counter),
    native(
        &facts::config::random_variable::FACTS,
        config::random_variable,
    ),
    native(
        &facts::config::jdbc_connection::FACTS,
        config::data_source_element,
    ),
    java(
        &facts::config::bolt_connection::FACTS,
        PROTOCOL,
        java_element::config,
    ),
    native(&facts::pre::user_parameters::FACTS, pre::user_parameters),
    native(
        &facts::pre::url_rewriting_modifier::FACTS,
        pre::url_rewriting_modifier,
    ),
    native(&facts::pre::html_link_parser::FACTS, pre::anchor_modifier),
    native(
        &facts::pre::regex_user_parameters::FACTS,
        pre::reg_ex_user_parameters,
    ),
    native(&facts::pre::fifo_pop::FACTS, pre::fifo_pop),
    native(&facts::pre::sample_timeout::FACTS, pre::sample_timeout),
    java(
        &facts::pre::bean_shell_pre_processor::FACTS,
        SCRIPT,
        java_element::pre,
    ),
    java(
        &facts::pre::jsr223_pre_processor::FACTS,
        SCRIPT,
        java_element::pre,
    ),
    java(
        &facts::pre::bsf_pre_processor::FACTS,
        SCRIPT,
        java_element::pre,
    ),
    native(
        &facts::pre::jdbc_pre_processor::FACTS,
        pre::jdbc_pre_processor,
    ),
    native(&facts::timers::constant_timer::FACTS, timers::constant),
    native(
        &facts::timers::uniform_random_timer::FACTS,
        timers::uniform_random,
    ),
    native(
        &facts::timers::gaussian_random_timer::FACTS,
        timers::gaussian_random,
    ),
    native(
        &facts::timers::poisson_random_timer::FACTS,
        timers::poisson_random,
    ),
    native(
        &facts::timers::constant_throughput_timer::FACTS,
        timers::constant_throughput,
    ),
    native(
        &facts::timers::precise_throughput_timer::FACTS,
        timers::precise_throughput,
    ),
    native(
        &facts::timers::throughput_shaping_timer::FACTS,
        timers::variable_throughput,
    ),
    native(&facts::timers::synchronizing_timer::FACTS, timers::sync),
    java(
        &facts::timers::bean_shell_timer::FACTS,
        SCRIPT,
        java_element::timer,
    ),
    java(
        &facts::timers::jsr223_timer::FACTS,
        SCRIPT,
        java_element::timer,
    ),
    java(
        &facts::timers::bsf_timer::FACTS,
        SCRIPT,
        java_element::timer,
    ),
    native(&facts::post::regex_extractor::FACTS, post::regex_extractor),
    native(
        &facts::post::boundary_extractor::FACTS,
        post::boundary_extractor,
    ),
    native(
        &facts::post::json_extractor::FACTS,
        post::json_post_processor,
    ),
    native(
        &facts::post::json_path_extractor::FACTS,
        post::json_path_extractor,
    ),
    native(&facts::post::css_extractor::FACTS, post::html_extractor),
    native(
        &facts::post::debug_post_processor::FACTS,
        post::debug_post_processor,
    ),
    native(&facts::post::fifo_put::FACTS, post::fifo_put),
    native(
        &facts::post::result_status_action::FACTS,
        post::result_action,
    ),
    native(
        &facts::post::jmespath_extractor::FACTS,
        post::jmes_path_extractor,
    ),
    native(&facts::post::xpath_extractor::FACTS, post::xpath_extractor),
    native(
        &facts::post::xpath2_extractor::FACTS,
        post::xpath2_extractor,
    ),
    java(
        &facts::post::bean_shell_post_processor::FACTS,
        SCRIPT,
        java_element::post,
    ),
    java(
        &facts::post::jsr223_post_processor::FACTS,
        SCRIPT,
        java_element::post,
    ),
    java(
        &facts::post::bsf_post_processor::FACTS,
        SCRIPT,
        java_element::post,
    ),
    native(
        &facts::post::jdbc_post_processor::FACTS,
        post::jdbc_post_processor,
    ),
    native(
        &facts::assertions::response_assertion::FACTS,
        assertions::response,
    ),
    native(
        &facts::assertions::duration_assertion::FACTS,
        assertions::duration,
    ),
    native(&facts::assertions::size_assertion::FACTS, assertions::size),
    native(
        &facts::assertions::json_assertion::FACTS,
        assertions::json_path,
    ),
    native(
        &facts::assertions::json_path_assertion::FACTS,
        assertions::plugin_json_path,
    ),
    native(
        &facts::assertions::jmespath_assertion::FACTS,
        assertions::jmes_path,
    ),
    native(
        &facts::assertions::xpath_assertion::FACTS,
        assertions::xpath,
    ),
    native(
        &facts::assertions::xpath2_assertion::FACTS,
        assertions::xpath2,
    ),
    native(&facts::assertions::xml_assertion::FACTS, assertions::xml),
    java(
        &facts::assertions::xml_schema_assertion::FACTS,
        PROTOCOL,
        java_element::assertion,
    ),
    native(
        &facts::assertions::md5_hex_assertion::FACTS,
        assertions::md5_hex,
    ),
    java(
        &facts::assertions::html_assertion::FACTS,
        PROTOCOL,
        java_element::assertion,
    ),
    native(
        &facts::assertions::compare_assertion::FACTS,
        assertions::compare,
    ),
    java(
        &facts::assertions::smime_assertion::FACTS,
        PROTOCOL,
        java_element::assertion,
    ),
    java(
        &facts::assertions::bean_shell_assertion::FACTS,
        SCRIPT,
        java_element::assertion,
    ),
    java(
        &facts::assertions::jsr223_assertion::FACTS,
        SCRIPT,
        java_element::assertion,
    ),
    java(
        &facts::assertions::bsf_assertion::FACTS,
        SCRIPT,
        java_element::assertion,
    ),
    native(
        &facts::listeners::result_collector::FACTS,
        listeners::result_collector,
    ),
    native(
        &facts::listeners::corrected_result_collector::FACTS,
        listeners::corrected_result_collector,
    ),
    native(
        &facts::listeners::composite_result_collector::FACTS,
        listeners::result_collector,
    ),
    native(
        &facts::listeners::perf_mon_collector::FACTS,
        listeners::perf_mon_collector,
    ),
    native(
        &facts::listeners::ssh_mon_collector::FACTS,
        listeners::ssh_mon_collector,
    ),
    other(
        &facts::listeners::db_mon_collector::FACTS,
        Rung::Skipped,
        SERVER_METRICS,
    ),
    other(
        &facts::listeners::jmx_mon_collector::FACTS,
        Rung::Skipped,
        SERVER_METRICS,
    ),
    other(
        &facts::listeners::loadosophia_uploader::FACTS,
        Rung::Skipped,
        UPLOAD,
    ),
    other(
        &facts::listeners::blazemeter_uploader::FACTS,
        Rung::Skipped,
        UPLOAD,
    ),
    other(
        &facts::listeners::graphs_generator::FACTS,
        Rung::Skipped,
        "its own program draws its charts from the results file",
    ),
    other(
        &facts::other::http_simple_table_control::FACTS,
        Rung::Skipped,
        "the graphical interface starts its server",
    ),
    native(&facts::listeners::auto_stop::FACTS, listeners::auto_stop),
    native(
        &facts::listeners::console_status_logger::FACTS,
        listeners::console_status_logger,
    ),
    native(
        &facts::listeners::flexible_file_writer::FACTS,
        listeners::flexible_file_writer,
    ),
    native(
        &facts::listeners::prometheus_listener::FACTS,
        listeners::prometheus_listener,
    ),
    native(&facts::listeners::summariser::FACTS, listeners::summariser),
    native(
        &facts::listeners::save_responses::FACTS,
        listeners::result_saver,
    ),
    native(
        &facts::listeners::backend_listener::FACTS,
        listeners::backend_listener,
    ),
    java(
        &facts::listeners::mailer_visualizer::FACTS,
        PROTOCOL,
        listeners::mailer_result_collector,
    ),
    java(
        &facts::listeners::bean_shell_listener::FACTS,
        SCRIPT,
        java_element::listener,
    ),
    java(
        &facts::listeners::jsr223_listener::FACTS,
        SCRIPT,
        java_element::listener,
    ),
    java(
        &facts::listeners::bsf_listener::FACTS,
        SCRIPT,
        java_element::listener,
    ),
    other(
        &facts::other::script_recorder::FACTS,
        Rung::Skipped,
        "it records in the graphical interface",
    ),
    other(
        &facts::other::mirror_server::FACTS,
        Rung::Skipped,
        "the graphical interface or `drumfire mirror` starts its server",
    ),
    other(
        &facts::other::work_bench::FACTS,
        Rung::Skipped,
        "it is the graphical interface's scratch pad",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_class_stands_once() {
        let mut classes: Vec<_> = ENTRIES.iter().map(|entry| entry.class).collect();
        classes.sort_unstable();
        let all = classes.len();
        classes.dedup();
        assert_eq!(classes.len(), all);
    }

    #[test]
    fn classes_that_are_not_native_say_why() {
        for entry in ENTRIES {
            assert_eq!(
                entry.rung == Rung::Native,
                entry.why.is_empty(),
                "{}",
                entry.class
            );
        }
    }
}
