//! Graphite's two wire formats, with the names of JMeter's `GraphiteBackendListenerClient`.

use std::fmt::Write as _;
use std::time::Duration;

use drumfire_java::values::double_to_string;
use drumfire_results::LabelIncrement;

use crate::encoder::{Encoder, Interval};
use crate::numbers::{Times, TimesByResult, active_users, by_label};
use crate::windows::Windows;

/// The wire format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GraphiteFormat {
    /// One line for each metric (`TextGraphiteMetricsSender`).
    Text,
    /// A pickled list, preceded by its length (`PickleGraphiteMetricsSender`).
    Pickle,
}

/// Encodes as `GraphiteBackendListenerClient` does, with its settings.
pub struct Graphite {
    /// The time between two sends.
    pub interval: Duration,
    /// The wire format.
    pub format: GraphiteFormat,
    /// The prefix of every name, including its dot.
    pub prefix: String,
    /// Percentiles, from 0 to 100.
    pub percentiles: Vec<f64>,
    /// Whether only totals are sent.
    pub summary_only: bool,
    /// Whether a label is also sent on its own.
    pub wants: Box<dyn Fn(&str) -> bool + Send>,
    /// The second of the last send, since the Unix epoch. Graphite stores one value per second, so each send needs a second of
    /// its own, and the last send of a run comes earlier than an interval after the one before.
    pub last_second: i64,
    /// The last samples, if the times come from them instead of from the interval.
    pub windows: Option<Windows>,
}

/// The metrics of one interval: names and values.
struct Metrics {
    prefix: String,
    percentiles: Vec<f64>,
    all: Vec<(String, String)>,
}

impl Graphite {
    /// Sends labels and totals as text once a second, for `--out graphite=HOST:PORT`.
    pub fn new(prefix: String) -> Graphite {
        Graphite {
            interval: Duration::from_secs(1),
            format: GraphiteFormat::Text,
            prefix,
            percentiles: vec![90.0, 95.0, 99.0],
            summary_only: false,
            wants: Box::new(|_| true),
            last_second: i64::MIN,
            windows: None,
        }
    }

    fn metrics(&self, interval: &Interval) -> Vec<(String, String)> {
        let mut metrics = Metrics {
            prefix: self.prefix.clone(),
            percentiles: self.percentiles.clone(),
            all: Vec::new(),
        };
        let labels = &interval.increment.labels;
        if labels.iter().any(|label| label.count > 0) {
            let parts: Vec<&LabelIncrement> = labels.iter().collect();
            let times = TimesByResult::choose(self.windows.as_ref(), None, &parts);
            metrics.add_samples("all", &parts, &times, true);
        }
        if !self.summary_only {
            for label in by_label(labels)
                .iter()
                .filter(|label| label.count > 0 && (self.wants)(&label.label))
            {
                let times =
                    TimesByResult::choose(self.windows.as_ref(), Some(&label.label), &[label]);
                metrics.add_samples(&sanitized(&label.label), &[label], &times, false);
            }
        }
        let [min, max, mean] = active_users(self.windows.as_ref(), interval);
        for (name, value) in [
            ("minAT", min),
            ("maxAT", max),
            ("meanAT", mean),
            ("startedT", interval.users.started),
            ("endedT", interval.users.ended),
        ] {
            metrics.add("test", name, value.to_string());
        }
        metrics.all
    }
}

impl Encoder for Graphite {
    fn interval(&self) -> Duration {
        self.interval
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        if let Some(windows) = &mut self.windows {
            windows.catch_up();
        }
        let now = interval.at_ms.div_euclid(1000);
        let second = now.max(self.last_second.saturating_add(1));
        self.last_second = second;
        let metrics = self.metrics(interval);
        vec![match self.format {
            GraphiteFormat::Text => text(&metrics, second),
            GraphiteFormat::Pickle => pickle(&metrics, second),
        }]
    }
}

impl Metrics {
    fn add(&mut self, context: &str, name: &str, value: String) {
        self.all
            .push((format!("{}{context}.{name}", self.prefix), value));
    }

    /// Adds the metrics of one label or of all, with JMeter's names and order (`GraphiteBackendListenerClient.addMetrics`).
    fn add_samples(
        &mut self,
        context: &str,
        labels: &[&LabelIncrement],
        times: &TimesByResult,
        is_total: bool,
    ) {
        let sum =
            |part: fn(&LabelIncrement) -> u64| labels.iter().map(|label| part(label)).sum::<u64>();
        // In the totals, a transaction adds neither hits nor bytes (`SamplerMetric.addCumulated`).
        let own = |part: fn(&LabelIncrement) -> u64| {
            let counted = labels
                .iter()
                .filter(|label| !is_total || !label.transaction);
            counted.map(|label| part(label)).sum::<u64>()
        };
        let (count, failed) = (sum(|label| label.count), sum(|label| label.errors));
        let passed = count.saturating_sub(failed);
        for (name, value) in [
            ("ok.count", passed),
            ("ko.count", failed),
            ("a.count", count),
            ("h.count", own(|label| label.hits)),
            ("sb.bytes", own(|label| label.sent_bytes)),
            ("rb.bytes", own(|label| label.bytes)),
        ] {
            self.add(context, name, value.to_string());
        }
        if passed > 0 {
            self.add_times(context, "ok", &times.ok);
        }
        if failed > 0 {
            self.add_times(context, "ko", &times.failed);
        }
        self.add_times(context, "a", &times.all);
    }

