//! Times and numbers as the wire formats write them.

use std::borrow::Cow;

use drumfire_results::{Distribution, Histogram, LabelIncrement};
use serde_json::{Value, json};

use crate::encoder::Interval;
use crate::windows::{LastValues, Window, Windows};

/// Milliseconds of a time in microseconds.
pub fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

/// The increments in order, one for each label. JMeter does not distinguish a transaction from a sampler of the same name,
/// so they are merged.
pub fn by_label(labels: &[LabelIncrement]) -> Vec<Cow<'_, LabelIncrement>> {
    let namesakes = labels.chunk_by(|a, b| a.label == b.label);
    namesakes
        .filter_map(|namesakes| {
            let (first, rest) = namesakes.split_first()?;
            let mut all = Cow::Borrowed(first);
            for other in rest {
                all.to_mut().absorb(other.clone());
            }
            Some(all)
        })
        .collect()
}

/// A set of times, in milliseconds.
pub enum Times {
    /// The times of an interval, merged from several distributions.
    Interval(Histogram),
    /// The last times, from a window.
    Window(LastValues),
}

impl Times {
    /// Merges the times of several distributions.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a Distribution>) -> Times {
        let mut all = Distribution::default();
        for part in parts {
            all.merge(part);
        }
        Times::Interval(all.histogram())
    }

    /// The number of times.
    pub fn count(&self) -> u64 {
        match self {
            Times::Interval(times) => times.count(),
            Times::Window(times) => times.count(),
        }
    }

    /// The shortest, in milliseconds; 0 without times.
    pub fn min_ms(&self) -> f64 {
        match self {
            Times::Interval(times) => ms(times.min()),
            Times::Window(times) => times.min(),
        }
    }

    /// The longest, in milliseconds; 0 without times.
    pub fn max_ms(&self) -> f64 {
        match self {
            Times::Interval(times) => ms(times.max()),
            Times::Window(times) => times.max(),
        }
    }

    /// The mean, in milliseconds; 0 without times.
    pub fn mean_ms(&self) -> f64 {
        match self {
            Times::Interval(times) => times.mean() / 1000.0,
            Times::Window(times) => times.mean(),
        }
    }

    /// A percentile, in milliseconds; 0 without times.
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        match self {
            Times::Interval(times) => times.percentile(percent) / 1000.0,
            Times::Window(times) => times.percentile(percent),
        }
    }
}

/// The times of some labels by result: successful samples, failed samples, and all.
pub struct TimesByResult {
    /// The times of successful samples.
    pub ok: Times,
    /// The times of failed samples.
    pub failed: Times,
    /// The times of all samples.
    pub all: Times,
}

impl TimesByResult {
    /// The times of an interval.
    pub fn of_interval<'a>(labels: impl Iterator<Item = &'a LabelIncrement> + Clone) -> Self {
        TimesByResult {
            ok: Times::of(labels.clone().map(|label| &label.ok)),
            failed: Times::of(labels.clone().map(|label| &label.failed)),
            all: Times::of(labels.flat_map(|label| [&label.ok, &label.failed])),
        }
    }

    /// The times of the windows, if there are any, or else of the interval; for one label, or for all.
    pub fn choose(
        windows: Option<&Windows>,
        label: Option<&str>,
        labels: &[&LabelIncrement],
    ) -> Self {
        let Some(windows) = windows else {
            return TimesByResult::of_interval(labels.iter().copied());
        };
        let Window { ok, failed, all } = match label {
            Some(label) => windows.label(label),
            None => windows.all().clone(),
        };
        TimesByResult {
            ok: Times::Window(ok),
            failed: Times::Window(failed),
            all: Times::Window(all),
        }
    }
}

/// The minimum, maximum and mean of the users that were active at the end of samples. Whole numbers, as JMeter casts them.
pub fn active_users(windows: Option<&Windows>, interval: &Interval) -> [u64; 3] {
    match windows {
        Some(windows) => {
            let users = windows.users();
            [users.min(), users.max(), users.mean()].map(|users| users as u64)
        }
        None => {
            let active = &interval.increment.active;
            [
                u64::from(active.min),
                u64::from(active.max),
                active.mean() as u64,
            ]
        }
    }
}

/// The metrics of a label, by their names in JSON.
pub fn label_numbers(label: &LabelIncrement) -> serde_json::Map<String, Value> {
    let times = Times::of([&label.ok, &label.failed]);
    let numbers = [
        ("label", json!(label.label)),
        ("transaction", json!(label.transaction)),
        ("count", json!(label.count)),
        ("failed", json!(label.errors)),
        ("received_bytes", json!(label.bytes)),
        ("sent_bytes", json!(label.sent_bytes)),
        ("min_ms", json!(times.min_ms())),
        ("mean_ms", json!(times.mean_ms())),
        ("max_ms", json!(times.max_ms())),
        ("p50_ms", json!(times.percentile_ms(50.0))),
        ("p90_ms", json!(times.percentile_ms(90.0))),
        ("p95_ms", json!(times.percentile_ms(95.0))),
        ("p99_ms", json!(times.percentile_ms(99.0))),
    ];
    let named = numbers.map(|(name, value)| (name.to_owned(), value));
    named.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_and_a_sampler_of_one_name_are_one_label() {
        let label = |name: &str, transaction| {
            let mut label = LabelIncrement::new(name.to_owned(), transaction);
            label.count = 2;
            label
        };
        let labels = [label("a", false), label("a", true), label("b", false)];
        let told = by_label(&labels);
        let told: Vec<_> = told.iter().map(|one| (&*one.label, one.count)).collect();
        assert_eq!(told, [("a", 4), ("b", 2)]);
    }
}
