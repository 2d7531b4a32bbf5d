//! Collectors of the jmeter-prometheus-plugin (`com.github.johrstrom.listener.PrometheusListener`): counters, histograms, summaries
//! and success ratios, with labels that the plan chooses, rendered as Prometheus text. Times are whole milliseconds, as in the
//! plugin.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

use crate::distribution::Distribution;
use crate::sample::{AssertionResult, Sample};

/// Limit of the label value combinations of a collector; samples with further ones are only counted as [`CollectorSet::dropped`].
const MOST_CHILDREN: usize = 20_000;
/// Stands for a label without a value (`AbstractUpdater.NULL`).
const NULL: &str = "null";
/// Parts of a summary's window. Quantiles cover the current part and the four before it.
const PARTS: usize = 5;

/// The kind of a collector.
#[derive(Clone, Debug, PartialEq)]
pub enum CollectorKind {
    /// A sum.
    Counter,
    /// A value; the plugin's listener never sets one.
    Gauge,
    /// Cumulative counts up to these bounds, in the unit of the measure.
    Histogram(Vec<f64>),
    /// These quantiles over a window of this many seconds.
    Summary(Vec<f64>, u64),
    /// Three counters: successes, failures and all samples.
    SuccessRatio,
}

/// The quantity that a collector measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Elapsed time, in milliseconds.
    ResponseTime,
    /// Bytes of the body.
    ResponseSize,
    /// Time to the first byte, in milliseconds.
    Latency,
    /// Idle time, in milliseconds.
    IdleTime,
    /// Time to establish the connection, in milliseconds.
    ConnectTime,
    /// Successful samples.
    SuccessTotal,
    /// Failed samples.
    FailureTotal,
    /// All samples.
    CountTotal,
    /// Successful, failed and all samples.
    SuccessRatio,
}

impl Measure {
    /// The measure with this name (`ListenerCollectorConfig.Measurable`).
    pub fn named(name: &str) -> Option<Measure> {
        Some(match name {
            "ResponseTime" => Measure::ResponseTime,
            "ResponseSize" => Measure::ResponseSize,
            "Latency" => Measure::Latency,
            "IdleTime" => Measure::IdleTime,
            "ConnectTime" => Measure::ConnectTime,
            "SuccessTotal" => Measure::SuccessTotal,
            "FailureTotal" => Measure::FailureTotal,
            "CountTotal" => Measure::CountTotal,
            "SuccessRatio" => Measure::SuccessRatio,
            _ => return None,
        })
    }

    /// The value of a sample (`AggregatedTypeUpdater#measure`); `None` if the measure counts samples.
    fn of(self, sample: &Sample) -> Option<u64> {
        Some(match self {
            Measure::ResponseTime => ms(sample.elapsed_ms),
            Measure::ResponseSize => sample.body_size(),
            Measure::Latency => ms(sample.latency_ms),
            Measure::IdleTime => ms(sample.idle_ms),
            Measure::ConnectTime => ms(sample.connect_ms),
            _ => return None,
        })
    }
}

fn ms(ms: i64) -> u64 {
    u64::try_from(ms).unwrap_or(0)
}

/// A collector as the plan describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectorSpec {
    /// The metric's name.
    pub name: String,
    /// Its help text.
    pub help: String,
    /// Its kind.
    pub kind: CollectorKind,
    /// The quantity that it measures.
    pub measure: Measure,
    /// The names of its labels.
    pub labels: Vec<String>,
    /// Whether it counts assertions instead of samples.
    pub is_of_assertions: bool,
}

/// One of the counters of a success ratio.
type Count = fn(&Child) -> u64;

/// The values of one collector for one set of label values.
#[derive(Debug, Default)]
struct Child {
    count: u64,
    failed: u64,
    sum: u64,
    /// For a histogram: the number of values in each bucket; the last bucket has no upper bound.
    buckets: Vec<u64>,
    /// For a summary: the number and the values of each part of the window.
    window: VecDeque<(u64, Distribution)>,
}

