//! InfluxDB's line protocol, as JMeter's two clients write it (`InfluxdbBackendListenerClient`, `InfluxDBRawBackendListenerClient`).
//!
//! Dashboards rely on some oddities of JMeter, which are reproduced: the tag `statut`, integers without the suffix `i`, times of
//! successful samples only in the line of all transactions, and the totals repeated in the lines of `all`, `ok` and `ko`.

use std::fmt::Write as _;
use std::time::Duration;

use drumfire_java::values::{double_to_string, float_to_string};
use drumfire_results::LabelIncrement;

use crate::encoder::{Encoder, Interval};
use crate::numbers::{Times, TimesByResult, active_users, by_label};
use crate::windows::Windows;

/// The title of JMeter's events.
const EVENT_TITLE: &str = "ApacheJMeter";

/// Encodes as `InfluxdbBackendListenerClient` does, with its settings.
pub struct Influx {
    /// The time between two sends.
    pub interval: Duration,
    /// The measurement.
    pub measurement: String,
    /// The tag `application`.
    pub application: String,
    /// The title of the test, for the events at its start and end.
    pub test_title: String,
    /// The value of the tag `tags` of events; empty to omit the tag.
    pub event_tags: String,
    /// Further tags, in their order.
    pub tags: Vec<(String, String)>,
    /// Percentiles, from 0 to 100.
    pub percentiles: Vec<f32>,
    /// Whether only totals are sent.
    pub summary_only: bool,
    /// Whether a label is also sent on its own.
    pub wants: Box<dyn Fn(&str) -> bool + Send>,
    /// The last samples, if the times come from them instead of from the interval.
    pub windows: Option<Windows>,
}

impl Encoder for Influx {
    fn interval(&self) -> Duration {
        self.interval
    }

    fn start(&mut self, at_ms: i64) -> Vec<Vec<u8>> {
        let mut lines = self.event("started", at_ms);
        self.users_line(
            &mut lines,
            &Interval {
                at_ms,
                ..Interval::default()
            },
        );
        vec![lines.into_bytes()]
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        if let Some(windows) = &mut self.windows {
            windows.catch_up();
        }
        let mut lines = String::new();
        for (at_ms, text) in &interval.marks {
            lines.push_str(&self.event(text, *at_ms));
        }
        if interval.is_last {
            lines.push_str(&self.event("ended", interval.at_ms));
        }
        let labels = &interval.increment.labels;
        if labels.iter().any(|label| label.count > 0) {
            self.totals_line(&mut lines, interval);
        }
        if !self.summary_only {
            for label in by_label(labels)
                .iter()
                .filter(|label| label.count > 0 && (self.wants)(&label.label))
            {
                self.label_lines(&mut lines, label, interval);
            }
            self.error_lines(&mut lines, interval);
        }
        self.users_line(&mut lines, interval);
        vec![lines.into_bytes()]
    }
}

impl Influx {
    /// JMeter's defaults, for `--out influxdb=URL`.
    pub fn new(application: String, tags: Vec<(String, String)>) -> Influx {
        Influx {
            interval: Duration::from_secs(5),
            measurement: "jmeter".to_owned(),
            application,
            test_title: "Test".to_owned(),
            event_tags: String::new(),
            tags,
            percentiles: vec![99.0, 95.0, 90.0],
            summary_only: false,
            wants: Box::new(|_| true),
            windows: None,
        }
    }

    /// The line of an annotation, such as the start of the test.
    fn event(&self, what: &str, at_ms: i64) -> String {
        let mut line = format!(
            "events,application={},title={EVENT_TITLE}",
            tag(&self.application)
        );
        self.add_tags(&mut line);
        if !self.event_tags.is_empty() {
            let _ = write!(line, ",tags={}", tag(&self.event_tags));
        }
        let text = field(&format!("{} {what}", self.test_title));
        let _ = writeln!(line, " text=\"{text}\" {at_ms}000000");
        line
    }

    /// Writes `measurement,application=…,transaction=…`, then `rest`, then the user's tags.
    fn head(&self, lines: &mut String, transaction: &str, rest: &str) {
        let (measurement, application) = (tag(&self.measurement), tag(&self.application));
        let _ = write!(
            lines,
            "{measurement},application={application},transaction={}{rest}",
            tag(transaction)
        );
        self.add_tags(lines);
        lines.push(' ');
    }

    fn add_tags(&self, line: &mut String) {
        for (name, value) in &self.tags {
            let _ = write!(line, ",{}={}", tag(name), tag(value));
        }
    }

