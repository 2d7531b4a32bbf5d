//! Old names of classes and properties, and the names under which JMeter 5.6.3 reads them (`NameUpdater`, `upgrade.properties`).
//!
//! All names here are full class names below `org.apache.jmeter`. JMeter's table could also rename values, but that of 5.6.3
//! renames none; two classes rename values themselves.

use crate::tree::{Prop, Props, Value};

const PREFIX: &str = "org.apache.jmeter.";

/// Renamed test and GUI classes.
const CLASSES: &[(&str, &str)] = &[
    ("assertions.Assertion", "assertions.ResponseAssertion"),
    (
        "control.gui.RecordController",
        "protocol.http.control.gui.RecordController",
    ),
    (
        "protocol.http.config.gui.UrlConfigGui",
        "protocol.http.config.gui.HttpDefaultsGui",
    ),
    (
        "protocol.http.control.gui.AccessLogSamplerGui",
        TEST_BEAN_GUI,
    ),
    (
        "protocol.http.sampler.HTTPSamplerFull",
        "protocol.http.sampler.HTTPSampler",
    ),
    ("protocol.java.control.gui.BSFSamplerGui", TEST_BEAN_GUI),
    ("protocol.jdbc.config.gui.DbConfigGui", TEST_BEAN_GUI),
    ("protocol.jdbc.config.gui.PoolConfigGui", TEST_BEAN_GUI),
    ("protocol.jdbc.control.gui.JdbcTestSampleGui", TEST_BEAN_GUI),
    (
        "protocol.jms.control.gui.JMSConfigGui",
        "protocol.jms.control.gui.JMSSamplerGui",
    ),
    ("timers.gui.ConstantThroughputTimerGui", TEST_BEAN_GUI),
    // Removed classes: JMeter loads an element without behaviour in their place.
    ("protocol.http.control.gui.SoapSamplerGui", OBSOLETE_GUI),
    (
        "protocol.http.control.gui.WebServiceSamplerGui",
        OBSOLETE_GUI,
    ),
    ("protocol.http.modifier.ParamMask", NOTHING),
    ("protocol.http.modifier.ParamModifier", NOTHING),
    ("protocol.http.modifier.UserParameterModifier", NOTHING),
    ("protocol.http.modifier.gui.ParamModifierGui", OBSOLETE_GUI),
    (
        "protocol.http.modifier.gui.UserParameterModifierGui",
        OBSOLETE_GUI,
    ),
    ("protocol.http.sampler.HTTPSampler2", NOTHING),
    ("protocol.http.sampler.SoapSampler", NOTHING),
    ("protocol.http.sampler.WebServiceSampler", NOTHING),
    ("protocol.jdbc.config.gui.SqlConfigGui", OBSOLETE_GUI),
    ("protocol.jms.control.gui.JndiDefaultsGui", OBSOLETE_GUI),
    ("threads.ReflectionThreadGroup", OBSOLETE_GUI),
    ("visualizers.DistributionGraphVisualizer", OBSOLETE_GUI),
    ("visualizers.GraphAccumVisualizer", OBSOLETE_GUI),
    ("visualizers.MonitorHealthVisualizer", OBSOLETE_GUI),
    ("visualizers.MonitorStats", NOTHING),
    ("visualizers.SplineVisualizer", OBSOLETE_GUI),
];

const TEST_BEAN_GUI: &str = "testbeans.gui.TestBeanGUI";
const OBSOLETE_GUI: &str = "config.gui.ObsoleteGui";
const NOTHING: &str = "config.ConfigTestElement";
const DATA_SOURCE: &str = "protocol.jdbc.config.DataSourceElement";

/// GUI classes under which a `ConfigTestElement` is a JDBC connection.
const DATA_SOURCE_GUIS: [&str; 2] = [
    "protocol.jdbc.config.gui.DbConfigGui",
    "protocol.jdbc.config.gui.PoolConfigGui",
];

/// Renamed properties by class; an empty new name drops the property.
const PROPERTIES: &[(&str, &[(&str, &str)])] = &[
    (
        "timers.ConstantThroughputTimer",
        &[("ConstantThroughputTimer.throughput", "throughput")],
    ),
    (
        "protocol.jdbc.sampler.JDBCSampler",
        &[("JDBCSampler.query", "query")],
    ),
    (
        DATA_SOURCE,
        &[
            ("ConfigTestElement.password", "password"),
            ("ConfigTestElement.username", "username"),
            ("JDBCSampler.connPoolClass", ""),
            ("JDBCSampler.connections", ""),
            ("JDBCSampler.driver", "driver"),
            ("JDBCSampler.maxuse", "poolMax"),
            ("JDBCSampler.query", "query"),
            ("JDBCSampler.url", "dbUrl"),
        ],
    ),
    (NOTHING, &[("JDBCSampler.query", "query")]),
    (
        "protocol.http.control.Header",
        &[("TestElement.name", "Header.name")],
    ),
    (
        "protocol.http.sampler.AccessLogSampler",
        &[
            ("AccessLogSampler.log_file", "logFile"),
            ("AccessLogSampler.parser_class_name", "parserClassName"),
            ("HTTPSampler.domain", "domain"),
            ("HTTPSampler.image_parser", "imageParsing"),
            ("HTTPSampler.port", "portString"),
        ],
    ),
    (
        "protocol.java.sampler.BSFSampler",
        &[
            ("BSFSampler.filename", "filename"),
            ("BSFSampler.language", "scriptLanguage"),
            ("BSFSampler.parameters", "parameters"),
            ("BSFSampler.query", "script"),
        ],
    ),
];

