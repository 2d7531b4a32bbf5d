//! How JMeter spells classes: the short names of `saveservice.properties` and the full names behind them.

use std::collections::HashMap;
use std::sync::LazyLock;

use rustc_hash::FxBuildHasher;

/// Short names that are the simple name of their class, by package below `org.apache.jmeter`.
const BY_PACKAGE: &[(&str, &str)] = &[
    (
        "assertions",
        "BSFAssertion BeanShellAssertion CompareAssertion DurationAssertion HTMLAssertion JSONPathAssertion JSR223Assertion MD5HexAssertion ResponseAssertion SizeAssertion SubstitutionElement XMLAssertion XMLSchemaAssertion XPath2Assertion XPathAssertion",
    ),
    (
        "assertions.gui",
        "AssertionGui BeanShellAssertionGui DurationAssertionGui HTMLAssertionGui JSONPathAssertionGui MD5HexAssertionGUI SMIMEAssertionGui SizeAssertionGui XMLAssertionGui XMLSchemaAssertionGUI XPath2AssertionGui XPathAssertionGui",
    ),
    ("assertions.jmespath", "JMESPathAssertion"),
    ("assertions.jmespath.gui", "JMESPathAssertionGui"),
    (
        "config",
        "Argument Arguments CSVDataSet ConfigTestElement KeystoreConfig LoginConfig RandomVariableConfig",
    ),
    (
        "config.gui",
        "ArgumentsPanel LoginConfigGui ObsoleteGui SimpleConfigGui",
    ),
    (
        "control",
        "CriticalSectionController ForeachController GenericController IfController IncludeController InterleaveControl LoopController ModuleController OnceOnlyController RandomController RandomOrderController RunTime SwitchController TestFragmentController ThroughputController TransactionController TransactionSampler WhileController",
    ),
    (
        "control.gui",
        "CriticalSectionControllerGui ForeachControlPanel IfControllerPanel IncludeControllerGui InterleaveControlGui LogicControllerGui LoopControlPanel ModuleControllerGui OnceOnlyControllerGui RandomControlGui RandomOrderControllerGui RunTimeGui SwitchControllerGui TestFragmentControllerGui TestPlanGui ThroughputControllerGui TransactionControllerGui WhileControllerGui WorkBenchGui",
    ),
    (
        "extractor",
        "BSFPostProcessor BeanShellPostProcessor BoundaryExtractor DebugPostProcessor HtmlExtractor JSR223PostProcessor RegexExtractor XPath2Extractor XPathExtractor",
    ),
    (
        "extractor.gui",
        "BoundaryExtractorGui HtmlExtractorGui RegexExtractorGui XPath2ExtractorGui XPathExtractorGui",
    ),
    ("extractor.json.jmespath", "JMESPathExtractor"),
    ("extractor.json.jmespath.gui", "JMESPathExtractorGui"),
    ("extractor.json.jsonpath", "JSONPostProcessor"),
    ("extractor.json.jsonpath.gui", "JSONPostProcessorGui"),
    ("gui", "NamePanel"),
    (
        "modifiers",
        "BSFPreProcessor BeanShellPreProcessor CounterConfig JSR223PreProcessor SampleTimeout UserParameters",
    ),
    (
        "modifiers.gui",
        "CounterConfigGui SampleTimeoutGui UserParametersGui",
    ),
    ("protocol.bolt.config", "BoltConnectionElement"),
    ("protocol.bolt.sampler", "BoltSampler"),
    ("protocol.ftp.config.gui", "FtpConfigGui"),
    ("protocol.ftp.control.gui", "FtpTestSamplerGui"),
    ("protocol.ftp.sampler", "FTPSampler"),
    ("protocol.http.config.gui", "HttpDefaultsGui"),
    (
        "protocol.http.control",
        "AuthManager Authorization CacheManager Cookie CookieManager DNSCacheManager Header HeaderManager HttpMirrorControl RecordingController StaticHost",
    ),
    (
        "protocol.http.control.gui",
        "AjpSamplerGui GraphQLHTTPSamplerGui HttpMirrorControlGui HttpTestSampleGui RecordController SoapSamplerGui WebServiceSamplerGui",
    ),
    (
        "protocol.http.gui",
        "AuthPanel CacheManagerGui CookiePanel DNSCachePanel HTTPArgumentsPanel HeaderPanel",
    ),
    (
        "protocol.http.modifier",
        "AnchorModifier ParamMask ParamModifier RegExUserParameters URLRewritingModifier UserParameterModifier",
    ),
    (
        "protocol.http.modifier.gui",
        "AnchorModifierGui ParamModifierGui RegExUserParametersGui URLRewritingModifierGui UserParameterModifierGui",
    ),
    ("protocol.http.proxy", "ProxyControl"),
    ("protocol.http.proxy.gui", "ProxyControlGui"),
    (
        "protocol.http.sampler",
        "AccessLogSampler AjpSampler HTTPSamplerProxy SoapSampler WebServiceSampler",
    ),
    (
        "protocol.http.util",
        "HTTPArgument HTTPFileArg HTTPFileArgs",
    ),
    ("protocol.java.config", "JavaConfig"),
    ("protocol.java.config.gui", "JavaConfigGui"),
    (
        "protocol.java.control.gui",
        "BSFSamplerGui BeanShellSamplerGui JUnitTestSamplerGui JavaTestSamplerGui",
    ),
    (
        "protocol.java.sampler",
        "BSFSampler BeanShellSampler JSR223Sampler JUnitSampler JavaSampler",
    ),
    ("protocol.java.test", "JavaTest"),
    ("protocol.jdbc.config.gui", "SqlConfigGui"),
    (
        "protocol.jdbc.processor",
        "JDBCPostProcessor JDBCPreProcessor",
    ),
    ("protocol.jdbc.sampler", "JDBCSampler"),
    (
        "protocol.jms.control.gui",
        "JMSConfigGui JMSPublisherGui JMSSamplerGui JMSSubscriberGui JndiDefaultsGui",
    ),
    (
        "protocol.jms.sampler",
        "JMSProperties JMSProperty JMSSampler PublisherSampler SubscriberSampler",
    ),
    (
        "protocol.ldap.config.gui",
        "LDAPArgument LDAPArguments LDAPArgumentsPanel LdapConfigGui LdapExtConfigGui",
    ),
    (
        "protocol.ldap.control.gui",
        "LdapExtTestSamplerGui LdapTestSamplerGui",
    ),
    ("protocol.ldap.sampler", "LDAPExtSampler LDAPSampler"),
    ("protocol.mail.sampler", "MailReaderSampler"),
    ("protocol.mail.sampler.gui", "MailReaderSamplerGui"),
    ("protocol.mongodb.config", "MongoSourceElement"),
    ("protocol.mongodb.sampler", "MongoScriptSampler"),
    ("protocol.smtp.sampler", "SmtpSampler"),
    ("protocol.smtp.sampler.gui", "SmtpSamplerGui"),
    ("protocol.system", "SystemSampler"),
    ("protocol.system.gui", "SystemSamplerGui"),
    ("protocol.tcp.config.gui", "TCPConfigGui"),
    ("protocol.tcp.control.gui", "TCPSamplerGui"),
    ("protocol.tcp.sampler", "TCPSampler"),
    (
        "reporters",
        "MailerModel MailerResultCollector ResultAction ResultCollector ResultSaver Summariser",
    ),
    (
        "reporters.gui",
        "ResultActionGui ResultSaverGui SummariserGui",
    ),
    ("sampler", "DebugSampler TestAction"),
    ("sampler.gui", "TestActionGui"),
    (
        "samplers",
        "RemoteListenerWrapper RemoteSampleListenerWrapper RemoteTestListenerWrapper SampleSaveConfiguration",
    ),
    ("testbeans.gui", "TestBeanGUI"),
    ("testelement", "TestPlan WorkBench"),
    ("testelement.property", "FloatProperty"),
    (
        "threads",
        "PostThreadGroup ReflectionThreadGroup RemoteThreadsListenerWrapper SetupThreadGroup ThreadGroup",
    ),
    (
        "threads.gui",
        "PostThreadGroupGui SetupThreadGroupGui ThreadGroupGui",
    ),
    (
        "threads.openmodel",
        "OpenModelThreadGroup OpenModelThreadGroupController",
    ),
    ("threads.openmodel.gui", "OpenModelThreadGroupGui"),
    (
        "timers",
        "BSFTimer BeanShellTimer ConstantThroughputTimer ConstantTimer GaussianRandomTimer JSR223Timer PoissonRandomTimer SyncTimer UniformRandomTimer",
    ),
    (
        "timers.gui",
        "ConstantTimerGui GaussianRandomTimerGui PoissonRandomTimerGui UniformRandomTimerGui",
    ),
    ("timers.poissonarrivals", "PreciseThroughputTimer"),
    (
        "visualizers",
        "AssertionVisualizer BSFListener BeanShellListener ComparisonVisualizer DistributionGraphVisualizer GraphAccumVisualizer GraphVisualizer JSR223Listener MailerVisualizer MonitorHealthVisualizer PropertyControlGui RespTimeGraphVisualizer SimpleDataWriter SplineVisualizer StatGraphVisualizer StatVisualizer SummaryReport TableVisualizer ViewResultsFullVisualizer",
    ),
    ("visualizers.backend", "BackendListener BackendListenerGui"),
];

