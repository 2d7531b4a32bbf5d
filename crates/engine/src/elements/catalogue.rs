//! All elements the engine knows: their role, how they are run, and who decodes them.

use crate::compile::Decoder;
use crate::elements::{Roles, assertions, config, controllers, listeners, post, pre, timers};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    Plan,
    ThreadGroup,
    Controller,
    Sampler,
    /// Merged into samplers, or defines variables before the run.
    Config,
    /// Anything else a sampler has in its scope.
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
    /// By Java code inside the process, which is not built yet: the plan does not run.
    Jvm,
    /// Not at all, which changes nothing: disabled, or meant for the graphical interface.
    Skipped,
    /// Not at all; the plan does not run.
    Refused,
}

/// One element class.
pub struct Entry {
    pub class: &'static str,
    pub role: Role,
    pub rung: Rung,
    /// Why it is not native.
    pub why: &'static str,
    decode: fn(&mut Decoder) -> Roles,
}

/// What is known of a class (its alias in plan files).
pub fn entry(class: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.class == class)
}

/// All elements, by role.
pub fn entries() -> &'static [Entry] {
    ENTRIES
}

pub fn is_thread_group(class: &str) -> bool {
    entry(class).is_some_and(|entry| entry.role == Role::ThreadGroup)
}

/// Decodes an element; one that cannot run becomes a finding.
pub fn decode(d: &mut Decoder) -> Roles {
    let class = d.element.class.clone();
    match entry(&class) {
        Some(entry) => match entry.rung {
            Rung::Native => (entry.decode)(d),
            Rung::Skipped => {
                d.warn(
                    "element-skipped",
                    format!("{class} '{}' is skipped: {}", d.element.name, entry.why),
                );
                Roles::default()
            }
            Rung::Jvm | Rung::Refused => cannot_run(d, &class, entry.why),
        },
        None => cannot_run(d, &class, UNKNOWN_CLASS),
    }
}

/// Refuses the plan, or leaves the element out if the user says so.
fn cannot_run(d: &mut Decoder, class: &str, why: &str) -> Roles {
    let name = &d.element.name;
    if d.settings().properties.get_bool(SKIP_UNSUPPORTED, false) {
        d.warn(
            "element-left-out",
            format!("{class} '{name}' is left out: {why}"),
        );
    } else {
        d.refuse(
            "element-not-built",
            format!("{class} '{name}' cannot be run: {why}"),
            REMEDY,
        );
    }
    Roles::default()
}

/// The property with which a user has elements that cannot run left out, as if they were disabled.
pub const SKIP_UNSUPPORTED: &str = "drumfire.skip_unsupported";
/// Why a class that is not in the catalogue cannot run.
pub const UNKNOWN_CLASS: &str = "it is a plugin's element, which needs its Java class";
const REMEDY: &str =
    "disable the element, or leave out all that cannot run with -Jdrumfire.skip_unsupported=true";
const SCRIPT: &str = "it is a script, which needs a JVM";
const NOT_YET: &str = "it is not built yet";
const PROTOCOL: &str = "its protocol is run by Java code, which needs a JVM";
const SERVER_METRICS: &str = "metrics of servers are not collected";
const UPLOAD: &str = "results are not uploaded";
const GUI_ONLY: &str = "it only shows results in the graphical interface";

fn nothing(_: &mut Decoder) -> Roles {
    Roles::default()
}

const fn native(class: &'static str, role: Role, decode: fn(&mut Decoder) -> Roles) -> Entry {
    Entry {
        class,
        role,
        rung: Rung::Native,
        why: "",
        decode,
    }
}

const fn other(class: &'static str, role: Role, rung: Rung, why: &'static str) -> Entry {
    Entry {
        class,
        role,
        rung,
        why,
        decode: nothing,
    }
}

