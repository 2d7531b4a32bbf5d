//! The last times of each label, as JMeter stores them with `backend_metrics_window_mode=fixed` (`SamplerMetric`,
//! `UserMetric`).

use std::collections::{HashMap, VecDeque};

use drumfire_results::{HeardSample, SampleQueue};

/// The windows of one listener: for each label, for all samples together, and for the active users.
#[derive(Debug)]
pub struct Windows {
    samples: SampleQueue,
    size: usize,
    labels: HashMap<String, Window>,
    all: Window,
    users: LastValues,
}

/// The last times of some samples in milliseconds, by result.
#[derive(Clone, Debug, Default)]
pub struct Window {
    /// The times of successful samples.
    pub ok: LastValues,
    /// The times of failed samples.
    pub failed: LastValues,
    /// The times of all samples.
    pub all: LastValues,
}

/// The last values of a series.
#[derive(Clone, Debug, Default)]
pub struct LastValues(VecDeque<f64>);

impl Windows {
    /// Windows of the last `size` samples from the queue.
    pub fn new(samples: SampleQueue, size: usize) -> Windows {
        Windows {
            samples,
            size: size.max(1),
            labels: HashMap::new(),
            all: Window::default(),
            users: LastValues::default(),
        }
    }

    /// Adds the samples that arrived since the last call.
    pub(crate) fn catch_up(&mut self) {
        for sample in self.samples.take() {
            let window = self.labels.entry(sample.label.clone()).or_default();
            window.add(&sample, self.size);
            self.all.add(&sample, self.size);
            self.users.add(f64::from(sample.active_users), self.size);
        }
    }

    /// The window of all samples.
    pub(crate) fn all(&self) -> &Window {
        &self.all
    }

    /// The window of a label; empty if it has no samples.
    pub(crate) fn label(&self, label: &str) -> Window {
        self.labels.get(label).cloned().unwrap_or_default()
    }

    /// The active users.
    pub(crate) fn users(&self) -> &LastValues {
        &self.users
    }
}

impl Window {
    fn add(&mut self, sample: &HeardSample, size: usize) {
        let time = sample.elapsed_ms as f64;
        self.all.add(time, size);
        let part = if sample.success {
            &mut self.ok
        } else {
            &mut self.failed
        };
        part.add(time, size);
    }
}

impl LastValues {
    pub(crate) fn add(&mut self, value: f64, size: usize) {
        if self.0.len() == size {
            self.0.pop_front();
        }
        self.0.push_back(value);
    }

    /// The number of values.
    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// The smallest; 0 without values.
    pub fn min(&self) -> f64 {
        self.0.iter().copied().reduce(f64::min).unwrap_or(0.0)
    }

    /// The largest; 0 without values.
    pub fn max(&self) -> f64 {
        self.0.iter().copied().reduce(f64::max).unwrap_or(0.0)
    }

    /// The mean; 0 without values.
    pub fn mean(&self) -> f64 {
        let count = self.0.len() as f64;
        if self.0.is_empty() {
            return 0.0;
        }
        let mean = self.0.iter().sum::<f64>() / count;
        // commons-math's `Mean` makes this second pass, so even the last digit equals JMeter's.
        mean + self.0.iter().map(|value| value - mean).sum::<f64>() / count
    }

    /// A percentile, from 0 to 100, interpolated like commons-math's estimator `LEGACY`; 0 without values.
    pub fn percentile(&self, percent: f64) -> f64 {
        let mut sorted: Vec<f64> = self.0.iter().copied().collect();
        sorted.sort_by(f64::total_cmp);
        let position = percent * (sorted.len() as f64 + 1.0) / 100.0;
        if sorted.is_empty() || position < 1.0 {
            return self.min();
        }
        if position >= sorted.len() as f64 {
            return self.max();
        }
        let rank = position.floor();
        let (lower, upper) = (sorted[rank as usize - 1], sorted[rank as usize]);
        lower + (position - rank) * (upper - lower)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(crate) fn sample(label: &str, success: bool, elapsed_ms: i64) -> HeardSample {
        HeardSample {
            label: label.to_owned(),
            thread_name: "TG 1-1".to_owned(),
            success,
            elapsed_ms,
            latency_ms: 0,
            connect_ms: 0,
            at_ms: 0,
            active_users: 2,
            detail: None,
        }
    }

    #[test]
    fn a_window_keeps_the_last_samples_over_sends() {
        let queue = SampleQueue::new(1000);
        let mut windows = Windows::new(queue.clone(), 3);
        for elapsed in [100, 1, 2] {
            queue.push(sample("a", true, elapsed));
        }
        windows.catch_up();
        queue.push(sample("a", true, 3));
        queue.push(sample("b", false, 40));
        windows.catch_up();
        let a = windows.label("a");
        assert_eq!(
            (a.ok.count(), a.ok.min(), a.ok.max(), a.ok.mean()),
            (3, 1.0, 3.0, 2.0)
        );
        assert_eq!((a.failed.count(), a.failed.percentile(99.0)), (0, 0.0));
        let all = windows.all();
        assert_eq!((all.all.max(), all.failed.count()), (40.0, 1));
        assert_eq!(windows.users().mean(), 2.0);
    }

    // Values from commons-math 3.6.1's `DescriptiveStatistics#getPercentile`.
    #[test]
    fn percentiles_are_interpolated() {
        let mut last = LastValues::default();
        for value in [1.0, 2.0, 3.0, 4.0] {
            last.add(value, 100);
        }
        let found = [50.0, 90.0, 25.0, 10.0].map(|percent| last.percentile(percent));
        assert_eq!(found, [2.5, 4.0, 1.25, 1.0]);
    }
}