/// Short names that differ from the simple name of the class below `org.apache.jmeter`. If a class has several, the
/// first is the one JMeter writes.
const RENAMED: &[(&str, &str)] = &[
    ("HTTPSampler_", "protocol.http.sampler.HTTPSampler"),
    ("HTTPSampler2_", "protocol.http.sampler.HTTPSampler2"),
    ("HTTPSampler", "protocol.http.sampler.HTTPSamplerProxy"),
    ("HTTPSampler2", "protocol.http.sampler.HTTPSamplerProxy"),
    (
        "HttpTestSampleGui2",
        "protocol.http.control.gui.HttpTestSampleGui",
    ),
    ("JDBCDataSource", "protocol.jdbc.config.DataSourceElement"),
    ("SMIMEAssertion", "assertions.SMIMEAssertionTestElement"),
    ("boolProp", "testelement.property.BooleanProperty"),
    ("collectionProp", "testelement.property.CollectionProperty"),
    ("doubleProp", "testelement.property.DoubleProperty"),
    ("elementProp", "testelement.property.TestElementProperty"),
    ("intProp", "testelement.property.IntegerProperty"),
    ("longProp", "testelement.property.LongProperty"),
    ("mapProp", "testelement.property.MapProperty"),
    ("objProp", "testelement.property.ObjectProperty"),
    ("stringProp", "testelement.property.StringProperty"),
    ("jmeterTestPlan", "save.ScriptWrapper"),
    ("sample", "samplers.SampleResult"),
    ("httpSample", "protocol.http.sampler.HTTPSampleResult"),
    ("statSample", "samplers.StatisticalSampleResult"),
    ("testResults", "save.TestResultWrapper"),
    ("assertionResult", "assertions.AssertionResult"),
    ("monitorStats", "visualizers.MonitorStats"),
    ("sampleEvent", "samplers.SampleEvent"),
];