    /// Writes the line of all transactions: counts of all samples, extremes and mean of the successful ones, percentiles of all.
    fn totals_line(&self, lines: &mut String, interval: &Interval) {
        let labels = || interval.increment.labels.iter();
        let counted = || labels().filter(|label| !label.transaction);
        let every: Vec<&LabelIncrement> = labels().collect();
        let times = TimesByResult::choose(self.windows.as_ref(), None, &every);
        self.head(lines, "all", ",statut=all");
        let sum = |part: fn(&LabelIncrement) -> u64| labels().map(part).sum::<u64>();
        let _ = write!(lines, "count={}", sum(|label| label.count));
        let failed = sum(|label| label.errors);
        if failed > 0 {
            let _ = write!(lines, ",countError={failed}");
        }
        if times.ok.count() > 0 {
            add_times(lines, &times.ok);
        }
        // A transaction that is not a sampler's parent only counts itself (`SamplerMetric.addCumulated`).
        let hits: u64 = counted().map(|label| label.hits).sum();
        let sent: u64 = counted().map(|label| label.sent_bytes).sum();
        let received: u64 = counted().map(|label| label.bytes).sum();
        let _ = write!(lines, ",hit={hits},sb={sent},rb={received}");
        self.add_percentiles(lines, &times.all);
        end(lines, interval.at_ms);
    }

    fn label_lines(&self, lines: &mut String, label: &LabelIncrement, interval: &Interval) {
        let times = TimesByResult::choose(self.windows.as_ref(), Some(&label.label), &[label]);
        let passed = label.count - label.errors.min(label.count);
        let states = [
            ("all", label.count, times.all),
            ("ok", passed, times.ok),
            ("ko", label.errors, times.failed),
        ];
        for (state, count, times) in states {
            if count == 0 {
                continue;
            }
            self.head(lines, &label.label, &format!(",statut={state}"));
            let _ = write!(lines, "count={count}");
            add_times(lines, &times);
            let _ = write!(
                lines,
                ",hit={},sb={},rb={}",
                label.hits, label.sent_bytes, label.bytes
            );
            self.add_percentiles(lines, &times);
            end(lines, interval.at_ms);
        }
    }

    /// Writes errors by code and message. A failure may arrive an interval after its sample, so a label can have errors without
    /// samples.
    fn error_lines(&self, lines: &mut String, interval: &Interval) {
        let errors = interval.increment.errors.iter();
        for error in errors.filter(|error| (self.wants)(&error.label)) {
            let code = or(&error.code, "0");
            let message = or(&error.message, "None");
            let tags = format!(
                ",responseCode={},responseMessage={}",
                tag(code),
                tag(message)
            );
            self.head(lines, &error.label, &tags);
            let _ = write!(lines, "count={}", error.count);
            end(lines, interval.at_ms);
        }
    }

    /// Writes the active users, as the samples recorded them.
    fn users_line(&self, lines: &mut String, interval: &Interval) {
        let [min, max, mean] = active_users(self.windows.as_ref(), interval);
        self.head(lines, "internal", "");
        let (started, ended) = (interval.users.started, interval.users.ended);
        let _ = write!(
            lines,
            "minAT={min},maxAT={max},meanAT={mean},startedT={started},endedT={ended}"
        );
        end(lines, interval.at_ms);
    }

    fn add_percentiles(&self, lines: &mut String, times: &Times) {
        for &percent in &self.percentiles {
            let value = double_to_string(times.percentile_ms(f64::from(percent)));
            let _ = write!(lines, ",pct{}={value}", float_to_string(percent));
        }
    }
}

fn add_times(lines: &mut String, times: &Times) {
    let (mean, min, max) = (times.mean_ms(), times.min_ms(), times.max_ms());
    let _ = write!(
        lines,
        ",avg={},min={},max={}",
        double_to_string(mean),
        double_to_string(min),
        double_to_string(max)
    );
}

fn end(lines: &mut String, at_ms: i64) {
    let _ = writeln!(lines, " {at_ms}000000");
}

fn or<'a>(text: &'a str, default: &'a str) -> &'a str {
    if text.trim().is_empty() {
        default
    } else {
        text.trim()
    }
}

/// `AbstractInfluxdbMetricsSender.tagToStringValue`: a tag's name or value.
pub(crate) fn tag(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        match letter {
            ' ' | ',' | '=' => escaped.extend(['\\', letter]),
            '\n' => escaped.push_str("\\n"),
            _ => escaped.push(letter),
        }
    }
    escaped
}