impl Child {
    /// The values of the window that ends with this part.
    fn recent(&self, part: u64) -> Distribution {
        let mut values = Distribution::default();
        for (number, of_part) in &self.window {
            if number + PARTS as u64 > part {
                values.merge(of_part);
            }
        }
        values
    }
}

/// The collectors of one listener.
#[derive(Debug)]
pub struct CollectorSet {
    collectors: Vec<(CollectorSpec, BTreeMap<Vec<String>, Child>)>,
    dropped: u64,
}

impl CollectorSet {
    /// A set whose collectors have no values yet.
    pub fn new(specs: Vec<CollectorSpec>) -> CollectorSet {
        let collectors = specs.into_iter().map(|spec| (spec, BTreeMap::new()));
        CollectorSet {
            collectors: collectors.collect(),
            dropped: 0,
        }
    }

    /// Samples that were not counted because a collector has too many label value combinations.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Counts a sample at `now_ms`, in milliseconds since the Unix epoch. `variable` supplies the values of labels other than
    /// `label`, `code` and `thread_group`.
    pub fn observe(
        &mut self,
        sample: &Sample,
        group: &str,
        now_ms: i64,
        variable: &dyn Fn(&str) -> Option<String>,
    ) {
        let now_s = u64::try_from(now_ms / 1_000).unwrap_or(0);
        for (spec, children) in &mut self.collectors {
            let label = |name: &str, own: &str, assertion: bool| {
                let value = match name.to_ascii_lowercase().as_str() {
                    "label" => Some(own.to_owned()),
                    "code" if !assertion => Some(sample.code.to_string()),
                    "thread_group" if !assertion => Some(group.to_owned()),
                    _ => variable(name),
                };
                value
                    .filter(|value| !value.is_empty())
                    .unwrap_or_else(|| NULL.to_owned())
            };
            let labels = |own: &str, assertion: bool| -> Vec<String> {
                let names = spec.labels.iter();
                names.map(|name| label(name, own, assertion)).collect()
            };
            let mut add = |labels: Vec<String>, success: bool, value: Option<u64>| {
                if children.len() >= MOST_CHILDREN && !children.contains_key(&labels) {
                    self.dropped += 1;
                    return;
                }
                let child = children.entry(labels).or_default();
                spec.add(child, success, value, now_s);
            };
            let value = spec.measure.of(sample);
            if !spec.is_of_assertions || value.is_some() {
                add(labels(&sample.label, false), sample.success, value);
                continue;
            }
            for AssertionResult { name, failure, .. } in &sample.assertions {
                add(
                    labels(name.as_deref().unwrap_or_default(), true),
                    !failure,
                    None,
                );
            }
        }
    }

    /// Renders the collectors in Prometheus's text format 0.0.4.
    pub fn text(&self, now_ms: i64) -> String {
        let now_s = u64::try_from(now_ms / 1_000).unwrap_or(0);
        let mut text = String::new();
        for (spec, children) in &self.collectors {
            spec.write(&mut text, children, now_s);
        }
        text
    }
}

impl CollectorSpec {
    /// Counts a sample. A collector whose kind does not fit its measure stays empty, as in the plugin.
    fn add(&self, child: &mut Child, success: bool, value: Option<u64>, now_s: u64) {
        match (&self.kind, value) {
            (CollectorKind::Counter, None) => {
                let counts = match self.measure {
                    Measure::CountTotal => true,
                    Measure::FailureTotal => !success,
                    Measure::SuccessTotal => success,
                    _ => false,
                };
                child.count += u64::from(counts);
            }
            (CollectorKind::SuccessRatio, None) => {
                child.count += 1;
                child.failed += u64::from(!success);
            }
            (CollectorKind::Histogram(bounds), Some(value)) => {
                child.buckets.resize(bounds.len() + 1, 0);
                let bucket = bounds.partition_point(|bound| *bound < value as f64);
                child.buckets[bucket] += 1;
                child.count += 1;
                child.sum += value;
            }
            (CollectorKind::Summary(_, window_s), Some(value)) => {
                child.count += 1;
                child.sum += value;
                let part = now_s / part_s(*window_s);
                if child.window.back().is_none_or(|(last, _)| *last < part) {
                    child.window.push_back((part, Distribution::default()));
                }
                while child.window.len() > PARTS {
                    child.window.pop_front();
                }
                if let Some((_, values)) = child.window.back_mut() {
                    values.record(value.saturating_mul(1_000));
                }
            }
            _ => {}
        }
    }

