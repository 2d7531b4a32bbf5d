//! Prometheus Listener of the jmeter-prometheus-plugin (`com.github.johrstrom.listener.PrometheusListener`): collectors that the
//! plan defines, which the command line serves at `/metrics`.
//!
//! Properties, evaluated once before the run: the rows of `prometheus.collector_definitions`, each with `collector.help`,
//! `collector.metric_name`, `collector.type`, `collector.labels`, `collector.quantiles_or_buckets`, `listener.collector.listen_to` and
//! `listener.collector.measuring`. A label is `label`, `code`, `thread_group` or a variable. Metrics of the Java virtual machine
//! (`prometheus.save.jvm`) are not shown, since there is none. Counters have the names of the plugin up to version 0.6; later
//! versions add `_total`.

use std::sync::{Arc, Mutex, PoisonError};

use drumfire_elements::items;
use drumfire_elements::listeners::prometheus_listener as facts;
use drumfire_jmx::{Element, Value};
use drumfire_results::{CollectorKind, CollectorSet, CollectorSpec, Measure, Sample};

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::run::needs::Needs;
use crate::run::roles::SampleListener;
use crate::run::view::ListenerView;

/// `BaseCollectorConfig.DEFAULT_BUCKET_SIZES`.
const BUCKETS: [f64; 4] = [100.0, 500.0, 1000.0, 3000.0];
/// `QuantileDefinition#defaultQuantiles`.
const QUANTILES: [f64; 3] = [0.75, 0.95, 0.99];
/// `BaseCollectorConfig.DEFAULT_QUANTILE_WINDOW_LENGHT`, in seconds.
const WINDOW_S: u64 = 60;

struct PrometheusListener {
    collectors: Arc<Mutex<CollectorSet>>,
}

pub fn decode(d: &mut Decoder) -> Roles {
    let rows: Vec<Element> = d
        .element
        .props
        .list(facts::COLLECTORS.name)
        .iter()
        .filter_map(|row| match &row.value {
            Value::Element(row) => Some(Element::clone(row)),
            _ => None,
        })
        .collect();
    let specs = rows.iter().filter_map(|row| collector(d, row)).collect();
    let collectors = Arc::new(Mutex::new(CollectorSet::new(specs)));
    d.decoding.collectors.push(collectors.clone());
    let listener = d.new_listener(Arc::new(PrometheusListener { collectors }));
    Roles {
        listener: Some(listener),
        ..Roles::default()
    }
}

/// Decodes a row; `None`, with a warning, if the plugin would not make a collector of it.
fn collector(d: &mut Decoder, row: &Element) -> Option<CollectorSpec> {
    let mut text = |name: &str| {
        let template = d.compile(&row.props.str(name));
        d.now(&template).trim().to_owned()
    };
    let name = text(items::COLLECTOR_NAME.name);
    let (kind, measure) = (
        text(items::COLLECTOR_TYPE.name),
        text(items::COLLECTOR_MEASURING.name),
    );
    let sizes = text(items::COLLECTOR_BUCKETS.name);
    let listen_to = text(items::COLLECTOR_LISTEN_TO.name);
    let help = text(items::COLLECTOR_HELP.name);
    let labels: Vec<String> = row
        .props
        .list(items::COLLECTOR_LABELS.name)
        .iter()
        .map(|label| label.value.as_str().into_owned())
        .filter(|label| !label.is_empty())
        .collect();
    for label in &labels {
        d.decoding.compiler.intern(label);
    }
    let measured = match measure.as_str() {
        "" => Some(Measure::ResponseTime),
        name => Measure::named(name),
    };
    let (Some(measure), Some(kind)) = (measured, kind_of(&kind, &sizes)) else {
        d.warn(
            "prometheus-collector",
            format!(
                "`{name}` is not a collector: its type is `{kind}` and it measures `{measure}`"
            ),
        );
        return None;
    };
    Some(CollectorSpec {
        name,
        help: if help.is_empty() {
            "default help string".to_owned()
        } else {
            help
        },
        kind,
        measure,
        labels,
        is_of_assertions: listen_to.eq_ignore_ascii_case("assertions"),
    })
}

fn kind_of(kind: &str, sizes: &str) -> Option<CollectorKind> {
    Some(match kind {
        "COUNTER" | "" => CollectorKind::Counter,
        "GAUGE" => CollectorKind::Gauge,
        "SUCCESS_RATIO" => CollectorKind::SuccessRatio,
        "HISTOGRAM" => {
            let mut bounds = numbers(sizes.split(','));
            if bounds.is_empty() {
                bounds = BUCKETS.to_vec();
            }
            bounds.sort_by(f64::total_cmp);
            CollectorKind::Histogram(bounds)
        }
        "SUMMARY" => {
            let (quantiles, window_s) = sizes.split_once(';').unwrap_or((sizes, ""));
            // Each quantile is followed by its tolerated error, which is ignored.
            let pairs = quantiles
                .split('|')
                .filter_map(|pair| pair.split(',').next());
            let mut quantiles = numbers(pairs);
            quantiles.retain(|quantile| (0.0..=1.0).contains(quantile));
            if quantiles.is_empty() {
                quantiles = QUANTILES.to_vec();
            }
            CollectorKind::Summary(quantiles, window_s.trim().parse().unwrap_or(WINDOW_S))
        }
        _ => return None,
    })
}

fn numbers<'t>(texts: impl Iterator<Item = &'t str>) -> Vec<f64> {
    texts.filter_map(|text| text.trim().parse().ok()).collect()
}

impl SampleListener for PrometheusListener {
    fn sample_occurred(&self, cx: &mut ListenerView, sample: &mut Sample) {
        let now_ms = cx.clock().now_ms();
        let mut collectors = self
            .collectors
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        collectors.observe(sample, &cx.group_name, now_ms, &|name| {
            cx.vars().get_named(name).map(ToString::to_string)
        });
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    #[test]
    fn collectors_are_read_with_the_plugins_defaults() {
        let row = |name: &str, more: &str| {
            format!(
                r#"<elementProp name="" elementType="com.github.johrstrom.listener.ListenerCollectorConfig"><stringProp name="collector.metric_name">{name}</stringProp><collectionProp name="collector.labels"><stringProp name="1">label</stringProp></collectionProp>{more}</elementProp>"#
            )
        };
        let prop =
            |name: &str, value: &str| format!(r#"<stringProp name="{name}">{value}</stringProp>"#);
        let rows = [
            row(
                "h",
                &(prop("collector.type", "HISTOGRAM")
                    + &prop("collector.quantiles_or_buckets", "500,x,100")),
            ),
            row(
                "s",
                &(prop("collector.type", "SUMMARY")
                    + &prop("collector.quantiles_or_buckets", "0.5,0.1|0.9,0.01;30")),
            ),
            row("n", &prop("listener.collector.measuring", "CountTotal")),
            row("bad", &prop("collector.type", "ENUM")),
        ];
        let class = "com.github.johrstrom.listener.PrometheusListener";
        let plan = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="p"><collectionProp name="prometheus.collector_definitions">{}</collectionProp></{class}>"#,
            rows.concat()
        );
        let (text, _, findings) = fixture::decode_with_findings(&[], &plan, |d| {
            decode(d);
            let collectors = d.decoding.collectors[0].lock().expect("nobody panicked");
            format!("{collectors:?}")
        });
        for part in [
            "Histogram([100.0, 500.0])",
            "Summary([0.5, 0.9], 30)",
            "measure: CountTotal",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(
            findings[0].message.starts_with("`bad` is not a collector"),
            "{findings:?}"
        );
    }
}
