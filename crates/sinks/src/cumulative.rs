//! Totals of the run so far, by label, for sinks with cumulative metrics.

use std::collections::BTreeMap;

use drumfire_results::{Histogram, LabelIncrement};

use crate::encoder::{Interval, Users};

/// Sums since the start of the run.
#[derive(Debug, Default)]
pub struct Cumulative {
    /// By label, and by whether it belongs to a transaction controller.
    pub labels: BTreeMap<(String, bool), LabelTotals>,
    /// Failed samples by label and response code.
    pub errors: BTreeMap<(String, String), u64>,
    /// The users at the end of the last interval.
    pub users: Users,
    /// The verdict: 0 VALID, 1 DEGRADED, 2 INVALID. `None` until it is known, at the end of the run.
    pub verdict: Option<u8>,
    /// The end of the last interval, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

/// The samples of one label since the start of the run.
#[derive(Debug, Default)]
pub struct LabelTotals {
    /// Samples that succeeded.
    pub ok: u64,
    /// Samples that failed.
    pub failed: u64,
    /// Bytes received.
    pub received: u64,
    /// Bytes sent.
    pub sent: u64,
    /// Elapsed times in microseconds.
    pub elapsed: Histogram,
    /// The sum of the elapsed times in microseconds.
    pub elapsed_sum: u128,
    /// The generator's own parts of them, in microseconds, as far as they are known.
    pub own_sum: u128,
}

impl Cumulative {
    /// Adds an interval.
    pub fn add(&mut self, interval: &Interval) {
        for label in &interval.increment.labels {
            let key = (label.label.clone(), label.transaction);
            self.labels.entry(key).or_default().add(label);
        }
        for error in &interval.increment.errors {
            *self
                .errors
                .entry((error.label.clone(), error.code.clone()))
                .or_default() += error.count;
        }
        (self.users, self.verdict, self.at_ms) = (interval.users, interval.verdict, interval.at_ms);
    }
}

impl LabelTotals {
    fn add(&mut self, label: &LabelIncrement) {
        self.ok += label.count.saturating_sub(label.errors);
        self.failed += label.errors;
        self.received += label.bytes;
        self.sent += label.sent_bytes;
        let elapsed = label.elapsed();
        self.elapsed_sum += elapsed.sum;
        self.elapsed.merge(&elapsed.histogram());
        self.own_sum += label.own.sum;
    }

    /// The generator's own parts of all elapsed times, in seconds.
    pub fn own_seconds(&self) -> f64 {
        self.own_sum as f64 / 1e6
    }

    /// Converts the times to OpenTelemetry's exponential histogram, whose buckets grow by the factor `2^(2^-scale)`: the number
    /// of zeros, the index of the first bucket, and the counts from that bucket on. Bucket `i` holds times in seconds above
    /// `base^i`, up to `base^(i+1)`.
    pub fn exponential(&self, scale: i32) -> (u64, i32, Vec<u64>) {
        let (mut zeros, mut first, mut counts) = (0, 0, Vec::new());
        for (us, count) in self.elapsed.buckets() {
            if us == 0 {
                zeros += count;
                continue;
            }
            let seconds = us as f64 / 1e6;
            let index = (seconds.log2() * 2f64.powi(scale)).ceil() as i32 - 1;
            if counts.is_empty() {
                first = index;
            }
            let place = usize::try_from(index - first).unwrap_or(0);
            if counts.len() <= place {
                counts.resize(place + 1, 0);
            }
            counts[place] += count;
        }
        (zeros, first, counts)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponential_buckets_hold_every_time_within_their_bounds() {
        let mut totals = LabelTotals::default();
        for us in [0, 900_000, 1_500_000, 1_900_000, 1_900_000] {
            totals.elapsed.record(us);
        }
        // At scale 0, bucket -1 ends at 1 s and bucket 0 at 2 s.
        let (zeros, first, counts) = totals.exponential(0);
        assert_eq!((zeros, first), (1, -1));
        assert_eq!(counts, [1, 3]);
    }
}
