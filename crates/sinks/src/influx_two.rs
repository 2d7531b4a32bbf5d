//! `InfluxDatabaseBackendListenerClient` of jmeter-influxdb2-listener-plugin: a point of `requestsRaw` for each sample, the users
//! each second, and the start and end of the test.
//!
//! Points have the form of influxdb-client-java: tags and fields sorted by name, integers with the suffix `i`. All times are in
//! nanoseconds. The body of a failed response is a tag, as in the plugin, although InfluxDB indexes tags.

use std::fmt::Write as _;
use std::time::Duration;

use drumfire_results::{HeardDetail, HeardSample, SampleQueue};

use crate::encoder::{Encoder, Interval};
use crate::windows::LastValues;

/// The plugin's placeholder for missing values.
const NO_DATA: &str = "noData";
/// JMeter's `backend_metrics_window`: how many of the last samples the user counts come from.
const WINDOW: usize = 100;
const NS_PER_MS: i64 = 1_000_000;

/// Encodes the samples of one listener.
pub struct InfluxTwo {
    /// The samples of its scope, with details.
    pub samples: SampleQueue,
    /// The tag `testName`.
    pub test_name: String,
    /// The tag `runId`.
    pub run_id: String,
    /// The tag `nodeName`.
    pub node_name: String,
    /// Whether a label's samples are sent.
    pub wants: Box<dyn Fn(&str) -> bool + Send>,
    /// The time between two sends.
    pub flush: Duration,
    /// The most points of a batch.
    pub batch: usize,
    /// The most characters of a body.
    pub body_letters: usize,
    /// The queued points, and the state that later points need.
    pub sent: Sent,
}

/// Points that are still queued, and the state that later points need.
#[derive(Debug, Default)]
pub struct Sent {
    waiting: Vec<String>,
    /// When the last batch was taken, in milliseconds since the Unix epoch.
    at_ms: i64,
    users: LastValues,
    /// Counts the points. It gives each point a distinct nanosecond, because InfluxDB would merge points with equal times.
    points: i64,
}

impl Encoder for InfluxTwo {
    fn interval(&self) -> Duration {
        Duration::from_secs(1)
    }

    fn start(&mut self, at_ms: i64) -> Vec<Vec<u8>> {
        self.sent.at_ms = at_ms;
        let line = self.start_or_end("started", at_ms);
        self.sent.waiting.push(line);
        Vec::new()
    }

    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>> {
        for sample in self.samples.take() {
            self.sent.users.add(f64::from(sample.active_users), WINDOW);
            if (self.wants)(&sample.label) {
                let line = self.request(&sample);
                self.sent.waiting.push(line);
            }
        }
        let line = self.users(interval);
        self.sent.waiting.push(line);
        if interval.is_last {
            let line = self.start_or_end("finished", interval.at_ms);
            self.sent.waiting.push(line);
        }
        let waited = interval.at_ms.saturating_sub(self.sent.at_ms);
        let is_due = waited >= i64::try_from(self.flush.as_millis()).unwrap_or(i64::MAX);
        if !is_due && !interval.is_last && self.sent.waiting.len() < self.batch {
            return Vec::new();
        }
        self.sent.at_ms = interval.at_ms;
        let lines = std::mem::take(&mut self.sent.waiting);
        let batches = lines.chunks(self.batch.max(1));
        batches.map(|batch| batch.concat().into_bytes()).collect()
    }
}

impl InfluxTwo {
    fn request(&mut self, sample: &HeardSample) -> String {
        let default = HeardDetail::default();
        let detail = sample.detail.as_deref().unwrap_or(&default);
        let body = detail.failed_body.as_deref().map(|body| {
            let body = body.replace(['\n', '\r'], "");
            let letters = body.trim().chars().take(self.body_letters);
            letters.collect::<String>()
        });
        let kind = if detail.is_http {
            "request"
        } else {
            "transaction"
        };
        let tags = [
            (
                "errorMessage",
                detail.assertion_message.as_deref().unwrap_or(NO_DATA),
            ),
            ("errorResponseBody", body.as_deref().unwrap_or(NO_DATA)),
            ("nodeName", &self.node_name),
            ("requestName", &sample.label),
            ("responseCode", &detail.code),
            ("result", if sample.success { "pass" } else { "fail" }),
            ("runId", &self.run_id),
            ("samplerType", kind),
            ("testName", &self.test_name),
        ];
        let fields = [
            ("connectTime", sample.connect_ms),
            ("count", i64::from(detail.count)),
            ("errorCount", i64::from(!sample.success)),
            ("latency", sample.latency_ms),
            ("processingTime", sample.latency_ms - sample.connect_ms),
            ("receivedBytes", integer(detail.received_bytes)),
            ("responseTime", sample.elapsed_ms),
            ("sentBytes", integer(detail.sent_bytes)),
        ];
        self.sent.points += 1;
        let at_ns = sample.at_ms * NS_PER_MS + self.sent.points % NS_PER_MS;
        point("requestsRaw", &tags, &integers(&fields), at_ns)
    }

