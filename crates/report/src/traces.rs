//! The findings of tracing: where the time of the slowest samples went, what servers named, and the slowest traces with links.

use std::str::FromStr;

use drumfire_platform::message_error;
use drumfire_platform::words::{count, ms};
use drumfire_results::{LabelStatistics, LabelTrace, Recording, TailSplit};
use serde::Serialize;

/// The share of samples whose time is split, in per cent.
const SLOWEST_PERCENT: f64 = 1.0;
/// The most samples that are listed.
const MOST_SLOW: usize = 20;
/// The place of the trace's id in a link.
const ID: &str = "{trace_id}";

message_error! {
    /// A text that is not a template of links.
    pub struct TraceLinkError;
}

/// An address in which `{trace_id}`, `{start_ms}` and `{end_ms}` are replaced by those of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceLink(String);

impl FromStr for TraceLink {
    type Err = TraceLinkError;

    fn from_str(text: &str) -> Result<TraceLink, TraceLinkError> {
        let is_address = text.starts_with("https://") || text.starts_with("http://");
        if is_address && text.contains(ID) && !text.contains(char::is_control) {
            return Ok(TraceLink(text.to_owned()));
        }
        let message = format!(
            "`{text}` does not lead to a trace: write an address with {ID}, such as https://jaeger.example/trace/{ID}"
        );
        Err(message.into())
    }
}

impl TraceLink {
    /// The template as the user wrote it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn of(&self, trace_id: &str, start_ms: i64, end_ms: i64) -> String {
        let text = self
            .0
            .replace(ID, trace_id)
            .replace("{start_ms}", &start_ms.to_string());
        text.replace("{end_ms}", &end_ms.to_string())
    }
}

/// The traces of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traces {
    /// All samples.
    total: TracedLabel,
    /// The labels, in the order of the run.
    labels: Vec<TracedLabel>,
    /// The slowest samples whose traces servers were asked to record, the slowest first.
    slowest: Vec<SlowTrace>,
}

/// The traced samples of a label.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct TracedLabel {
    label: String,
    slowest_percent: SlowestPercent,
    /// The metrics that servers named in `Server-Timing`, the largest mean first.
    server_timing: Vec<ServerTime>,
}

/// Where the time of the slowest 1 % went. The parts are means that add up to the mean elapsed time.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct SlowestPercent {
    samples: u64,
    of: u64,
    elapsed_ms: f64,
    parts: Parts,
}

/// The parts of an elapsed time in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct Parts {
    generator_ms: f64,
    connect_ms: f64,
    tls_ms: f64,
    /// The time that servers named as their own; `None` if no server did. Then it is in `wait_ms`.
    server_ms: Option<f64>,
    wait_ms: f64,
    transfer_ms: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ServerTime {
    name: String,
    samples: u64,
    mean_ms: f64,
    max_ms: f64,
}

/// A slow sample with its trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
struct SlowTrace {
    label: String,
    trace_id: String,
    link: Option<String>,
    start_ms: i64,
    elapsed_ms: f64,
    code: String,
    parts: Parts,
    /// Names and milliseconds.
    server_timing: Vec<(String, f64)>,
}

impl Traces {
    /// The traces of a run, with links if there is a template; `None` if nothing was traced.
    pub fn of(recording: &Recording, link: Option<&TraceLink>) -> Option<Traces> {
        let total = TracedLabel::of(&recording.total())?;
        let labels = recording.labels.iter();
        Some(Traces {
            total,
            labels: labels.filter_map(TracedLabel::of).collect(),
            slowest: slowest(recording, link),
        })
    }

    /// Where the time of the slowest samples went, in one sentence without its end; `None` if nothing was traced.
    pub fn sentence(recording: &Recording) -> Option<String> {
        let total = recording.total();
        let tail = total.trace?.tail(SLOWEST_PERCENT)?;
        let parts = Parts::of(tail.means_ms, tail.is_named).told();
        Some(format!(
            "the slowest {SLOWEST_PERCENT} % ({} of {} traced samples) took {} ms on average: {parts}",
            count(tail.samples),
            count(tail.of),
            ms(tail.mean_ms()),
        ))
    }
}

impl TracedLabel {
    fn of(label: &LabelStatistics) -> Option<TracedLabel> {
        let trace = label.trace.as_deref()?;
        Some(TracedLabel {
            label: label.label.clone(),
            slowest_percent: SlowestPercent::of(&trace.tail(SLOWEST_PERCENT)?),
            server_timing: server_times(trace),
        })
    }
}

impl SlowestPercent {
    fn of(tail: &TailSplit) -> SlowestPercent {
        SlowestPercent {
            samples: tail.samples,
            of: tail.of,
            elapsed_ms: tail.mean_ms(),
            parts: Parts::of(tail.means_ms, tail.is_named),
        }
    }
}

impl Parts {
    /// The parts in the order of `TimeParts`.
    fn of(parts_ms: [f64; 6], is_named: bool) -> Parts {
        let [
            generator_ms,
            connect_ms,
            tls_ms,
            server_ms,
            wait_ms,
            transfer_ms,
        ] = parts_ms;
        Parts {
            generator_ms,
            connect_ms,
            tls_ms,
            server_ms: is_named.then_some(server_ms),
            wait_ms,
            transfer_ms,
        }
    }

