//! The catalogue of the element classes that the engine knows: their roles, how they run, and which function decodes them.

use std::collections::HashMap;
use std::sync::LazyLock;

use rustc_hash::FxBuildHasher;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::java as java_element;
use crate::elements::{assertions, config, controllers, listeners, post, pre, timers};
use crate::resolve::Element;

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
const GUI_ONLY: &str = "it only shows results in the graphical interface";

fn nothing(_: &mut Decoder) -> Roles {
    Roles::default()
}

const fn native(
    class: &'static str,
    role: Role,
    decode: fn(&mut Decoder) -> Roles,
) -> ElementClass {
    ElementClass {
        class,
        role,
        rung: Rung::Native,
        why: "",
        decode,
    }
}

/// The entry of a class that Java runs.
const fn java(
    class: &'static str,
    role: Role,
    why: &'static str,
    decode: fn(&mut Decoder) -> Roles,
) -> ElementClass {
    ElementClass {
        class,
        role,
        rung: Rung::Jvm,
        why,
        decode,
    }
}

const fn other(class: &'static str, role: Role, rung: Rung, why: &'static str) -> ElementClass {
    ElementClass {
        class,
        role,
        rung,
        why,
        decode: nothing,
    }
}

static ENTRIES: &[ElementClass] = &[
    native("TestPlan", Role::Plan, nothing),
    native("ThreadGroup", Role::ThreadGroup, nothing),
    native("SetupThreadGroup", Role::ThreadGroup, nothing),
    native("PostThreadGroup", Role::ThreadGroup, nothing),
    native("OpenModelThreadGroup", Role::ThreadGroup, nothing),
    native(
        "kg.apc.jmeter.threads.SteppingThreadGroup",
        Role::ThreadGroup,
        nothing,
    ),
    native(
        "kg.apc.jmeter.threads.UltimateThreadGroup",
        Role::ThreadGroup,
        nothing,
    ),
    native(
        "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup",
        Role::ThreadGroup,
        nothing,
    ),
    native(
        "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup",
        Role::ThreadGroup,
        nothing,
    ),
    native(
        "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup",
        Role::ThreadGroup,
        nothing,
    ),
    native("GenericController", Role::Controller, controllers::simple),
    native(
        "TestFragmentController",
        Role::Controller,
        controllers::simple,
    ),
    native("RecordingController", Role::Controller, controllers::simple),
    native("ModuleController", Role::Controller, controllers::simple),
    native("IncludeController", Role::Controller, controllers::simple),
    native("LoopController", Role::Controller, controllers::loops),
    native("WhileController", Role::Controller, controllers::whiles),
    native("IfController", Role::Controller, controllers::ifs),
    native(
        "OnceOnlyController",
        Role::Controller,
        controllers::once_only,
    ),
    native(
        "TransactionController",
        Role::Controller,
        controllers::transaction,
    ),
    native("ForeachController", Role::Controller, controllers::for_each),
    native(
        "InterleaveControl",
        Role::Controller,
        controllers::interleave,
    ),
    native("RandomController", Role::Controller, controllers::random),
    native(
        "RandomOrderController",
        Role::Controller,
        controllers::random_order,
    ),
    native("SwitchController", Role::Controller, controllers::switch),
    native(
        "ThroughputController",
        Role::Controller,
        controllers::throughput,
    ),
    native("RunTime", Role::Controller, controllers::runtime),
    native(
        "CriticalSectionController",
        Role::Controller,
        controllers::critical_section,
    ),
    native(
        "kg.apc.jmeter.control.ParameterizedController",
        Role::Controller,
        controllers::parameterized,
    ),
    native(
        "com.blazemeter.jmeter.control.WeightedSwitchController",
        Role::Controller,
        controllers::weighted_switch,
    ),
    native(
        "com.blazemeter.jmeter.controller.ParallelSampler",
        Role::Controller,
        nothing,
    ),
    native(
        "com.blazemeter.jmeter.http2.control.HTTP2Controller",
        Role::Controller,
        controllers::http_async,
    ),
    // Samplers are decoded with the configuration in their scope, by `samplers::decode`.
    native("HTTPSamplerProxy", Role::Sampler, nothing),
    native("HTTPSampler_", Role::Sampler, nothing),
    native(
        "com.blazemeter.jmeter.http2.sampler.HTTP2Sampler",
        Role::Sampler,
        nothing,
    ),
    native(
        "com.blazemeter.jmeter.http.ParallelHTTPSampler",
        Role::Sampler,
        nothing,
    ),
    native("DebugSampler", Role::Sampler, nothing),
    native("TestAction", Role::Sampler, nothing),
    native("JavaSampler", Role::Sampler, nothing),
    native(
        "kg.apc.jmeter.samplers.DummySampler",
        Role::Sampler,
        nothing,
    ),
    java("BeanShellSampler", Role::Sampler, SCRIPT, nothing),
    java("JSR223Sampler", Role::Sampler, SCRIPT, nothing),
    java("BSFSampler", Role::Sampler, SCRIPT, nothing),
    native("JDBCSampler", Role::Sampler, nothing),
    native(
        "kg.apc.jmeter.control.sampler.SetVariablesAction",
        Role::Sampler,
        nothing,
    ),
    native("SystemSampler", Role::Sampler, nothing),
    native("TCPSampler", Role::Sampler, nothing),
    java("FTPSampler", Role::Sampler, PROTOCOL, nothing),
    java("SmtpSampler", Role::Sampler, PROTOCOL, nothing),
    java("MailReaderSampler", Role::Sampler, PROTOCOL, nothing),
    java("LDAPSampler", Role::Sampler, PROTOCOL, nothing),
    java("LDAPExtSampler", Role::Sampler, PROTOCOL, nothing),
    java("JMSSampler", Role::Sampler, PROTOCOL, nothing),
    java("PublisherSampler", Role::Sampler, PROTOCOL, nothing),
    java("SubscriberSampler", Role::Sampler, PROTOCOL, nothing),
    java("JUnitSampler", Role::Sampler, PROTOCOL, nothing),
    native("AccessLogSampler", Role::Sampler, nothing),
    java("AjpSampler", Role::Sampler, PROTOCOL, nothing),
    java("BoltSampler", Role::Sampler, PROTOCOL, nothing),
    native(
        "eu.luminis.jmeter.wssampler.OpenWebSocketSampler",
        Role::Sampler,
        nothing,
    ),
    native(
        "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler",
        Role::Sampler,
        nothing,
    ),
    native(
        "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler",
        Role::Sampler,
        nothing,
    ),
    native(
        "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler",
        Role::Sampler,
        nothing,
    ),
    native(
        "eu.luminis.jmeter.wssampler.PingPongSampler",
        Role::Sampler,
        nothing,
    ),
    native(
        "eu.luminis.jmeter.wssampler.CloseWebSocketSampler",
        Role::Sampler,
        nothing,
    ),
    native("ConfigTestElement", Role::Config, nothing),
    native("LoginConfig", Role::Config, nothing),
    native("JavaConfig", Role::Config, nothing),
    native(
        "eu.luminis.jmeter.wssampler.TextFrameFilter",
        Role::Config,
        nothing,
    ),
    native(
        "eu.luminis.jmeter.wssampler.BinaryFrameFilter",
        Role::Config,
        nothing,
    ),
    native(
        "eu.luminis.jmeter.wssampler.PingFrameFilter",
        Role::Config,
        nothing,
    ),
    native("Arguments", Role::Config, nothing),
    native("HeaderManager", Role::Config, nothing),
    native("CookieManager", Role::Config, config::cookie_manager),
    native("CacheManager", Role::Config, config::cache_manager),
    native("AuthManager", Role::Config, config::auth_manager),
    native("DNSCacheManager", Role::Config, config::dns_cache_manager),
    native("KeystoreConfig", Role::Config, config::keystore_config),
    native("CSVDataSet", Role::Scoped, config::csv_data_set),
    native(
        "com.blazemeter.jmeter.RandomCSVDataSetConfig",
        Role::Scoped,
        config::random_csv_data_set,
    ),
    native(
        "kg.apc.jmeter.config.redis.RedisDataSet",
        Role::Scoped,
        config::redis_data_set,
    ),
    native("CounterConfig", Role::Scoped, config::counter),
    native(
        "RandomVariableConfig",
        Role::Scoped,
        config::random_variable,
    ),
    native("JDBCDataSource", Role::Config, config::data_source_element),
    java(
        "BoltConnectionElement",
        Role::Config,
        PROTOCOL,
        java_element::config,
    ),
    native("UserParameters", Role::Scoped, pre::user_parameters),
    native(
        "URLRewritingModifier",
        Role::Scoped,
        pre::url_rewriting_modifier,
    ),
    native("AnchorModifier", Role::Scoped, pre::anchor_modifier),
    native(
        "RegExUserParameters",
        Role::Scoped,
        pre::reg_ex_user_parameters,
    ),
    native(
        "kg.apc.jmeter.modifiers.FifoPopPreProcessor",
        Role::Scoped,
        pre::fifo_pop,
    ),
    native("SampleTimeout", Role::Scoped, pre::sample_timeout),
    java(
        "BeanShellPreProcessor",
        Role::Scoped,
        SCRIPT,
        java_element::pre,
    ),
    java(
        "JSR223PreProcessor",
        Role::Scoped,
        SCRIPT,
        java_element::pre,
    ),
    java("BSFPreProcessor", Role::Scoped, SCRIPT, java_element::pre),
    native("JDBCPreProcessor", Role::Scoped, pre::jdbc_pre_processor),
    native("ConstantTimer", Role::Scoped, timers::constant),
    native("UniformRandomTimer", Role::Scoped, timers::uniform_random),
    native("GaussianRandomTimer", Role::Scoped, timers::gaussian_random),
    native("PoissonRandomTimer", Role::Scoped, timers::poisson_random),
    native(
        "ConstantThroughputTimer",
        Role::Scoped,
        timers::constant_throughput,
    ),
    native(
        "PreciseThroughputTimer",
        Role::Scoped,
        timers::precise_throughput,
    ),
    native(
        "kg.apc.jmeter.timers.VariableThroughputTimer",
        Role::Scoped,
        timers::variable_throughput,
    ),
    native("SyncTimer", Role::Scoped, timers::sync),
    java("BeanShellTimer", Role::Scoped, SCRIPT, java_element::timer),
    java("JSR223Timer", Role::Scoped, SCRIPT, java_element::timer),
    java("BSFTimer", Role::Scoped, SCRIPT, java_element::timer),
    native("RegexExtractor", Role::Scoped, post::regex_extractor),
    native("BoundaryExtractor", Role::Scoped, post::boundary_extractor),
    native("JSONPostProcessor", Role::Scoped, post::json_post_processor),
    native(
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
        Role::Scoped,
        post::json_path_extractor,
    ),
    native("HtmlExtractor", Role::Scoped, post::html_extractor),
    native(
        "DebugPostProcessor",
        Role::Scoped,
        post::debug_post_processor,
    ),
    native(
        "kg.apc.jmeter.modifiers.FifoPutPostProcessor",
        Role::Scoped,
        post::fifo_put,
    ),
    native("ResultAction", Role::Scoped, post::result_action),
    native("JMESPathExtractor", Role::Scoped, post::jmes_path_extractor),
    native("XPathExtractor", Role::Scoped, post::xpath_extractor),
    native("XPath2Extractor", Role::Scoped, post::xpath2_extractor),
    java(
        "BeanShellPostProcessor",
        Role::Scoped,
        SCRIPT,
        java_element::post,
    ),
    java(
        "JSR223PostProcessor",
        Role::Scoped,
        SCRIPT,
        java_element::post,
    ),
    java("BSFPostProcessor", Role::Scoped, SCRIPT, java_element::post),
    native("JDBCPostProcessor", Role::Scoped, post::jdbc_post_processor),
    native("ResponseAssertion", Role::Scoped, assertions::response),
    native("DurationAssertion", Role::Scoped, assertions::duration),
    native("SizeAssertion", Role::Scoped, assertions::size),
    native("JSONPathAssertion", Role::Scoped, assertions::json_path),
    native(
        "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion",
        Role::Scoped,
        assertions::plugin_json_path,
    ),
    native("JMESPathAssertion", Role::Scoped, assertions::jmes_path),
    native("XPathAssertion", Role::Scoped, assertions::xpath),
    native("XPath2Assertion", Role::Scoped, assertions::xpath2),
    native("XMLAssertion", Role::Scoped, assertions::xml),
    java(
        "XMLSchemaAssertion",
        Role::Scoped,
        PROTOCOL,
        java_element::assertion,
    ),
    native("MD5HexAssertion", Role::Scoped, assertions::md5_hex),
    java(
        "HTMLAssertion",
        Role::Scoped,
        PROTOCOL,
        java_element::assertion,
    ),
    native("CompareAssertion", Role::Scoped, assertions::compare),
    java(
        "SMIMEAssertion",
        Role::Scoped,
        PROTOCOL,
        java_element::assertion,
    ),
    java(
        "BeanShellAssertion",
        Role::Scoped,
        SCRIPT,
        java_element::assertion,
    ),
    java(
        "JSR223Assertion",
        Role::Scoped,
        SCRIPT,
        java_element::assertion,
    ),
    java(
        "BSFAssertion",
        Role::Scoped,
        SCRIPT,
        java_element::assertion,
    ),
    native("ResultCollector", Role::Scoped, listeners::result_collector),
    native(
        "kg.apc.jmeter.vizualizers.CorrectedResultCollector",
        Role::Scoped,
        listeners::corrected_result_collector,
    ),
    native(
        "kg.apc.jmeter.vizualizers.CompositeResultCollector",
        Role::Scoped,
        listeners::result_collector,
    ),
    native(
        "kg.apc.jmeter.perfmon.PerfMonCollector",
        Role::Scoped,
        listeners::perf_mon_collector,
    ),
    native(
        "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonCollector",
        Role::Scoped,
        listeners::ssh_mon_collector,
    ),
    other(
        "kg.apc.jmeter.dbmon.DbMonCollector",
        Role::Scoped,
        Rung::Skipped,
        SERVER_METRICS,
    ),
    other(
        "kg.apc.jmeter.jmxmon.JMXMonCollector",
        Role::Scoped,
        Rung::Skipped,
        SERVER_METRICS,
    ),
    other(
        "kg.apc.jmeter.reporters.LoadosophiaUploader",
        Role::Scoped,
        Rung::Skipped,
        UPLOAD,
    ),
    other(
        "kg.apc.jmeter.reporters.bzm.BlazeMeterUploader",
        Role::Scoped,
        Rung::Skipped,
        UPLOAD,
    ),
    other(
        "kg.apc.jmeter.listener.GraphsGeneratorListener",
        Role::Scoped,
        Rung::Skipped,
        "its own program draws its charts from the results file",
    ),
    other(
        "org.jmeterplugins.protocol.http.control.HttpSimpleTableControl",
        Role::Ignored,
        Rung::Skipped,
        "the graphical interface starts its server",
    ),
    native(
        "kg.apc.jmeter.reporters.AutoStop",
        Role::Scoped,
        listeners::auto_stop,
    ),
    native(
        "kg.apc.jmeter.reporters.ConsoleStatusLogger",
        Role::Scoped,
        listeners::console_status_logger,
    ),
    native(
        "kg.apc.jmeter.reporters.FlexibleFileWriter",
        Role::Scoped,
        listeners::flexible_file_writer,
    ),
    native(
        "com.github.johrstrom.listener.PrometheusListener",
        Role::Scoped,
        listeners::prometheus_listener,
    ),
    native("Summariser", Role::Scoped, listeners::summariser),
    native("ResultSaver", Role::Scoped, listeners::result_saver),
    native("BackendListener", Role::Scoped, listeners::backend_listener),
    java(
        "MailerResultCollector",
        Role::Scoped,
        PROTOCOL,
        listeners::mailer_result_collector,
    ),
    java(
        "BeanShellListener",
        Role::Scoped,
        SCRIPT,
        java_element::listener,
    ),
    java(
        "JSR223Listener",
        Role::Scoped,
        SCRIPT,
        java_element::listener,
    ),
    java("BSFListener", Role::Scoped, SCRIPT, java_element::listener),
    other("PropertyControlGui", Role::Ignored, Rung::Skipped, GUI_ONLY),
    other(
        "ProxyControl",
        Role::Ignored,
        Rung::Skipped,
        "it records in the graphical interface",
    ),
    other(
        "HttpMirrorControl",
        Role::Ignored,
        Rung::Skipped,
        "the graphical interface or `drumfire mirror` starts its server",
    ),
    other(
        "WorkBench",
        Role::Ignored,
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
    fn what_is_not_native_says_why() {
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
