//! The traced samples of labels: where the time of the slowest ones went (`drumfire.trace`).

mod label;
mod parts;

use crate::sample::Sample;

pub use self::label::{LabelTrace, ServerMetric, SlowSample, SlowestSoFar, TailSplit};
pub use self::parts::TimeParts;

/// Counts a sample among the traced ones of its label, if it has a trace.
pub(crate) fn count(label: &mut Option<Box<LabelTrace>>, sample: &Sample) {
    if let Some(trace) = &sample.trace {
        label
            .get_or_insert_with(|| Box::new(LabelTrace::new(trace.limits)))
            .add(sample, trace);
    }
}

/// Adds the traced samples of another part of a label.
pub(crate) fn merge(label: &mut Option<Box<LabelTrace>>, other: Option<&LabelTrace>) {
    match (label, other) {
        (Some(mine), Some(theirs)) => mine.merge(theirs),
        (none @ None, Some(theirs)) => *none = Some(Box::new(theirs.clone())),
        (_, None) => {}
    }
}
