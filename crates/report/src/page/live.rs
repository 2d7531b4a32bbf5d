//! The page of a run that is under way. It begins with [`live_state`], receives a [`LiveSecond`] at a time, and becomes the
//! report when the run ends.

use drumfire_results::{
    Connections, Distribution, ErrorKind, Increment, LabelStatistics, Phases, StartCount,
};
use serde::Serialize;

use super::steps::{self, heat_column};
use super::{PageOptions, errors, rounded, rows::Row};
use crate::apdex::{Apdex, ApdexLimits};
use crate::run_file::RunFile;
use crate::streams::StreamNumbers;

/// The Content-Security-Policy of the template, and that of a live page, which may also contact its own server.
const POLICY: &str = "default-src 'none';";
const LIVE_POLICY: &str = "default-src 'none'; connect-src 'self';";

/// The page before it has any numbers.
pub fn live_html(title: &str) -> String {
    /// Tells the script which page it is.
    #[derive(Serialize)]
    struct Facts {
        kind: &'static str,
    }
    super::html(title, &Facts { kind: "live" }).replacen(POLICY, LIVE_POLICY, 1)
}

/// Everything that is known of a run so far, as JSON.
pub fn live_state(run: &RunFile) -> String {
    let apdex = Apdex::default();
    let page = super::page("live", run, &PageOptions::default(), &apdex, &|_, _| false);
    serde_json::to_string(&page).expect("numbers and texts can be written")
}

/// A label over time, with its percentile curve, as JSON; `None` if there is no such label.
pub fn live_label(run: &RunFile, label: &str, transaction: bool) -> Option<String> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct LiveLabel {
        label_step_s: u32,
        row: Row,
    }
    let recording = &run.recording;
    let index = recording
        .labels
        .iter()
        .position(|known| known.label == label && known.transaction == transaction)?;
    let label_step_s = recording.timeline.label_step_s();
    let mut row = Row::of(
        &recording.labels[index],
        ApdexLimits::default(),
        run.resolution_us,
    );
    row.steps = Some(steps::LabelSteps::of(
        &recording.timeline,
        index,
        label_step_s,
    ));
    let label = LiveLabel { label_step_s, row };
    Some(serde_json::to_string(&label).expect("numbers and texts can be written"))
}

/// Kinds of errors as a page of a run that goes on receives them.
pub fn live_errors(kinds: Vec<ErrorKind>) -> impl Serialize {
    errors::of_kinds(kinds, errors::LIVE_STEPS)
}

/// The data that a second adds to a page. Times are in milliseconds.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveSecond {
    /// Start of the second, in seconds since the Unix epoch.
    at: i64,
    ended_ms: i64,
    count: u64,
    errors: u64,
    users: u32,
    bytes: u64,
    sent_bytes: u64,
    mean: Option<f64>,
    p50: Option<f64>,
    p90: Option<f64>,
    p95: Option<f64>,
    p99: Option<f64>,
    max: Option<f64>,
    codes: Vec<(String, u64)>,
    /// Mean times of name look-up, TCP, TLS, first byte and body.
    phases: [Option<f64>; 5],
    /// The second's column of the heat map: row and count.
    heat: Vec<(i32, u64)>,
    starts: Vec<(i64, u64, u64, u64)>,
    connections: Option<Connections>,
    /// The whole run so far.
    total: Row,
    /// Labels with their numbers since the start of the run.
    rows: Vec<LiveRow>,
}

/// A label's numbers as a list, which is a third as long as with names: label, whether it is a transaction, samples, errors, mean,
/// minimum, percentiles 50, 90, 95, 99 and 99.9, maximum, rate, bytes, sent bytes, phases, APDEX, response and service times of the
/// samples with an intended start, and numbers of streamed responses.
pub type LiveRow = (
    String,
    bool,
    u64,
    u64,
    [f64; 9],
    [u64; 2],
    [f64; 5],
    Option<f64>,
    [Option<[f64; 5]>; 2],
    Option<StreamNumbers>,
);

/// How often the curve and the distribution of all samples are sent, in seconds: they change little from one second to the next.
const SPREAD_S: i64 = 5;

impl LiveSecond {
    /// The second that `increment` describes, with the labels at `places`. `run` already includes the increment. `total` is the sum
    /// of the run's samples without those of transaction controllers.
    pub fn of(
        run: &RunFile,
        total: &LabelStatistics,
        increment: &Increment,
        places: &[usize],
    ) -> LiveSecond {
        let mut elapsed = Distribution::default();
        let (mut bytes, mut sent_bytes) = (0, 0);
        let mut phases = Phases::default();
        for label in increment.labels.iter().filter(|label| !label.transaction) {
            elapsed.merge(&label.ok);
            elapsed.merge(&label.failed);
            bytes += label.bytes;
            sent_bytes += label.sent_bytes;
            phases.add(label.phases);
        }
        let (count, errors) = increment.totals();
        let times = elapsed.histogram();
        let ms = |us: f64| (times.count() > 0).then(|| rounded(us / 1000.0));
        let limits = ApdexLimits::default();
        let at = increment.from_ms.div_euclid(1_000);
        let labels = places
            .iter()
            .filter_map(|&place| run.recording.labels.get(place));
        let service_us = times.mean() * times.count() as f64;
        LiveSecond {
            at,
            ended_ms: run.ended_ms,
            count,
            errors,
            users: increment.active.max,
            bytes,
            sent_bytes,
            mean: ms(times.mean()),
            p50: ms(times.percentile(50.0)),
            p90: ms(times.percentile(90.0)),
            p95: ms(times.percentile(95.0)),
            p99: ms(times.percentile(99.0)),
            max: ms(times.max() as f64),
            codes: increment.codes.clone(),
            phases: phases
                .means_ms(service_us, times.count())
                .map(|phase_ms| ms(phase_ms * 1000.0)),
            heat: heat_column(times.buckets()),
            starts: increment.starts.iter().map(start).collect(),
            connections: run.connections,
            total: match at % SPREAD_S {
                0 => Row::of(total, limits, run.resolution_us),
                _ => Row::brief(total, limits, run.resolution_us),
            },
            rows: labels
                .map(|label| Row::brief(label, limits, run.resolution_us).into_list())
                .collect(),
        }
    }
}

fn start(count: &StartCount) -> (i64, u64, u64, u64) {
    (count.second, count.started, count.intended, count.scheduled)
}
