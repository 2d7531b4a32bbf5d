//! Backend Listener (`BackendListener`): sends metrics of the samples in its scope to another system while the run goes on.
//!
//! Properties, computed once before the run: `classname` and the rows of `arguments`. `InfluxdbBackendListenerClient`,
//! `InfluxDBRawBackendListenerClient` and `GraphiteBackendListenerClient` run natively, with JMeter's names, parameters and defaults; an element of any other class is
//! skipped. `QUEUE_SIZE` has no meaning: a listener never makes a user wait. Average, extremes and percentiles are those of the
//! samples since the last send, as with `backend_metrics_window_mode=timed`.

use std::sync::Arc;

use drumfire_jmx::Value;
use drumfire_results::{HeardSample, Sample, SampleQueue};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::context::Context;
use crate::run::needs::Needs;
use crate::run::program::BackendSpec;
use crate::run::roles::SampleListener;

const PACKAGE: &str = "org.apache.jmeter.visualizers.backend.";
/// Classes that run natively, below [`PACKAGE`].
const CLIENTS: [&str; 3] = [
    "influxdb.InfluxdbBackendListenerClient",
    "graphite.GraphiteBackendListenerClient",
    "influxdb.InfluxDBRawBackendListenerClient",
];
/// The client that sends each sample by itself.
const RAW: &str = "InfluxDBRawBackendListenerClient";
/// Samples of it that may wait to be sent.
const ROOM: usize = 50_000;
/// The code of the warning for a listener that is skipped because of its class.
pub const NOT_SENT: &str = "backend-not-sent";
const WINDOW_MODE: &str = "backend_metrics_window_mode";

pub fn decode(d: &mut Decoder) -> Roles {
    let class = d.text_now("classname");
    let class = class.trim();
    let known = CLIENTS
        .iter()
        .find(|client| class.strip_prefix(PACKAGE) == Some(*client));
    let Some((_, simple)) = known.and_then(|client| client.split_once('.')) else {
        d.warn(
            NOT_SENT,
            format!("its metrics are not sent, because `{class}` is not built"),
        );
        return Roles::default();
    };
    if d.settings().properties.get(WINDOW_MODE).as_deref() == Some("fixed") {
        d.warn(
            "backend-window",
            format!("{WINDOW_MODE}=fixed is not built: the numbers are those of each interval"),
        );
    }
    let name = d.name();
    let spec = BackendSpec {
        name: d.now(&name),
        class: simple.to_owned(),
        arguments: arguments(d),
        samples: (simple == RAW).then(|| SampleQueue::new(ROOM)),
    };
    let listener = match spec.samples.clone() {
        Some(samples) => {
            let stamp_at_start = d.unit.save_config.stamp_at_start;
            // It has a number among the others, under which it hears nothing.
            d.unit.backends.push(spec);
            d.new_listener(Arc::new(RawSamples {
                samples,
                stamp_at_start,
            }))
        }
        None => d.new_backend(spec),
    };
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

/// Hands each sample on.
struct RawSamples {
    samples: SampleQueue,
    stamp_at_start: bool,
}

impl SampleListener for RawSamples {
    fn sample_occurred(&self, _: &mut Context, sample: &mut Sample) {
        self.samples
            .push(HeardSample::of(sample, self.stamp_at_start));
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

fn arguments(d: &mut Decoder) -> Vec<(String, String)> {
    let Some(table) = d.element.props.element("arguments") else {
        return Vec::new();
    };
    let mut rows: Vec<(String, String)> = Vec::new();
    for row in table.props.list("Arguments.arguments") {
        let Value::Element(row) = &row.value else {
            continue;
        };
        let (name, value) = (
            d.compile(&row.props.str("Argument.name")),
            d.compile(&row.props.str("Argument.value")),
        );
        let name = d.now(&name);
        // Of equal names the first counts (`Arguments#getArgumentsAsMap`).
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
        let ((listener, spec), _) =
            fixture::decode(&xml, |d| (decode(d).listener, d.unit.backends.remove(0)));
        assert_eq!(listener, Some(Listener::Backend(0)));
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
    fn other_classes_are_skipped_and_named() {
        let xml = element("com.example.Own");
        let (listener, _, findings) =
            fixture::decode_with_findings(&[], &xml, |d| decode(d).listener);
        assert_eq!(listener, None);
        assert_eq!(
            findings[0].message,
            "its metrics are not sent, because `com.example.Own` is not built"
        );
    }

    #[test]
    fn a_window_of_samples_is_not_built_and_said() {
        let xml =
            element("org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient");
        let properties = [(WINDOW_MODE, "fixed")];
        let (listener, _, findings) =
            fixture::decode_with_findings(&properties, &xml, |d| decode(d).listener);
        assert_eq!(listener, Some(Listener::Backend(0)));
        assert_eq!(findings[0].code, "backend-window");
    }
}
