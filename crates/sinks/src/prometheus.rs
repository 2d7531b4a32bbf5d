//! Prometheus's text format and OpenMetrics: totals since the start of the run.

use std::fmt::Write as _;

use crate::cumulative::{Cumulative, LabelTotals};
use crate::encoder::RunInfo;

/// Upper bounds of the buckets of response times, in seconds: Prometheus's defaults, and some for slow
/// pages.
const BOUNDS: [f64; 14] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0,
];

/// Formats the text for a scrape.
pub struct Prometheus {
    /// The run, whose id is the label `run` of every metric, and the user's tags.
    pub run: RunInfo,
}

impl Prometheus {
    /// All metrics. OpenMetrics differs in the name of a counter's family and in its last line.
    pub fn text(
        &self,
        totals: &Cumulative,
        dropped: &[(String, u64)],
        agents: &[AgentMetrics],
        is_open_metrics: bool,
    ) -> String {
        let mut text = ExpositionText {
            out: String::new(),
            common: self.common(),
            is_open_metrics,
        };
        text.samples(totals);
        text.family("drumfire_users", "gauge", "Users that run.");
        text.value("drumfire_users", &[], totals.users.active);
        // During the run there is no verdict, and a 0 would say VALID.
        if let Some(verdict) = totals.verdict {
            text.family(
                "drumfire_verdict",
                "gauge",
                "The run's verdict on itself: 0 VALID, 1 DEGRADED, 2 INVALID.",
            );
            text.value("drumfire_verdict", &[], verdict);
        }
        text.family(
            "drumfire_dropped",
            "counter",
            "Batches that a sink did not take.",
        );
        for (sink, count) in dropped {
            text.counter("drumfire_dropped", &[("sink", sink)], *count);
        }
        if !agents.is_empty() {
            text.agents(agents);
        }
        text.end()
    }

    /// The labels that every metric has, each followed by a comma.
    fn common(&self) -> String {
        let mut common = format!("run=\"{}\",", escaped(&self.run.id));
        for (name, value) in &self.run.tags {
            let _ = write!(common, "{}=\"{}\",", label_name(name), escaped(value));
        }
        common
    }
}

/// An agent of a run on several machines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentMetrics {
    /// Its name.
    pub name: String,
    /// Its state in one word.
    pub state: String,
    /// Users that run there.
    pub users: u64,
    /// Its samples so far.
    pub samples: u64,
    /// Messages with results that it has not delivered yet, if that is known.
    pub undelivered: Option<u64>,
}

/// The text of `/metrics` of an agent.
pub fn agent_text(agent: &AgentMetrics, is_open_metrics: bool) -> String {
    let mut text = ExpositionText {
        out: String::new(),
        common: String::new(),
        is_open_metrics,
    };
    text.agents(std::slice::from_ref(agent));
    text.end()
}

struct ExpositionText {
    out: String,
    common: String,
    is_open_metrics: bool,
}

impl ExpositionText {
    fn end(mut self) -> String {
        if self.is_open_metrics {
            self.out.push_str("# EOF\n");
        }
        self.out
    }

    /// Writes the families of agents.
    fn agents(&mut self, agents: &[AgentMetrics]) {
        self.family(
            "drumfire_agent_state",
            "gauge",
            "1 for the state that the agent is in.",
        );
        for agent in agents {
            let labels = [("agent", agent.name.as_str()), ("state", &agent.state)];
            self.value("drumfire_agent_state", &labels, 1);
        }
        self.family(
            "drumfire_agent_users",
            "gauge",
            "Users that run on the agent.",
        );
        for agent in agents {
            self.value(
                "drumfire_agent_users",
                &[("agent", &agent.name)],
                agent.users,
            );
        }
        self.family(
            "drumfire_agent_samples",
            "counter",
            "Samples of the agent in its run.",
        );
        for agent in agents {
            self.counter(
                "drumfire_agent_samples",
                &[("agent", &agent.name)],
                agent.samples,
            );
        }
        let known: Vec<_> = agents
            .iter()
            .filter_map(|agent| Some((&agent.name, agent.undelivered?)))
            .collect();
        if !known.is_empty() {
            let help = "Messages with results that the agent has not delivered yet.";
            self.family("drumfire_agent_undelivered", "gauge", help);
        }
        for (name, undelivered) in known {
            self.value(
                "drumfire_agent_undelivered",
                &[("agent", name)],
                undelivered,
            );
        }
    }

    /// Writes the families of samples: counts, response times, sizes and errors.
    fn samples(&mut self, totals: &Cumulative) {
        self.family("drumfire_samples", "counter", "Samples.");
        for ((label, _), values) in &totals.labels {
            for (result, count) in [("ok", values.ok), ("failed", values.failed)] {
                let labels = [("label", label.as_str()), ("result", result)];
                self.counter("drumfire_samples", &labels, count);
            }
        }
        let times = "drumfire_response_time_seconds";
        self.family(times, "histogram", "Elapsed times of samples.");
        for ((label, _), values) in &totals.labels {
            self.histogram(times, label, values);
        }
        let own = "Parts of the elapsed times that passed in the generator.";
        self.by_label(
            "drumfire_own_seconds",
            own,
            totals,
            LabelTotals::own_seconds,
        );
        self.by_label("drumfire_received_bytes", "Bytes received.", totals, |of| {
            of.received
        });
        self.by_label("drumfire_sent_bytes", "Bytes sent.", totals, |of| of.sent);
        let help = "Failed samples by response code.";
        self.family("drumfire_errors", "counter", help);
        for ((label, code), count) in &totals.errors {
            let labels = [("label", label.as_str()), ("code", code)];
            self.counter("drumfire_errors", &labels, *count);
        }
    }

