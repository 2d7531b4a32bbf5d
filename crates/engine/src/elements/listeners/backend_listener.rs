//! Backend Listener (`BackendListener`): sends metrics of the samples in its scope to another system while the run goes on.
//!
//! Properties, evaluated once before the run: `classname` and the rows of `arguments`. `InfluxdbBackendListenerClient`,
//! `InfluxDBRawBackendListenerClient` and `GraphiteBackendListenerClient` are native, with JMeter's names, parameters and
//! defaults, and so is `InfluxDatabaseBackendListenerClient` of jmeter-influxdb2-listener-plugin. Java runs any other client, on
//! a separate thread. If its class is missing, the element is skipped, as in JMeter. A listener never makes a user wait: samples
//! beyond the `QUEUE_SIZE` of a Java client are dropped and counted; native clients ignore that argument. Average, extremes and
//! percentiles are those of the samples since the last send. With `backend_metrics_window_mode=fixed`, given explicitly, they are
//! those of a label's last 100 samples (`backend_metrics_window`), as in JMeter (`SamplerMetric`).

use std::sync::Arc;

use drumfire_elements::config::user_defined_variables;
use drumfire_elements::items;
use drumfire_elements::listeners::backend_listener as facts;
use drumfire_jmx::Value;
use drumfire_results::{HeardSample, Sample, SampleQueue};

use crate::base::body;
use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::{foreign, java};
use crate::run::needs::Needs;
use crate::run::program::BackendSpec;
use crate::run::roles::SampleListener;
use crate::run::view::ListenerView;

/// Classes that run natively.
const CLIENTS: [&str; 5] = [
    "org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient",
    "org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient",
    "org.apache.jmeter.visualizers.backend.influxdb.InfluxDBRawBackendListenerClient",
    "io.github.mderevyankoaqa.influxdb2.visualizer.InfluxDatabaseBackendListenerClient",
    // The package of the plugin's first versions.
    "io.vincent.influxdb2.visualizer.InfluxDatabaseBackendListenerClient",
];
/// The clients that send each sample separately.
const RAW: &str = "InfluxDBRawBackendListenerClient";
const INFLUXDB_2: &str = "InfluxDatabaseBackendListenerClient";
/// The number of their samples that may wait to be sent.
const ROOM: usize = 50_000;
/// The code of the warning for a listener that is skipped because its client cannot run.
pub const NOT_SENT: &str = "backend-not-sent";
const WINDOW_MODE: &str = "backend_metrics_window_mode";

