//! The page of a run that is under way. It begins with [`live_state`], receives a [`LiveSecond`] at a time, and becomes the
//! report when the run ends.

use drumfire_results::{Connections, Distribution, Increment, LabelStatistics, StartCount};
use serde::Serialize;

use super::{PageOptions, rounded, rows::Row};
use crate::apdex::{Apdex, ApdexLimits};
use crate::run_file::RunFile;

/// The Content-Security-Policy of the template, and that of a live page, which may also contact its own server.
const POLICY: &str = "default-src 'none';";
const LIVE_POLICY: &str = "default-src 'none'; connect-src 'self'; frame-src 'self';";

/// The page before it has any numbers. `facts` is the payload for its script; the field `kind` says which page it is.
pub fn live_html(title: &str, facts: &impl Serialize) -> String {
    super::html(title, facts).replacen(POLICY, LIVE_POLICY, 1)
}

/// Everything that is known of a run so far, as JSON.
pub fn live_state(run: &RunFile) -> String {
    let apdex = Apdex::default();
    let page = super::page("live", run, &PageOptions::default(), &apdex, &|_, _| false);
    serde_json::to_string(&page).expect("numbers and texts can be written")
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
    starts: Vec<(i64, u64, u64, u64)>,
    connections: Option<Connections>,
    /// The whole run so far.
    total: Row,
    /// The labels of the second, with their numbers since the start of the run.
    rows: Vec<Row>,
}

impl LiveSecond {
    /// The second that `increment` describes. `run` already includes the increment. `total` is the sum of the run's samples
    /// without those of transaction controllers.
    pub fn of(run: &RunFile, total: &LabelStatistics, increment: &Increment) -> LiveSecond {
        let mut elapsed = Distribution::default();
        let (mut bytes, mut sent_bytes) = (0, 0);
        for label in increment.labels.iter().filter(|label| !label.transaction) {
            elapsed.merge(&label.ok);
            elapsed.merge(&label.failed);
            bytes += label.bytes;
            sent_bytes += label.sent_bytes;
        }
        let (count, errors) = increment.totals();
        let times = elapsed.histogram();
        let known = |us: f64| (times.count() > 0).then(|| rounded(us / 1000.0));
        let limits = ApdexLimits::default();
        let row = |label: &LabelStatistics| Row::brief(label, limits, run.resolution_us);
        let is_here = |label: &&LabelStatistics| {
            let key = (label.label.as_str(), label.transaction);
            let place = increment
                .labels
                .binary_search_by(|known| (known.label.as_str(), known.transaction).cmp(&key));
            place.is_ok()
        };
        LiveSecond {
            at: increment.from_ms.div_euclid(1_000),
            ended_ms: run.ended_ms,
            count,
            errors,
            users: increment.active.max,
            bytes,
            sent_bytes,
            mean: known(times.mean()),
            p50: known(times.percentile(50.0)),
            p90: known(times.percentile(90.0)),
            p95: known(times.percentile(95.0)),
            p99: known(times.percentile(99.0)),
            max: known(times.max() as f64),
            codes: increment.codes.clone(),
            starts: increment.starts.iter().map(start).collect(),
            connections: run.connections,
            total: row(total),
            rows: run
                .recording
                .labels
                .iter()
                .filter(is_here)
                .map(row)
                .collect(),
        }
    }
}

fn start(count: &StartCount) -> (i64, u64, u64, u64) {
    (count.second, count.started, count.intended, count.scheduled)
}
