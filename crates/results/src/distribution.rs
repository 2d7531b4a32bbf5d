//! A distribution of times, as increments carry it.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

use crate::buckets::bucket;
use crate::histogram::{BUCKET_BITS, Histogram};
use crate::sparse::Sparse;

/// A distribution of times in microseconds: sum, extremes, and buckets accurate to 0.1 %.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Distribution {
    /// The sum.
    pub sum: u128,
    /// The shortest; 0 without times.
    pub min: u64,
    /// The longest; 0 without times.
    pub max: u64,
    /// The number of times in each bucket.
    pub buckets: Sparse<BUCKET_BITS>,
}

impl Distribution {
    /// Counts one time.
    pub fn record(&mut self, us: u64) {
        self.min = if self.buckets.is_empty() {
            us
        } else {
            self.min.min(us)
        };
        self.max = self.max.max(us);
        self.sum = self.sum.saturating_add(u128::from(us));
        self.buckets.record(us);
    }

    /// Adds all times of `other`.
    pub fn merge(&mut self, other: &Distribution) {
        if other.buckets.is_empty() {
            return;
        }
        self.min = if self.buckets.is_empty() {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
        self.buckets.merge(&other.buckets);
    }

    /// The number of times.
    pub fn count(&self) -> u64 {
        self.buckets.count()
    }

    /// The mean; 0 without times.
    pub fn mean(&self) -> f64 {
        match self.count() {
            0 => 0.0,
            count => self.sum as f64 / count as f64,
        }
    }

    /// The value that `percent` per cent of the times do not exceed, as [`Histogram::percentile`] finds it.
    pub fn percentile(&self, percent: f64) -> f64 {
        self.histogram().percentile(percent)
    }

    /// The same times as a [`Histogram`].
    pub fn histogram(&self) -> Histogram {
        let mut all = Histogram::new();
        all.absorb(self);
        all
    }
}

impl<'de> Deserialize<'de> for Distribution {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Distribution, D::Error> {
        #[derive(Deserialize)]
        #[serde(rename = "Distribution")]
        struct Written {
            sum: u128,
            min: u64,
            max: u64,
            buckets: Sparse<BUCKET_BITS>,
        }
        let Written {
            sum,
            min,
            max,
            buckets,
        } = Written::deserialize(deserializer)?;
        let first = buckets.entries().next().map(|(bucket, _)| bucket);
        let last = buckets.entries().last().map(|(bucket, _)| bucket);
        let fits = match first {
            None => (sum, min, max) == (0, 0, 0),
            Some(_) => {
                let bucket_of = |us| Some(bucket(us, BUCKET_BITS));
                min <= max && first == bucket_of(min) && last == bucket_of(max)
            }
        };
        if !fits {
            return Err(D::Error::custom("extremes do not fit their buckets"));
        }
        Ok(Distribution {
            sum,
            min,
            max,
            buckets,
        })
    }
}