fn full(short: &str) -> String {
    format!("{PREFIX}{short}")
}

/// Classes of the first version of BlazeMeter's HTTP/2 plugin. Today's version reads them as its own classes and JMeter's
/// (`HTTP2SamplerConverter`).
const HTTP2_CLASSES: [(&str, &str); 4] = [
    ("sampler.HTTP2Request", HTTP2_SAMPLER),
    (
        "sampler.gui.HTTP2RequestGui",
        "com.blazemeter.jmeter.http2.sampler.gui.HTTP2SamplerGui",
    ),
    (
        "sampler.gui.Http2DefaultsGui",
        "org.apache.jmeter.protocol.http.config.gui.HttpDefaultsGui",
    ),
    (
        "visualizers.ResultCollector",
        "org.apache.jmeter.reporters.ResultCollector",
    ),
];
const HTTP2_PREFIX: &str = "com.blazemeter.jmeter.http2.";
const HTTP2_SAMPLER: &str = "com.blazemeter.jmeter.http2.sampler.HTTP2Sampler";

/// The properties of those classes. An empty new name drops a property that the converter ignores.
const HTTP2_PROPERTIES: &[(&str, &str)] = &[
    ("HTTP2Request.postBodyRaw", "HTTPSampler.postBodyRaw"),
    ("HTTP2Request.domain", "HTTPSampler.domain"),
    (
        "HTTP2Request.response_timeout",
        "HTTPSampler.response_timeout",
    ),
    ("HTTP2Request.protocol", "HTTPSampler.protocol"),
    (
        "HTTP2Request.contentEncoding",
        "HTTPSampler.contentEncoding",
    ),
    ("HTTP2Request.path", "HTTPSampler.path"),
    ("HTTP2Sampler.method", "HTTPSampler.method"),
    (
        "HTTP2Request.follow_redirects",
        "HTTPSampler.follow_redirects",
    ),
    ("HTTP2Request.auto_redirects", "HTTPSampler.auto_redirects"),
    ("HTTPSampler.embedded_resources", "HTTPSampler.image_parser"),
    ("HTTP2Request.sync_request", ""),
];

/// The full name that a renamed class has today (`NameUpdater.getCurrentName`, which does not repeat the lookup).
pub fn renamed_class(class: &str) -> Option<String> {
    if let Some(short) = class.strip_prefix(HTTP2_PREFIX) {
        let (_, new) = HTTP2_CLASSES.iter().find(|(old, _)| *old == short)?;
        return Some((*new).to_owned());
    }
    let short = class.strip_prefix(PREFIX)?;
    let (_, new) = CLASSES.iter().find(|(old, _)| *old == short)?;
    Some(full(new))
}

/// The full name of a test class given that of its GUI class (`NameUpdater.getCurrentTestName`).
pub fn renamed_test_class(class: &str, gui_class: &str) -> Option<String> {
    let gui = gui_class.strip_prefix(PREFIX).unwrap_or("");
    if class.strip_prefix(PREFIX) == Some(NOTHING) && DATA_SOURCE_GUIS.contains(&gui) {
        return Some(full(DATA_SOURCE));
    }
    renamed_class(class)
}

/// The renamed properties of a test class, by its full name.
pub fn renamed_properties(class: &str) -> &'static [(&'static str, &'static str)] {
    if class == HTTP2_SAMPLER || class.strip_prefix(PREFIX) == Some(NOTHING) {
        return HTTP2_PROPERTIES;
    }
    class
        .strip_prefix(PREFIX)
        .and_then(|short| PROPERTIES.iter().find(|(old, _)| *old == short))
        .map(|(_, properties)| *properties)
        .unwrap_or(&[])
}

/// The new name of a property whose value is an element. JMeter does not rename these (`TestElementPropertyConverter`), but the
/// converter of BlazeMeter's plugin does.
pub fn renamed_element_property(name: &str) -> Option<&'static str> {
    (name == "HTTP2Request.Arguments").then_some("HTTPsampler.Arguments")
}

/// Old values of `shareMode` in `CSVDataSet`, and today's keys.
const SHARE_MODES: [(&str, &str); 3] = [
    ("All threads", "shareMode.all"),
    ("Current thread group", "shareMode.group"),
    ("Current thread", "shareMode.thread"),
];