    /// The users that the last samples recorded; zero at the end.
    fn users(&self, interval: &Interval) -> String {
        let last = &self.sent.users;
        let seen = |value: f64| if interval.is_last { 0 } else { value as i64 };
        let integer = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        let started = if interval.is_last {
            0
        } else {
            integer(interval.users.started)
        };
        let fields = [
            ("finishedThreads", integer(interval.users.ended)),
            ("maxActiveThreads", seen(last.max())),
            ("meanActiveThreads", seen(last.mean())),
            ("minActiveThreads", seen(last.min())),
            ("startedThreads", started),
        ];
        let at_ns = interval.at_ms * NS_PER_MS;
        point("virtualUsers", &self.run_tags(), &integers(&fields), at_ns)
    }

    fn start_or_end(&self, kind: &str, at_ms: i64) -> String {
        let [node, run, test] = self.run_tags();
        let tags = [node, run, test, ("type", kind)];
        point(
            "testStartEnd",
            &tags,
            "placeholder=\"1\"",
            at_ms * NS_PER_MS,
        )
    }

    fn run_tags(&self) -> [(&'static str, &str); 3] {
        [
            ("nodeName", &self.node_name),
            ("runId", &self.run_id),
            ("testName", &self.test_name),
        ]
    }
}

fn integer(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

/// Formats a line. Tags without a value are left out, because InfluxDB rejects them.
fn point(measurement: &str, tags: &[(&str, &str)], fields: &str, at_ns: i64) -> String {
    let mut line = measurement.to_owned();
    for (name, value) in tags.iter().filter(|(_, value)| !value.is_empty()) {
        let _ = write!(line, ",{name}={}", escaped(value));
    }
    let _ = writeln!(line, " {fields} {at_ns}");
    line
}

fn integers(fields: &[(&str, i64)]) -> String {
    let fields = fields
        .iter()
        .map(|(name, value)| format!("{name}={value}i"));
    fields.collect::<Vec<_>>().join(",")
}

/// The value of a tag (`Point#escapeKey` of influxdb-client-java).
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            ' ' | ',' | '=' => escaped.extend(['\\', letter]),
            _ => escaped.push(letter),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::Users;

    fn listener() -> InfluxTwo {
        InfluxTwo {
            samples: SampleQueue::new(9),
            test_name: "My test".to_owned(),
            run_id: "R001".to_owned(),
            node_name: "n".to_owned(),
            wants: Box::new(|label| label != "not this"),
            flush: Duration::from_secs(4),
            batch: 2000,
            body_letters: 4,
            sent: Sent::default(),
        }
    }

    fn sample(label: &str) -> HeardSample {
        HeardSample {
            label: label.to_owned(),
            thread_name: "TG 1-1".to_owned(),
            success: false,
            elapsed_ms: 28,
            latency_ms: 20,
            connect_ms: 5,
            at_ms: 1_795_383_300_457,
            active_users: 3,
            detail: Some(Box::new(HeardDetail {
                code: "500".to_owned(),
                is_http: true,
                count: 1,
                received_bytes: 70,
                sent_bytes: 12,
                assertion_message: None,
                failed_body: Some("a\nb c=d".to_owned()),
            })),
        }
    }

    #[test]
    fn points_wait_for_the_flush_and_are_the_plugins() {
        let mut listener = listener();
        assert!(listener.start(1_795_383_300_000).is_empty());
        listener.samples.push(sample("bad, one"));
        listener.samples.push(sample("not this"));
        let mut interval = Interval {
            at_ms: 1_795_383_301_000,
            users: Users {
                active: 3,
                started: 3,
                ended: 0,
            },
            ..Interval::default()
        };
        assert!(listener.encode(&interval).is_empty());
        (interval.at_ms, interval.is_last, interval.users.ended) = (1_795_383_302_000, true, 3);
        let batches = listener.encode(&interval);
        let text = String::from_utf8(batches.concat()).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        let run = "nodeName=n,runId=R001,testName=My\\ test";
        assert_eq!(
            lines,
            [
                format!("testStartEnd,{run},type=started placeholder=\"1\" 1795383300000000000"),
                "requestsRaw,errorMessage=noData,errorResponseBody=ab\\ c,nodeName=n,requestName=bad\\,\\ one,responseCode=500,result=fail,runId=R001,samplerType=request,testName=My\\ test connectTime=5i,count=1i,errorCount=1i,latency=20i,processingTime=15i,receivedBytes=70i,responseTime=28i,sentBytes=12i 1795383300457000001".to_owned(),
                format!("virtualUsers,{run} finishedThreads=0i,maxActiveThreads=3i,meanActiveThreads=3i,minActiveThreads=3i,startedThreads=3i 1795383301000000000"),
                format!("virtualUsers,{run} finishedThreads=3i,maxActiveThreads=0i,meanActiveThreads=0i,minActiveThreads=0i,startedThreads=0i 1795383302000000000"),
                format!("testStartEnd,{run},type=finished placeholder=\"1\" 1795383302000000000"),
            ]
        );
    }
}