    /// The parts that took time, the largest first.
    fn told(&self) -> String {
        let wait = match self.server_ms {
            Some(_) => "network and queues",
            None => "network and server",
        };
        let mut parts = [
            (self.generator_ms, "generator"),
            (self.connect_ms, "connect"),
            (self.tls_ms, "TLS"),
            (self.server_ms.unwrap_or(0.0), "server"),
            (self.wait_ms, wait),
            (self.transfer_ms, "transfer"),
        ];
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        let named: Vec<String> = parts
            .iter()
            .filter(|(value, _)| ms(*value) != "0")
            .map(|(value, name)| format!("{name} {}", ms(*value)))
            .collect();
        named.join(", ")
    }
}

fn server_times(trace: &LabelTrace) -> Vec<ServerTime> {
    let mut times: Vec<ServerTime> = trace
        .metrics()
        .map(|metric| ServerTime {
            name: metric.name,
            samples: metric.count,
            mean_ms: metric.mean_ms,
            max_ms: metric.max_ms,
        })
        .collect();
    times.sort_by(|a, b| b.mean_ms.total_cmp(&a.mean_ms));
    times
}

fn slowest(recording: &Recording, link: Option<&TraceLink>) -> Vec<SlowTrace> {
    let traced = recording.labels.iter().filter_map(|label| {
        let trace = label.trace.as_deref()?;
        Some((&label.label, trace.slowest()))
    });
    let mut slowest: Vec<_> = traced
        .flat_map(|(label, slowest)| slowest.iter().map(move |slow| (label, slow)))
        .collect();
    slowest.sort_by_key(|(_, slow)| std::cmp::Reverse(slow.elapsed_us));
    let shown = slowest.into_iter().take(MOST_SLOW);
    shown
        .map(|(label, slow)| {
            let elapsed_ms = slow.elapsed_us as f64 / 1000.0;
            let trace_id = slow.trace_id.to_string();
            let end_ms = slow.start_ms.saturating_add(elapsed_ms.ceil() as i64);
            SlowTrace {
                label: label.clone(),
                link: link.map(|link| link.of(&trace_id, slow.start_ms, end_ms)),
                trace_id,
                start_ms: slow.start_ms,
                elapsed_ms,
                code: slow.code.clone(),
                parts: Parts::of(
                    <[u64; 6]>::from(slow.parts).map(|us| us as f64 / 1000.0),
                    slow.is_named,
                ),
                server_timing: (slow.metrics.iter())
                    .map(|(name, us)| (name.clone(), *us as f64 / 1000.0))
                    .collect(),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Sample, SampleTrace, TraceId, TraceLimits};

    use super::*;

    fn recording() -> Recording {
        let mut recording = Recording::default();
        for place in 1..=200u64 {
            let mut trace = SampleTrace::new(
                Some(TraceId(place.into())),
                place % 2 == 0,
                TraceLimits::DEFAULT,
            );
            trace.server_us = Some(place * 800);
            trace.add_metric("total", place * 800);
            recording.add(&Sample {
                service_us: place * 1_000,
                start_ms: 5_000,
                phases: [0, 0, 0, place * 900].into(),
                own_us: Some(10),
                trace: Some(Box::new(trace)),
                ..Sample::new("Home".into(), "t 1-1".into())
            });
        }
        recording
    }

    #[test]
    fn the_slowest_samples_are_listed_with_links() {
        let link: TraceLink = "https://t.example/{trace_id}?from={start_ms}&to={end_ms}"
            .parse()
            .expect("a template");
        let traces = Traces::of(&recording(), Some(&link)).expect("traces");
        assert_eq!(traces.slowest.len(), 10, "as many as a label keeps");
        let first = &traces.slowest[0];
        assert_eq!((first.label.as_str(), first.elapsed_ms), ("Home", 200.0));
        let id = "000000000000000000000000000000c8";
        assert_eq!(
            first.link.as_deref(),
            Some(&*format!("https://t.example/{id}?from=5000&to=5200"))
        );
        assert_eq!(first.parts.server_ms, Some(160.0));
        let split = &traces.total.slowest_percent;
        let parts = &split.parts;
        let sum = parts.generator_ms
            + parts.connect_ms
            + parts.tls_ms
            + parts.server_ms.unwrap_or(0.0)
            + parts.wait_ms
            + parts.transfer_ms;
        assert_eq!((split.samples, split.of), (2, 200));
        assert!((sum - split.elapsed_ms).abs() < 1e-9);
        assert_eq!(traces.labels[0].server_timing[0].name, "total");
    }

    #[test]
    fn one_sentence_tells_where_the_time_went() {
        let told = Traces::sentence(&recording()).expect("traces");
        let start = "the slowest 1 % (2 of 200 traced samples) took ";
        assert!(told.starts_with(start), "{told}");
        let parts: Vec<&str> = told
            .split(": ")
            .nth(1)
            .expect("parts")
            .split(", ")
            .collect();
        assert!(parts[0].starts_with("server "), "{told}");
        assert_eq!(parts.len(), 4, "{told}");
        assert_eq!(Traces::sentence(&Recording::default()), None);
    }

    #[test]
    fn a_link_needs_an_address_and_the_id() {
        for wrong in ["https://t.example/", "javascript:{trace_id}", "{trace_id}"] {
            assert!(wrong.parse::<TraceLink>().is_err(), "{wrong}");
        }
    }
}