struct ClassAliases {
    full_by_alias: HashMap<&'static str, String, FxBuildHasher>,
    alias_by_full: HashMap<String, &'static str, FxBuildHasher>,
}

/// About as many short names as there are.
const EXPECTED: usize = 300;

static NAMES: LazyLock<ClassAliases> = LazyLock::new(|| {
    let simple = BY_PACKAGE.iter().flat_map(|&(package, names)| {
        names
            .split(' ')
            .map(move |name| (name, format!("org.apache.jmeter.{package}.{name}")))
    });
    let renamed = RENAMED
        .iter()
        .map(|&(alias, class)| (alias, format!("org.apache.jmeter.{class}")));
    let hash_tree = (
        "hashTree",
        "org.apache.jorphan.collections.ListedHashTree".to_string(),
    );
    let mut names = ClassAliases {
        full_by_alias: HashMap::with_capacity_and_hasher(EXPECTED, FxBuildHasher),
        alias_by_full: HashMap::with_capacity_and_hasher(EXPECTED, FxBuildHasher),
    };
    for (alias, full) in simple.chain(renamed).chain([hash_tree]) {
        names.alias_by_full.entry(full.clone()).or_insert(alias);
        names.full_by_alias.insert(alias, full);
    }
    names
});

/// `SaveService.aliasToClass`: the full name of a class given by its short name; anything else is itself.
pub fn full_class_name(name: &str) -> &str {
    NAMES
        .full_by_alias
        .get(name)
        .map(String::as_str)
        .unwrap_or(name)
}

/// `SaveService.classToAlias`: the name JMeter writes for a class given by its full name or by any short name of it.
pub fn canonical_class(name: &str) -> &str {
    let full = full_class_name(name);
    NAMES.alias_by_full.get(full).copied().unwrap_or(full)
}

/// Whether it is one of JMeter's short names.
pub fn is_known_alias(name: &str) -> bool {
    NAMES.full_by_alias.contains_key(name)
}

/// All short names, for suggestions.
pub(crate) fn aliases() -> impl Iterator<Item = &'static str> {
    NAMES.full_by_alias.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_and_full_names_meet() {
        let full = "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy";
        for name in ["HTTPSamplerProxy", "HTTPSampler", "HTTPSampler2", full] {
            assert_eq!(canonical_class(name), "HTTPSamplerProxy", "{name}");
            assert_eq!(full_class_name(name), full);
        }
        assert_eq!(canonical_class("HttpTestSampleGui2"), "HttpTestSampleGui");
        assert_eq!(
            canonical_class("org.apache.jmeter.protocol.jdbc.config.DataSourceElement"),
            "JDBCDataSource"
        );
        assert_eq!(
            canonical_class("org.apache.jmeter.protocol.http.sampler.HTTPSampler"),
            "HTTPSampler_"
        );
    }

    #[test]
    fn strangers_keep_their_name() {
        assert_eq!(
            canonical_class("kg.apc.jmeter.threads.UltimateThreadGroup"),
            "kg.apc.jmeter.threads.UltimateThreadGroup"
        );
        assert_eq!(full_class_name("kg.apc.X"), "kg.apc.X");
        assert_eq!(canonical_class(""), "");
        assert!(!is_known_alias("kg.apc.X"));
    }

    #[test]
    fn no_short_name_is_given_twice() {
        let given: usize = BY_PACKAGE
            .iter()
            .map(|(_, names)| names.split(' ').count())
            .sum();
        assert_eq!(NAMES.full_by_alias.len(), given + RENAMED.len() + 1);
    }
}
