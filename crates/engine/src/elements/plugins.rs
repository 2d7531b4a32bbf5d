//! The plugins of jmeter-plugins.org that have classes of elements, and where their jars are published.

/// A plugin in the catalogue of jmeter-plugins.org.
#[derive(Debug, PartialEq, Eq)]
pub struct Plugin {
    /// Its name there, such as `jpgc-webdriver`.
    pub id: &'static str,
    /// `group:artifact:version` at Maven Central; `None` if its jar is published elsewhere.
    pub artifact: Option<&'static str>,
    /// How the full names of its classes begin.
    prefixes: &'static [&'static str],
}

/// A plugin at Maven Central.
const fn published(
    id: &'static str,
    artifact: &'static str,
    prefixes: &'static [&'static str],
) -> Plugin {
    Plugin {
        id,
        artifact: Some(artifact),
        prefixes,
    }
}

/// A plugin whose jar is not at Maven Central.
const fn elsewhere(id: &'static str, prefixes: &'static [&'static str]) -> Plugin {
    Plugin {
        id,
        artifact: None,
        prefixes,
    }
}

/// Of several prefixes that fit a class, the longest decides.
const PLUGINS: &[Plugin] = &[
    published(
        "jpgc-webdriver",
        "kg.apc:jmeter-plugins-webdriver:4.8.1",
        &["com.googlecode.jmeter.plugins.webdriver."],
    ),
    published(
        "jpgc-json",
        "kg.apc:jmeter-plugins-json:2.7",
        &[
            "com.atlantbh.jmeter.plugins.jsonutils.",
            "com.atlantbh.jmeter.plugins.jsontoxmlconverter.",
        ],
    ),
    published(
        "jpgc-xml",
        "kg.apc:jmeter-plugins-xml:0.1",
        &["com.atlantbh.jmeter.plugins.xmlformatter."],
    ),
    published(
        "jpgc-oauth",
        "kg.apc:jmeter-plugins-oauth:0.1",
        &["com.atlantbh.jmeter.plugins.oauth."],
    ),
    published(
        "jpgc-jms",
        "kg.apc:jmeter-plugins-jms:0.2",
        &["com.atlantbh.jmeter.plugins.jmstools."],
    ),
    published(
        "jpgc-hadoop",
        "kg.apc:jmeter-plugins-hadoop:2.0",
        &[
            "com.atlantbh.jmeter.plugins.hadooputilities.",
            "com.atlantbh.jmeter.plugins.hbase",
        ],
    ),
    published(
        "jpgc-httpraw",
        "kg.apc:jmeter-plugins-httpraw:0.1",
        &[
            "kg.apc.jmeter.samplers.HTTPRawSampler",
            "kg.apc.jmeter.modifiers.RawRequestSourcePreProcessor",
        ],
    ),
    published(
        "jpgc-udp",
        "kg.apc:jmeter-plugins-udp:0.4",
        &["kg.apc.jmeter.samplers.UDP"],
    ),
    published(
        "jpgc-csvars",
        "kg.apc:jmeter-plugins-csvars:0.2",
        &["kg.apc.jmeter.config.VariablesFromCSV"],
    ),
    published(
        "jpgc-lockfile",
        "kg.apc:jmeter-plugins-lockfile:0.1",
        &["kg.apc.jmeter.config.LockFile"],
    ),
    published(
        "jpgc-functions",
        "kg.apc:jmeter-plugins-functions:2.1",
        &["kg.apc.jmeter.functions."],
    ),
    published(
        "jpgc-casutg",
        "kg.apc:jmeter-plugins-casutg:2.10",
        &[
            "com.blazemeter.jmeter.threads.",
            "com.blazemeter.jmeter.control.VirtualUserController",
            "com.blazemeter.jmeter.reporters.FlushingResultCollector",
            "kg.apc.jmeter.threads.",
        ],
    ),
    published(
        "jpgc-esa",
        "kg.apc:jmeter-plugins-esa:0.1",
        &["org.jmeterplugins.assertions."],
    ),
    published(
        "jpgc-sts",
        "kg.apc:jmeter-plugins-table-server:5.0",
        &["org.jmeterplugins.protocol.http.control."],
    ),
    published(
        "jpgc-xmpp",
        "kg.apc:jmeter-plugins-xmpp:1.5.1",
        &["com.blazemeter.jmeter.xmpp."],
    ),
    published(
        "jpgc-directory-listing",
        "com.blazemeter:jmeter-plugins-directory-listing:0.3",
        &["com.blazemeter.jmeter.DirectoryListing"],
    ),
    published(
        "jpgc-rotating-listener",
        "com.blazemeter:jmeter-plugins-rotating-listener:0.2",
        &["com.blazemeter.jmeter.RotatingResultCollector"],
    ),
    published(
        "bzm-parallel",
        "com.blazemeter:jmeter-parallel:0.12",
        &[
            "com.blazemeter.jmeter.controller.",
            "com.blazemeter.jmeter.http.",
        ],
    ),
    published(
        "websocket-samplers",
        "net.luminis.jmeter:jmeter-websocket-samplers:1.3.1",
        &["eu.luminis.jmeter."],
    ),
    published(
        "jmeter-prometheus",
        "com.github.johrstrom:jmeter-prometheus-plugin:0.6.0",
        &["com.github.johrstrom."],
    ),
    published(
        "jmeter.backendlistener.kafka",
        "io.github.rahulsinghai:jmeter.backendlistener.kafka:1.0.0",
        &["io.github.rahulsinghai.jmeter.backendlistener.kafka."],
    ),
    published(
        "perfana-timescaledb",
        "io.perfana:perfana-jmeter-timescaledb:1.0.4",
        &["io.perfana.jmeter.timescaledb."],
    ),
    elsewhere("bzm-hls", &["com.blazemeter.jmeter.hls."]),
    elsewhere("bzm-http2", &["com.blazemeter.jmeter.http2."]),
    elsewhere("bzm-rte", &["com.blazemeter.jmeter.rte."]),
    elsewhere("bzm-siebel", &["com.blazemeter.jmeter.correlation."]),
    elsewhere(
        "bzm-jmeter-citrix-plugin",
        &["com.blazemeter.jmeter.citrix."],
    ),
    elsewhere("mqtt-xmeter", &["net.xmeter."]),
    elsewhere("mqtt-sampler", &["org.apache.jmeter.protocol.mqtt."]),
    elsewhere("ssh-sampler", &["org.apache.jmeter.protocol.ssh."]),
    elsewhere("awsmeter", &["org.apache.jmeter.protocol.aws."]),
    elsewhere(
        "websocket-sampler",
        &["JMeter.plugins.functional.samplers.websocket."],
    ),
    elsewhere(
        "kafkameter",
        &["co.signal.kafkameter.", "co.signal.loadgen."],
    ),
    elsewhere("di-kafkameter", &["com.di.jmeter.kafka."]),
    elsewhere("extended-csv-dataset-config", &["com.di.jmeter.config."]),
    elsewhere("jmeter-pubsub-sampler", &["com.di.jmeter.pubsub."]),
    elsewhere("jmeter-grpc-request", &["vn.zalopay."]),
    elsewhere("mqmeter", &["co.signal.mqmeter."]),
    elsewhere("couchbase", &["io.perfwise.cb."]),
    elsewhere("custom-soap", &["com.jmeter.protocol.soap."]),
    elsewhere(
        "jmeter.backendlistener.elasticsearch",
        &["io.github.delirius325."],
    ),
    elsewhere("jmeter.backendlistener.azure", &["io.github.adrianmo."]),
    elsewhere("jmeter-datadog-backend-listener", &["org.datadog.jmeter."]),
    elsewhere("tilln-iso8583", &["nz.co.breakpoint.jmeter.iso8583."]),
    elsewhere(
        "tilln-sshmon",
        &["nz.co.breakpoint.jmeter.vizualizers.sshmon."],
    ),
];

/// The plugin that has a class, given by its full name; `None` if the table has none.
pub fn plugin_of(class: &str) -> Option<&'static Plugin> {
    let fit = |plugin: &&'static Plugin| {
        let fitting = plugin
            .prefixes
            .iter()
            .filter(|one| class.starts_with(**one));
        fitting.map(|prefix| prefix.len()).max()
    };
    let all = PLUGINS.iter().filter(|plugin| fit(plugin).is_some());
    all.max_by_key(fit)
}