    fn write(&self, text: &mut String, children: &BTreeMap<Vec<String>, Child>, now_s: u64) {
        let family = |text: &mut String, name: &str, kind: &str| {
            let help = self.help.replace('\\', "\\\\").replace('\n', "\\n");
            let _ = write!(text, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
        };
        let name = &self.name;
        match &self.kind {
            CollectorKind::Counter => {
                family(text, name, "counter");
                for (labels, child) in children {
                    let _ = writeln!(
                        text,
                        "{name}{} {}",
                        self.labels_of(labels, None),
                        child.count
                    );
                }
            }
            CollectorKind::Gauge => family(text, name, "gauge"),
            CollectorKind::SuccessRatio => {
                let before = if name.ends_with('_') { "" } else { "_" };
                let parts: [(&str, Count); 3] = [
                    ("success", |child| child.count - child.failed),
                    ("failure", |child| child.failed),
                    ("total", |child| child.count),
                ];
                for (end, of) in parts {
                    let name = format!("{name}{before}{end}");
                    family(text, &name, "counter");
                    for (labels, child) in children {
                        let _ =
                            writeln!(text, "{name}{} {}", self.labels_of(labels, None), of(child));
                    }
                }
            }
            CollectorKind::Histogram(bounds) => {
                family(text, name, "histogram");
                for (labels, child) in children {
                    let mut sum = 0;
                    let bounds = bounds.iter().map(f64::to_string).chain(["+Inf".to_owned()]);
                    for (bound, count) in bounds.zip(&child.buckets) {
                        sum += count;
                        let labels = self.labels_of(labels, Some(("le", &bound)));
                        let _ = writeln!(text, "{name}_bucket{labels} {sum}");
                    }
                    self.write_sums(text, labels, child);
                }
            }
            CollectorKind::Summary(quantiles, window_s) => {
                family(text, name, "summary");
                for (labels, child) in children {
                    let part = now_s / part_s(*window_s);
                    let values = child.recent(part);
                    for quantile in quantiles {
                        let value = match values.count() {
                            0 => f64::NAN,
                            _ => (values.percentile(quantile * 100.0) / 1_000.0).round(),
                        };
                        let labels =
                            self.labels_of(labels, Some(("quantile", &quantile.to_string())));
                        let _ = writeln!(text, "{name}{labels} {value}");
                    }
                    self.write_sums(text, labels, child);
                }
            }
        }
    }

    fn write_sums(&self, text: &mut String, labels: &[String], child: &Child) {
        let (name, labels) = (&self.name, self.labels_of(labels, None));
        let _ = writeln!(text, "{name}_count{labels} {}", child.count);
        let _ = writeln!(text, "{name}_sum{labels} {}", child.sum);
    }

    fn labels_of(&self, values: &[String], more: Option<(&str, &String)>) -> String {
        let names = self.labels.iter().map(String::as_str);
        let pairs: Vec<String> = names
            .zip(values)
            .chain(more)
            .map(|(name, value)| {
                let value = value
                    .replace('\\', "\\\\")
                    .replace('"', "\\\"")
                    .replace('\n', "\\n");
                format!("{name}=\"{value}\"")
            })
            .collect();
        if pairs.is_empty() {
            String::new()
        } else {
            format!("{{{}}}", pairs.join(","))
        }
    }
}

/// The length of a part of a summary's window, in seconds.
fn part_s(window_s: u64) -> u64 {
    (window_s / PARTS as u64).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(name: &str, kind: CollectorKind, measure: Measure, labels: &[&str]) -> CollectorSpec {
        CollectorSpec {
            name: name.to_owned(),
            help: "help".to_owned(),
            kind,
            measure,
            labels: labels.iter().map(|label| (*label).to_owned()).collect(),
            is_of_assertions: false,
        }
    }

    fn sample(elapsed_ms: i64, success: bool) -> Sample {
        let mut sample = Sample::new("Home \"1\"".into(), "t 1-1".into());
        sample.set_ok();
        sample.success = success;
        sample.elapsed_ms = elapsed_ms;
        sample
    }

    fn text(specs: Vec<CollectorSpec>, samples: &[Sample]) -> String {
        let mut set = CollectorSet::new(specs);
        for sample in samples {
            let variable = |name: &str| (name == "category").then(|| "A".to_owned());
            set.observe(sample, "Buyers", 100_000, &variable);
        }
        set.text(101_000)
    }

    #[test]
    fn counters_and_ratios() {
        let samples = [sample(1, true), sample(1, false), sample(1, true)];
        let of = |measure| {
            text(
                vec![spec("n", CollectorKind::Counter, measure, &["code"])],
                &samples,
            )
        };
        assert!(of(Measure::CountTotal).ends_with("# TYPE n counter\nn{code=\"200\"} 3\n"));
        assert!(of(Measure::FailureTotal).ends_with("n{code=\"200\"} 1\n"));
        assert!(of(Measure::SuccessTotal).ends_with("n{code=\"200\"} 2\n"));
        let ratio = spec(
            "r",
            CollectorKind::SuccessRatio,
            Measure::SuccessRatio,
            &["category", "none"],
        );
        let told = text(vec![ratio], &samples);
        for line in [
            "r_success{category=\"A\",none=\"null\"} 2\n",
            "r_failure{category=\"A\",none=\"null\"} 1\n",
            "r_total{category=\"A\",none=\"null\"} 3\n",
        ] {
            assert!(told.contains(line), "{told}");
        }
    }

    #[test]
    fn histograms_and_summaries() {
        let samples = [sample(100, true), sample(101, true), sample(900, true)];
        let histogram = spec(
            "h",
            CollectorKind::Histogram(vec![100.0, 500.0]),
            Measure::ResponseTime,
            &["label"],
        );
        let expected = "# HELP h help
# TYPE h histogram
h_bucket{label=\"Home \\\"1\\\"\",le=\"100\"} 1
h_bucket{label=\"Home \\\"1\\\"\",le=\"500\"} 2
h_bucket{label=\"Home \\\"1\\\"\",le=\"+Inf\"} 3
h_count{label=\"Home \\\"1\\\"\"} 3
h_sum{label=\"Home \\\"1\\\"\"} 1101
";
        assert_eq!(text(vec![histogram], &samples), expected);
        let summary = spec(
            "s",
            CollectorKind::Summary(vec![0.5], 60),
            Measure::ResponseTime,
            &[],
        );
        let mut set = CollectorSet::new(vec![summary]);
        for sample in &samples {
            set.observe(sample, "g", 100_000, &|_| None);
        }
        assert!(
            set.text(101_000)
                .contains("s{quantile=\"0.5\"} 101\ns_count 3\ns_sum 1101\n")
        );
        assert!(
            set.text(300_000)
                .contains("s{quantile=\"0.5\"} NaN\ns_count 3\n")
        );
    }

    #[test]
    fn assertions_are_counted_by_their_names() {
        let mut failed = sample(1, false);
        let result = |name: &'static str, failure| AssertionResult {
            name: Some(name.into()),
            failure,
            ..AssertionResult::default()
        };
        failed.assertions = vec![result("small", true), result("fast", false)];
        let mut spec = spec(
            "a",
            CollectorKind::Counter,
            Measure::FailureTotal,
            &["label"],
        );
        spec.is_of_assertions = true;
        let told = text(vec![spec], &[failed]);
        assert!(
            told.ends_with("a{label=\"fast\"} 0\na{label=\"small\"} 1\n"),
            "{told}"
        );
    }
}