static ENTRIES: &[Entry] = &[
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
    // Samplers are decoded with the configuration in their scope, by `samplers::decode`.
    native("HTTPSamplerProxy", Role::Sampler, nothing),
    native("HTTPSampler_", Role::Sampler, nothing),
    native("DebugSampler", Role::Sampler, nothing),
    native("TestAction", Role::Sampler, nothing),
    native("JavaSampler", Role::Sampler, nothing),
    native(
        "kg.apc.jmeter.samplers.DummySampler",
        Role::Sampler,
        nothing,
    ),
    other("BeanShellSampler", Role::Sampler, Rung::Jvm, SCRIPT),
    other("JSR223Sampler", Role::Sampler, Rung::Jvm, SCRIPT),
    other("BSFSampler", Role::Sampler, Rung::Jvm, SCRIPT),
    other("JDBCSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    native("SystemSampler", Role::Sampler, nothing),
    other("TCPSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("FTPSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("SmtpSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("MailReaderSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("LDAPSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("LDAPExtSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("JMSSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("PublisherSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("SubscriberSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("JUnitSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("AccessLogSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("AjpSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    other("BoltSampler", Role::Sampler, Rung::Jvm, PROTOCOL),
    native("ConfigTestElement", Role::Config, nothing),
    native("Arguments", Role::Config, nothing),
    native("HeaderManager", Role::Config, nothing),
    native("CookieManager", Role::Config, config::cookie_manager),
    native("CacheManager", Role::Config, config::cache_manager),
    native("AuthManager", Role::Config, config::auth_manager),
    native("DNSCacheManager", Role::Config, config::dns_cache_manager),
    native("KeystoreConfig", Role::Config, config::keystore),
    native("CSVDataSet", Role::Scoped, config::csv_data_set),
    native("CounterConfig", Role::Scoped, config::counter),
    native(
        "RandomVariableConfig",
        Role::Scoped,
        config::random_variable,
    ),
    other("JDBCDataSource", Role::Config, Rung::Jvm, PROTOCOL),
    other("BoltConnectionElement", Role::Config, Rung::Jvm, PROTOCOL),
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
    native("SampleTimeout", Role::Scoped, pre::sample_timeout),
    other("BeanShellPreProcessor", Role::Scoped, Rung::Jvm, SCRIPT),
    other("JSR223PreProcessor", Role::Scoped, Rung::Jvm, SCRIPT),
    other("BSFPreProcessor", Role::Scoped, Rung::Jvm, SCRIPT),
    other("JDBCPreProcessor", Role::Scoped, Rung::Jvm, PROTOCOL),
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
    native("SyncTimer", Role::Scoped, timers::sync),
    other("BeanShellTimer", Role::Scoped, Rung::Jvm, SCRIPT),
    other("JSR223Timer", Role::Scoped, Rung::Jvm, SCRIPT),
    other("BSFTimer", Role::Scoped, Rung::Jvm, SCRIPT),
    native("RegexExtractor", Role::Scoped, post::regex_extractor),
    native("BoundaryExtractor", Role::Scoped, post::boundary_extractor),
    native("JSONPostProcessor", Role::Scoped, post::json_post_processor),
    native("HtmlExtractor", Role::Scoped, post::html_extractor),
    native(
        "DebugPostProcessor",
        Role::Scoped,
        post::debug_post_processor,
    ),
    native("ResultAction", Role::Scoped, post::result_action),
    native("JMESPathExtractor", Role::Scoped, post::jmes_path_extractor),
    native("XPathExtractor", Role::Scoped, post::xpath_extractor),
    native("XPath2Extractor", Role::Scoped, post::xpath2_extractor),
    other("BeanShellPostProcessor", Role::Scoped, Rung::Jvm, SCRIPT),
    other("JSR223PostProcessor", Role::Scoped, Rung::Jvm, SCRIPT),
    other("BSFPostProcessor", Role::Scoped, Rung::Jvm, SCRIPT),
    other("JDBCPostProcessor", Role::Scoped, Rung::Jvm, PROTOCOL),
    native("ResponseAssertion", Role::Scoped, assertions::response),
    native("DurationAssertion", Role::Scoped, assertions::duration),
    native("SizeAssertion", Role::Scoped, assertions::size),
    native("JSONPathAssertion", Role::Scoped, assertions::json_path),
    native("JMESPathAssertion", Role::Scoped, assertions::jmes_path),
    native("XPathAssertion", Role::Scoped, assertions::xpath),
    native("XPath2Assertion", Role::Scoped, assertions::xpath2),
    native("XMLAssertion", Role::Scoped, assertions::xml),
    other("XMLSchemaAssertion", Role::Scoped, Rung::Jvm, PROTOCOL),
    native("MD5HexAssertion", Role::Scoped, assertions::md5_hex),
    other("HTMLAssertion", Role::Scoped, Rung::Refused, NOT_YET),
    native("CompareAssertion", Role::Scoped, assertions::compare),
    other("SMIMEAssertion", Role::Scoped, Rung::Jvm, PROTOCOL),
    other("BeanShellAssertion", Role::Scoped, Rung::Jvm, SCRIPT),
    other("JSR223Assertion", Role::Scoped, Rung::Jvm, SCRIPT),
    other("BSFAssertion", Role::Scoped, Rung::Jvm, SCRIPT),
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
    other(
        "kg.apc.jmeter.perfmon.PerfMonCollector",
        Role::Scoped,
        Rung::Skipped,
        SERVER_METRICS,
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
        "its pictures are drawn from the results file by its own program",
    ),
    other(
        "org.jmeterplugins.protocol.http.control.HttpSimpleTableControl",
        Role::Ignored,
        Rung::Skipped,
        "its server is started by the graphical interface",
    ),
    native("Summariser", Role::Scoped, listeners::summariser),
    native("ResultSaver", Role::Scoped, listeners::result_saver),
    other(
        "BackendListener",
        Role::Scoped,
        Rung::Skipped,
        "its metrics are not sent: that is not built yet",
    ),
    other(
        "MailerResultCollector",
        Role::Scoped,
        Rung::Skipped,
        "mail is not sent",
    ),
    other("BeanShellListener", Role::Scoped, Rung::Jvm, SCRIPT),
    other("JSR223Listener", Role::Scoped, Rung::Jvm, SCRIPT),
    other("BSFListener", Role::Scoped, Rung::Jvm, SCRIPT),
    other("PropertyControlGui", Role::Ignored, Rung::Skipped, GUI_ONLY),
    other(
        "ProxyControl",
        Role::Ignored,
        Rung::Skipped,
        "it records in the graphical interface",
    ),
    other(
        "MirrorServerControl",
        Role::Ignored,
        Rung::Skipped,
        GUI_ONLY,
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
