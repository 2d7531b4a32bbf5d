//! The kinds of errors, each with its curve.

use drumfire_results::{ErrorCurve, ErrorKind};
use serde::Serialize;

/// The most steps of a curve on a report and on a live page.
pub const REPORT_STEPS: usize = 120;
pub const LIVE_STEPS: usize = 24;
/// How many kinds have a curve, the most frequent first.
const MOST_CURVES: usize = 200;

/// A kind of errors of a label.
#[derive(Serialize)]
pub struct PageErrors {
    #[serde(flatten)]
    kind: ErrorKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    curve: Option<Curve>,
}

/// When the errors ended.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Curve {
    first_ms: i64,
    last_ms: i64,
    step_s: i64,
    /// The number of each step since the Unix epoch, as the difference from the step before.
    at: Vec<i64>,
    count: Vec<u64>,
}

/// The kinds as a page shows them, with at most so many steps in each curve.
pub fn of_kinds(kinds: Vec<ErrorKind>, most_steps: usize) -> Vec<PageErrors> {
    let kinds = kinds.into_iter().enumerate().map(|(place, mut kind)| {
        let second_counts = std::mem::take(&mut kind.curve);
        let curve = (!second_counts.is_empty())
            .then(|| curve(second_counts, most_steps, place < MOST_CURVES));
        PageErrors { kind, curve }
    });
    kinds.collect()
}

fn curve(mut known: ErrorCurve, most_steps: usize, has_steps: bool) -> Curve {
    known.shorten(most_steps);
    if !has_steps {
        known.steps.clear();
    }
    let mut last = 0;
    Curve {
        first_ms: known.first_ms,
        last_ms: known.last_ms,
        step_s: known.step_s,
        at: known
            .steps
            .iter()
            .map(|step| step.0 - std::mem::replace(&mut last, step.0))
            .collect(),
        count: known.steps.iter().map(|step| step.1).collect(),
    }
}