pub fn decode(d: &mut Decoder) -> Roles {
    let written_class = d.text_now(facts::CLASS_NAME.name);
    let class = written_class.trim();
    let client = CLIENTS.iter().find(|client| **client == class);
    let Some((_, simple)) = client.and_then(|client| client.rsplit_once('.')) else {
        return by_its_class(d, class);
    };
    let is_windowed = d.settings().properties.get(WINDOW_MODE).as_deref() == Some("fixed");
    let sends_each = [RAW, INFLUXDB_2].contains(&simple);
    let name = d.name();
    let arguments = arguments(d);
    let flag = |name: &str| {
        let value = arguments.iter().find(|(known, _)| known == name);
        value.is_some_and(|(_, value)| value.eq_ignore_ascii_case("true"))
    };
    let is_detailed = simple == INFLUXDB_2;
    let samples = (sends_each || is_windowed).then(|| SampleQueue::new(ROOM));
    let samples_listener = samples.clone().map(|samples| {
        Arc::new(Samples {
            samples,
            stamp_at_start: d.decoding.save_config.stamp_at_start,
            is_detailed,
            with_children: is_detailed && flag("recordSubSamples"),
            with_bodies: is_detailed && flag("saveResponseBodyOfFailures"),
        }) as _
    });
    let spec = BackendSpec {
        name: d.now(&name),
        class: simple.to_owned(),
        arguments,
        samples,
    };
    let listener = match samples_listener {
        // It needs a number among the backends, but gets no samples under it.
        Some(samples_listener) if sends_each => {
            d.decoding.backends.push(spec);
            d.new_listener(samples_listener)
        }
        samples_listener => d.new_backend(spec, samples_listener),
    };
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

/// A client that only its Java class can run.
fn by_its_class(d: &mut Decoder, class: &str) -> Roles {
    if let Some(why) = foreign::client_fault(d, class) {
        let message = format!("its metrics are not sent, because `{class}` cannot run: {why}");
        d.warn(NOT_SENT, message);
        return Roles::default();
    }
    let why = format!("its client is `{class}`");
    java::instead(d, &why, java::quick_listener)
}

/// Passes each sample to the client.
struct Samples {
    samples: SampleQueue,
    stamp_at_start: bool,
    is_detailed: bool,
    /// Also pass the direct sub-results.
    with_children: bool,
    /// Also pass the bodies of failed responses.
    with_bodies: bool,
}

impl Samples {
    fn heard(&self, sample: &Sample) -> HeardSample {
        let mut heard = HeardSample::of(sample, self.stamp_at_start);
        if self.is_detailed {
            heard = heard.with_detail(sample);
        }
        if let Some(detail) = heard.detail.as_mut()
            && self.with_bodies
            && !sample.success
        {
            let text = body::text(sample, None);
            detail.failed_body = Some(text.into_owned()).filter(|text| !text.is_empty());
        }
        heard
    }
}

impl SampleListener for Samples {
    fn sample_occurred(&self, _: &mut ListenerView, sample: &mut Sample) {
        self.samples.push(self.heard(sample));
        if self.with_children {
            for child in &sample.children {
                self.samples.push(self.heard(child));
            }
        }
    }

    fn needs(&self) -> Needs {
        Needs {
            body: self.with_bodies,
            ..Needs::NOTHING
        }
    }
}

fn arguments(d: &mut Decoder) -> Vec<(String, String)> {
    let Some(table) = d.element.props.element(facts::ARGUMENTS.name) else {
        return Vec::new();
    };
    let mut rows: Vec<(String, String)> = Vec::new();
    for row in table.props.list(user_defined_variables::VARIABLES.name) {
        let Value::Element(row) = &row.value else {
            continue;
        };
        let (name, value) = (
            d.compile(&row.props.str(items::NAME.name)),
            d.compile(&row.props.str(items::VALUE.name)),
        );
        let name = d.now(&name);
        // Of arguments with the same name, the first counts (`Arguments#getArgumentsAsMap`).
        if rows.iter().all(|(known, _)| *known != name) {
            rows.push((name, d.now(&value)));
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::roles::Listener;
    use crate::fixture;

    fn element(class: &str) -> String {
        let row = |name: &str, value: &str| {
            format!(
                r#"<elementProp name="{name}" elementType="Argument"><stringProp name="Argument.name">{name}</stringProp><stringProp name="Argument.value">{value}</stringProp></elementProp>"#
            )
        };
        let rows = row("application", "${__P(app,shop)}") + &row("application", "second");
        format!(
            r#"<BackendListener guiclass="BackendListenerGui" testclass="BackendListener" testname="live"><elementProp name="arguments" elementType="Arguments"><collectionProp name="Arguments.arguments">{rows}</collectionProp></elementProp><stringProp name="classname">{class}</stringProp></BackendListener>"#
        )
    }

    #[test]
    fn parameters_are_computed_once_and_the_first_of_equal_names_counts() {
        let xml =
            element("org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient");
        let ((listener, spec), _) = fixture::decode(&xml, |d| {
            (decode(d).listener, d.decoding.backends.remove(0))
        });
        assert_eq!(listener, Some(Listener::Backend(0, None)));
        assert_eq!(
            spec,
            BackendSpec {
                name: "live".to_owned(),
                class: "InfluxdbBackendListenerClient".to_owned(),
                arguments: vec![("application".to_owned(), "shop".to_owned())],
                samples: None,
            }
        );
    }

    #[test]
    fn without_java_other_classes_are_skipped_and_named() {
        let xml = element("com.example.Own");
        let (listener, _, findings) =
            fixture::decode_with_findings(&[], &xml, |d| decode(d).listener);
        assert_eq!(listener, None);
        assert_eq!(
            findings[0].message,
            "its metrics are not sent, because `com.example.Own` cannot run: it is a plugin's element, which needs its Java class: this build has no Java bridge"
        );
    }

    #[test]
    fn a_window_of_samples_needs_each_of_them() {
        let xml =
            element("org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient");
        let properties = [(WINDOW_MODE, "fixed")];
        let (listener, _, findings) =
            fixture::decode_with_findings(&properties, &xml, |d| decode(d).listener);
        assert_eq!(listener, Some(Listener::Backend(0, Some(0))));
        assert!(findings.is_empty(), "{findings:?}");
    }
}