/// Old values of `calcMode` in `ConstantThroughputTimer`. Today the property is an index into this list.
const CALC_MODES: [&str; 5] = [
    "this thread only",
    "all active threads",
    "all active threads in current thread group",
    "all active threads (shared)",
    "all active threads in current thread group (shared)",
];

/// Converts choices that JMeter 2.2 to 2.7 saved as the words of its screen (`setProperty` of the two classes). JMeter recognises
/// the words of the language it runs in; this function recognises the English ones.
pub fn rename_values(class: &str, props: &mut Props) {
    let renamed = match class {
        "CSVDataSet" => renamed_text(props, "shareMode", |old| {
            let (_, new) = SHARE_MODES.iter().find(|(words, _)| *words == old)?;
            Some(Value::Str((*new).to_string()))
        }),
        "ConstantThroughputTimer" => renamed_text(props, "calcMode", |old| {
            let index = CALC_MODES.iter().position(|words| *words == old)?;
            i32::try_from(index).ok().map(Value::Int)
        }),
        _ => None,
    };
    if let Some(prop) = renamed {
        props.set(prop);
    }
}

fn renamed_text(props: &Props, name: &str, rename: impl Fn(&str) -> Option<Value>) -> Option<Prop> {
    let prop = props.get(name)?;
    let Value::Str(old) = &prop.value else {
        return None;
    };
    let value = rename(old)?;
    Some(Prop {
        value,
        ..prop.clone()
    })
}

/// Whether JMeter loads an element without behaviour in place of this class (a full name).
pub fn is_removed(class: &str) -> bool {
    let short = class.strip_prefix(PREFIX).unwrap_or("");
    CLASSES
        .iter()
        .filter(|entry| stand_in(entry))
        .any(|(old, _)| *old == short)
}

fn stand_in((_, new): &(&str, &str)) -> bool {
    *new == NOTHING
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_move() {
        assert_eq!(
            renamed_class("org.apache.jmeter.assertions.Assertion").as_deref(),
            Some("org.apache.jmeter.assertions.ResponseAssertion")
        );
        assert_eq!(
            renamed_class("org.apache.jmeter.assertions.ResponseAssertion"),
            None
        );
        assert_eq!(renamed_class("com.example.Assertion"), None);
        assert_eq!(
            renamed_class("com.blazemeter.jmeter.http2.sampler.HTTP2Request").as_deref(),
            Some("com.blazemeter.jmeter.http2.sampler.HTTP2Sampler")
        );
        assert_eq!(
            renamed_class("com.blazemeter.jmeter.http2.sampler.HTTP2Sampler"),
            None
        );
    }

    #[test]
    fn a_config_element_under_an_old_jdbc_gui_is_a_data_source() {
        let class = "org.apache.jmeter.config.ConfigTestElement";
        let gui = "org.apache.jmeter.protocol.jdbc.config.gui.DbConfigGui";
        let expected = "org.apache.jmeter.protocol.jdbc.config.DataSourceElement";
        assert_eq!(renamed_test_class(class, gui).as_deref(), Some(expected));
        assert_eq!(
            renamed_test_class(class, "org.apache.jmeter.config.gui.SimpleConfigGui"),
            None
        );
        let properties = renamed_properties(expected);
        assert!(properties.contains(&("JDBCSampler.url", "dbUrl")));
        assert!(
            properties.contains(&("JDBCSampler.connections", "")),
            "dropped"
        );
    }

    #[test]
    fn choices_saved_as_words_become_keys() {
        let upgraded = |class: &str, name: &str, words: &str| {
            let prop = Prop {
                name: name.into(),
                value: Value::Str(words.into()),
                span: Default::default(),
            };
            let mut props: Props = [prop].into_iter().collect();
            rename_values(class, &mut props);
            props.get(name).map(|prop| prop.value.clone())
        };
        assert_eq!(
            upgraded("CSVDataSet", "shareMode", "All threads"),
            Some(Value::Str("shareMode.all".into()))
        );
        assert_eq!(
            upgraded("CSVDataSet", "shareMode", "${mode}"),
            Some(Value::Str("${mode}".into()))
        );
        let timer = "ConstantThroughputTimer";
        assert_eq!(
            upgraded(timer, "calcMode", "this thread only"),
            Some(Value::Int(0))
        );
        assert_eq!(
            upgraded(timer, "calcMode", "all active threads (shared)"),
            Some(Value::Int(3))
        );
        assert_eq!(
            upgraded("Other", "calcMode", "this thread only"),
            Some(Value::Str("this thread only".into()))
        );
    }

    #[test]
    fn removed_classes_are_known_as_removed() {
        assert!(is_removed(
            "org.apache.jmeter.protocol.http.sampler.SoapSampler"
        ));
        assert!(!is_removed(
            "org.apache.jmeter.protocol.http.sampler.HTTPSamplerFull"
        ));
        assert!(!is_removed("org.apache.jmeter.config.ConfigTestElement"));
    }
}