    fn by_label<V: std::fmt::Display>(
        &mut self,
        name: &str,
        help: &str,
        totals: &Cumulative,
        value: fn(&LabelTotals) -> V,
    ) {
        self.family(name, "counter", help);
        for ((label, _), values) in &totals.labels {
            self.counter(name, &[("label", label)], value(values));
        }
    }

    fn family(&mut self, name: &str, kind: &str, help: &str) {
        let total = if kind == "counter" && !self.is_open_metrics {
            "_total"
        } else {
            ""
        };
        let _ = writeln!(
            self.out,
            "# HELP {name}{total} {help}\n# TYPE {name}{total} {kind}"
        );
    }

    fn counter(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        self.value(&format!("{name}_total"), labels, value);
    }

    fn value(&mut self, name: &str, labels: &[(&str, &str)], value: impl std::fmt::Display) {
        let _ = write!(self.out, "{name}{{{}", self.common);
        for (name, value) in labels {
            let _ = write!(self.out, "{name}=\"{}\",", escaped(value));
        }
        // Neither format allows a comma after the last label.
        self.out.pop();
        let _ = writeln!(self.out, "}} {value}");
    }

    fn histogram(&mut self, name: &str, label: &str, values: &LabelTotals) {
        let bucket = format!("{name}_bucket");
        for bound in BOUNDS {
            let count = values.elapsed.count_up_to((bound * 1e6) as u64);
            self.value(
                &bucket,
                &[("label", label), ("le", &bound.to_string())],
                count,
            );
        }
        self.value(
            &bucket,
            &[("label", label), ("le", "+Inf")],
            values.elapsed.count(),
        );
        self.value(
            &format!("{name}_sum"),
            &[("label", label)],
            values.elapsed_sum as f64 / 1e6,
        );
        self.value(
            &format!("{name}_count"),
            &[("label", label)],
            values.elapsed.count(),
        );
    }
}

/// Escapes a label's value for quotes.
fn escaped(value: &str) -> String {
    value
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

/// A valid name for Prometheus: letters, digits and `_`, not starting with a digit.
pub fn label_name(name: &str) -> String {
    let mut valid: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if valid.starts_with(|c: char| c.is_ascii_digit()) || valid.is_empty() {
        valid.insert(0, '_');
    }
    valid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::{Interval, Users};
    use drumfire_results::{Increment, LabelIncrement};

    fn totals() -> Cumulative {
        let mut label = LabelIncrement::new("a \"b\"".to_owned(), false);
        (label.count, label.errors, label.bytes) = (3, 1, 30);
        for us in [4_000, 20_000] {
            label.ok.record(us);
        }
        label.failed.record(40_000_000);
        for us in [1_000, 5_000] {
            label.own.record(us);
        }
        let mut totals = Cumulative::default();
        totals.add(&Interval {
            increment: Increment {
                labels: vec![label],
                ..Increment::default()
            },
            users: Users {
                active: 2,
                started: 2,
                ended: 0,
            },
            verdict: Some(1),
            ..Interval::default()
        });
        totals
    }

    #[test]
    fn a_scrape_has_every_metric_with_the_run_and_the_tags() {
        let tags = vec![("team-x".to_owned(), "shop".to_owned())];
        let prometheus = Prometheus {
            run: RunInfo {
                id: "r1".to_owned(),
                tags,
            },
        };
        let text = prometheus.text(&totals(), &[("influxdb".to_owned(), 4)], &[], false);
        let label = r#"run="r1",team_x="shop",label="a \"b\"""#;
        for line in [
            format!("drumfire_samples_total{{{label},result=\"ok\"}} 2"),
            format!("drumfire_samples_total{{{label},result=\"failed\"}} 1"),
            format!("drumfire_response_time_seconds_bucket{{{label},le=\"0.005\"}} 1"),
            format!("drumfire_response_time_seconds_bucket{{{label},le=\"30\"}} 2"),
            format!("drumfire_response_time_seconds_bucket{{{label},le=\"+Inf\"}} 3"),
            format!("drumfire_response_time_seconds_sum{{{label}}} 40.024"),
            format!("drumfire_own_seconds_total{{{label}}} 0.006"),
            format!("drumfire_received_bytes_total{{{label}}} 30"),
            r#"drumfire_users{run="r1",team_x="shop"} 2"#.to_owned(),
            r#"drumfire_verdict{run="r1",team_x="shop"} 1"#.to_owned(),
            r#"drumfire_dropped_total{run="r1",team_x="shop",sink="influxdb"} 4"#.to_owned(),
        ] {
            assert!(text.lines().any(|has| has == line), "{line}\n{text}");
        }
    }

    #[test]
    fn openmetrics_names_counters_without_total_and_ends_itself() {
        let text = Prometheus {
            run: RunInfo::default(),
        }
        .text(&totals(), &[], &[], true);
        let running = Cumulative {
            verdict: None,
            ..totals()
        };
        let running = Prometheus {
            run: RunInfo::default(),
        }
        .text(&running, &[], &[], true);
        assert!(!running.contains("drumfire_verdict"), "{running}");
        assert!(
            text.contains("# TYPE drumfire_samples counter\n") && text.ends_with("# EOF\n"),
            "{text}"
        );
    }
}
