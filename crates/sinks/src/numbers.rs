//! Times and numbers as the wire forms write them.

use drumfire_results::{Distribution, Histogram};

/// Milliseconds of a time in microseconds.
pub fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

/// Several distributions as one.
pub struct Times {
    histogram: Histogram,
}

impl Times {
    /// The times of all distributions together.
    pub fn of<'a>(parts: impl IntoIterator<Item = &'a Distribution>) -> Times {
        let mut all = Distribution::default();
        for part in parts {
            all.merge(part);
        }
        Times {
            histogram: all.histogram(),
        }
    }

    /// How many.
    pub fn count(&self) -> u64 {
        self.histogram.count()
    }

    /// The shortest, in milliseconds; 0 without times.
    pub fn min_ms(&self) -> f64 {
        ms(self.histogram.min())
    }

    /// The longest, in milliseconds; 0 without times.
    pub fn max_ms(&self) -> f64 {
        ms(self.histogram.max())
    }

    /// The mean, in milliseconds; 0 without times.
    pub fn mean_ms(&self) -> f64 {
        self.histogram.mean() / 1000.0
    }

    /// A percentile, in milliseconds; 0 without times.
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        self.histogram.percentile(percent) / 1000.0
    }
}