/// `AbstractInfluxdbMetricsSender.fieldToStringValue`: the text of a string field.
fn field(text: &str) -> String {
    text.trim().replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Users;
    use drumfire_results::{Distribution, ErrorKind, Increment};

    fn listener() -> Influx {
        Influx {
            measurement: "jm eter".to_owned(),
            test_title: "My \"T\", x=1".to_owned(),
            event_tags: "a b,c".to_owned(),
            percentiles: vec![99.0, 95.5, 90.0],
            ..Influx::new(
                "my app".to_owned(),
                vec![("env".to_owned(), "pr od,x".to_owned())],
            )
        }
    }

    fn times(ms: &[u64]) -> Distribution {
        let mut times = Distribution::default();
        ms.iter().for_each(|ms| times.record(ms * 1000));
        times
    }

    fn lines(batches: Vec<Vec<u8>>) -> Vec<String> {
        let text: String = batches
            .into_iter()
            .map(|batch| String::from_utf8(batch).expect("text"))
            .collect();
        text.lines().map(str::to_owned).collect()
    }

    // Recorded from JMeter 5.6.3.
    #[test]
    fn the_start_is_an_event_and_a_line_of_users() {
        assert_eq!(
            lines(listener().start(1_795_383_298_912)),
            [
                r#"events,application=my\ app,title=ApacheJMeter,env=pr\ od\,x,tags=a\ b\,c text="My \"T\", x=1 started" 1795383298912000000"#,
                r"jm\ eter,application=my\ app,transaction=internal,env=pr\ od\,x minAT=0,maxAT=0,meanAT=0,startedT=0,endedT=0 1795383298912000000",
            ]
        );
    }

    fn failing() -> Interval {
        let label = "bad, one=x".to_owned();
        let mut failing = LabelIncrement::new(label.clone(), false);
        (failing.count, failing.errors, failing.hits) = (3, 3, 3);
        (failing.sent_bytes, failing.bytes) = (21, 15);
        failing.failed = times(&[1, 5, 28]);
        let error = ErrorKind {
            label,
            code: "500".to_owned(),
            message: "Msg a,b=c\nline".to_owned(),
            count: 3,
            ..ErrorKind::default()
        };
        Interval {
            at_ms: 1_795_383_303_916,
            increment: Increment {
                labels: vec![failing],
                errors: vec![error],
                ..Increment::default()
            },
            users: Users {
                active: 1,
                started: 1,
                ended: 0,
            },
            ..Interval::default()
        }
    }

    // Recorded from JMeter 5.6.3.
    #[test]
    fn a_failing_label_has_lines_of_all_of_ko_and_of_each_error() {
        let all = lines(listener().encode(&failing()));
        let rest = "count=3,avg=11.333333333333334,min=1.0,max=28.0,hit=3,sb=21,rb=15,pct99.0=28.0,pct95.5=28.0,pct90.0=28.0 1795383303916000000";
        let head = r"jm\ eter,application=my\ app,transaction=bad\,\ one\=x";
        assert_eq!(all[1], format!(r"{head},statut=all,env=pr\ od\,x {rest}"));
        assert_eq!(all[2], format!(r"{head},statut=ko,env=pr\ od\,x {rest}"));
        assert_eq!(
            all[3],
            format!(
                r"{head},responseCode=500,responseMessage=Msg\ a\,b\=c\nline,env=pr\ od\,x count=3 1795383303916000000"
            )
        );
        assert!(all[4].contains("transaction=internal"), "{all:?}");
        assert_eq!(all.len(), 5);
    }

    #[test]
    fn the_totals_leave_out_hits_and_bytes_of_transactions_and_times_of_failures() {
        let mut interval = failing();
        let mut transaction = LabelIncrement::new("TY".to_owned(), true);
        (transaction.count, transaction.hits, transaction.bytes) = (3, 3, 15);
        transaction.ok = times(&[304, 305, 308]);
        interval.increment.labels.push(transaction);
        let totals = &lines(listener().encode(&interval))[0];
        assert!(
            totals.contains(",statut=all,env=pr\\ od\\,x count=6,countError=3,avg=305.66"),
            "{totals}"
        );
        assert!(
            totals.contains("min=304.0,max=308.0,hit=3,sb=21,rb=15,pct99.0=308.0"),
            "{totals}"
        );
    }
}