/// The plugin with this name at jmeter-plugins.org, if it is at Maven Central.
pub fn artifact_of(id: &str) -> Option<&'static str> {
    PLUGINS.iter().find(|plugin| plugin.id == id)?.artifact
}

/// Why an element cannot be run whose class, given by its full name, no jar contains, with the remedy.
pub fn absent(class: &str) -> String {
    const NO_JAR: &str = "no jar on the class path contains its class";
    match plugin_of(class) {
        Some(Plugin {
            id,
            artifact: Some(_),
            ..
        }) => format!("{NO_JAR} (plugin {id}: run `drumfire jvm install {id}`)"),
        Some(Plugin { id, .. }) => format!(
            "{NO_JAR} (plugin {id}: get its jar from https://jmeter-plugins.org/?search={id}, and name it with -Juser.classpath=JAR)"
        ),
        None => format!(
            "{NO_JAR} (put a plugin's jar into lib/ext of JMETER_HOME, or name it with -Juser.classpath=JAR)"
        ),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn classes_lead_to_the_artifact_that_has_them() {
        for (class, id, artifact) in [
            (
                "com.googlecode.jmeter.plugins.webdriver.sampler.WebDriverSampler",
                "jpgc-webdriver",
                Some("kg.apc:jmeter-plugins-webdriver:4.8.1"),
            ),
            (
                "com.googlecode.jmeter.plugins.webdriver.config.ChromeDriverConfig",
                "jpgc-webdriver",
                Some("kg.apc:jmeter-plugins-webdriver:4.8.1"),
            ),
            (
                "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor",
                "jpgc-json",
                Some("kg.apc:jmeter-plugins-json:2.7"),
            ),
            (
                "kg.apc.jmeter.samplers.UDPSampler",
                "jpgc-udp",
                Some("kg.apc:jmeter-plugins-udp:0.4"),
            ),
            (
                "com.blazemeter.jmeter.http2.sampler.HTTP2Request",
                "bzm-http2",
                None,
            ),
            ("net.xmeter.samplers.ConnectSampler", "mqtt-xmeter", None),
        ] {
            let plugin = plugin_of(class).unwrap_or_else(|| panic!("{class} has no plugin"));
            assert_eq!((plugin.id, plugin.artifact), (id, artifact), "{class}");
            assert_eq!(artifact_of(id), artifact);
        }
        assert_eq!(plugin_of("com.example.Own"), None);
        assert_eq!(plugin_of("org.apache.jmeter.sampler.DebugSampler"), None);
    }

    #[test]
    fn an_absent_class_comes_with_the_line_that_installs_it() {
        let line = "run `drumfire jvm install jpgc-webdriver`";
        assert!(absent("com.googlecode.jmeter.plugins.webdriver.sampler.X").contains(line));
        assert!(absent("net.xmeter.samplers.X").contains("?search=mqtt-xmeter"));
        assert!(absent("com.example.Own").contains("-Juser.classpath=JAR"));
    }

    #[test]
    fn names_and_prefixes_are_unique_and_coordinates_complete() {
        let mut seen = HashSet::new();
        for plugin in PLUGINS {
            assert!(seen.insert(plugin.id), "{}", plugin.id);
            assert!(plugin.prefixes.iter().all(|prefix| seen.insert(prefix)));
            if let Some(artifact) = plugin.artifact {
                assert_eq!(artifact.split(':').count(), 3, "{artifact}");
            }
        }
    }
}