    fn add_times(&mut self, context: &str, state: &str, times: &Times) {
        for (name, value) in [
            ("min", times.min_ms()),
            ("max", times.max_ms()),
            ("avg", times.mean_ms()),
        ] {
            self.add(context, &format!("{state}.{name}"), double_to_string(value));
        }
        for percent in self.percentiles.clone() {
            let name = format!("{state}.pct{}", percentile_name(percent));
            self.add(
                context,
                &name,
                double_to_string(times.percentile_ms(percent)),
            );
        }
    }
}

/// A percentile with at most two decimals and `_` as the decimal point.
fn percentile_name(percent: f64) -> String {
    let text = format!("{percent:.2}");
    text.trim_end_matches('0')
        .trim_end_matches('.')
        .replace('.', "_")
}

/// A label as part of a name (`AbstractGraphiteMetricsSender.sanitizeString`).
fn sanitized(label: &str) -> String {
    label.replace(['\\', ' '], "-").replace('.', "_")
}

fn text(metrics: &[(String, String)], second: i64) -> Vec<u8> {
    let mut lines = String::new();
    for (name, value) in metrics {
        let _ = writeln!(lines, "{name} {value} {second}");
    }
    lines.into_bytes()
}

/// Encodes a list of `(name, (time, value))` in pickle's protocol 0, preceded by its length in four bytes.
fn pickle(metrics: &[(String, String)], second: i64) -> Vec<u8> {
    let mut list = "(l".to_owned();
    for (name, value) in metrics {
        let _ = write!(
            list,
            "(S'{}'\n(L{second}L\nS'{value}'\ntta",
            name.replace('\\', "\\\\").replace('\'', "\\'")
        );
    }
    list.push('.');
    let length = u32::try_from(list.len()).unwrap_or(u32::MAX);
    let mut message = length.to_be_bytes().to_vec();
    message.extend_from_slice(list.as_bytes());
    message
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_results::Increment;

    fn interval() -> Interval {
        let mut label = LabelIncrement::new("Home page.v1".to_owned(), false);
        (
            label.count,
            label.errors,
            label.hits,
            label.bytes,
            label.sent_bytes,
        ) = (2, 1, 2, 10, 14);
        label.ok.record(4_000);
        label.failed.record(8_000);
        let mut increment = Increment {
            labels: vec![label],
            ..Increment::default()
        };
        increment.active.record(1);
        Interval {
            at_ms: 1_795_383_300_968,
            increment,
            ..Interval::default()
        }
    }

    #[test]
    fn lines_have_jmeters_names_in_jmeters_order() {
        let graphite = &mut Graphite {
            percentiles: vec![90.0, 95.5],
            ..Graphite::new("jmeter.".to_owned())
        };
        let text = String::from_utf8(graphite.encode(&interval()).concat()).expect("text");
        let names: Vec<&str> = text
            .lines()
            .filter_map(|line| line.strip_prefix("jmeter.Home-page_v1."))
            .map(|line| line.strip_suffix(" 1795383300").expect("the second"))
            .collect();
        assert_eq!(
            names,
            [
                "ok.count 1",
                "ko.count 1",
                "a.count 2",
                "h.count 2",
                "sb.bytes 14",
                "rb.bytes 10",
                "ok.min 4.0",
                "ok.max 4.0",
                "ok.avg 4.0",
                "ok.pct90 4.0",
                "ok.pct95_5 4.0",
                "ko.min 8.0",
                "ko.max 8.0",
                "ko.avg 8.0",
                "ko.pct90 8.0",
                "ko.pct95_5 8.0",
                "a.min 4.0",
                "a.max 8.0",
                "a.avg 6.0",
                "a.pct90 8.0",
                "a.pct95_5 8.0",
            ]
        );
        assert!(
            text.contains("jmeter.test.meanAT 1 1795383300\n")
                && text.contains("jmeter.all.a.count 2 ")
        );
    }

    #[test]
    fn two_sends_in_one_second_keep_seconds_of_their_own() {
        let mut graphite = Graphite::new("jmeter.".to_owned());
        let mut counts = || {
            let text = String::from_utf8(graphite.encode(&interval()).concat()).expect("text");
            let line = text.lines().find(|line| line.contains(".all.a.count"));
            line.expect("a total").to_owned()
        };
        assert_eq!(counts(), "jmeter.all.a.count 2 1795383300");
        assert_eq!(counts(), "jmeter.all.a.count 2 1795383301");
    }

    // Recorded from JMeter 5.6.3.
    #[test]
    fn a_pickle_is_a_list_behind_its_length() {
        let message = pickle(
            &[("jmeter.test.minAT".to_owned(), "0".to_owned())],
            1_795_383_299,
        );
        let list = b"(l(S'jmeter.test.minAT'\n(L1795383299L\nS'0'\ntta.";
        assert_eq!(message[..4], (list.len() as u32).to_be_bytes());
        assert_eq!(&message[4..], list);
    }
}
