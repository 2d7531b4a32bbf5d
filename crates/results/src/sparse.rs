//! Histograms of short times, small enough to keep one per second and label.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::buckets::{COUNT_BITS, bounds, bucket, read_pairs, write_pairs};

/// Each power of two of a [`Sparse`] histogram is cut into this many buckets, so a bucket is at most 3.2 % wide.
const SPARSE_BITS: u32 = 5;

/// Counts of the values of a short time: a few buckets, in order. Values below 64 are exact, larger ones to within
/// 3.2 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sparse(
    /// The bucket above [`COUNT_BITS`], the count below.
    Vec<u64>,
);

impl Sparse {
    /// Memory of one bucket, in bytes.
    pub const ENTRY_BYTES: usize = size_of::<u64>();

    /// Counts one value. Allocates only for a value unlike those before.
    pub fn record(&mut self, value: u64) {
        self.add(bucket(value, SPARSE_BITS), 1);
    }

    /// Adds everything `other` has counted.
    pub fn merge(&mut self, other: &Sparse) {
        for (bucket, count) in other.entries() {
            self.add(bucket, count);
        }
    }

    fn add(&mut self, bucket: usize, count: u64) {
        let key = (bucket as u64) << COUNT_BITS;
        let at = self.0.partition_point(|entry| *entry < key);
        match self
            .0
            .get_mut(at)
            .filter(|entry| **entry >> COUNT_BITS == bucket as u64)
        {
            Some(entry) => *entry += count,
            None => self.0.insert(at, key | count),
        }
    }

    /// How many buckets are in use.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.entries().map(|(_, count)| count).sum()
    }

    /// The buckets in use, in order: the lowest and the highest value of each, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.entries().map(|(bucket, count)| {
            let (lowest, highest) = bounds(bucket, SPARSE_BITS);
            (lowest, highest, count)
        })
    }

    /// The value below which `percent` per cent of all values are, taken as spread evenly within a bucket; none
    /// without values.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        percentile_of(self.buckets(), self.count(), percent)
    }

    fn entries(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let mask = (1 << COUNT_BITS) - 1;
        self.0
            .iter()
            .map(move |entry| ((entry >> COUNT_BITS) as usize, entry & mask))
    }
}

/// The value below which `percent` per cent of `all` values are that lie in these buckets (lowest value, highest value,
/// count; in order), taken as spread evenly within a bucket; none without values.
pub fn percentile_of(
    buckets: impl Iterator<Item = (u64, u64, u64)>,
    all: u64,
    percent: f64,
) -> Option<f64> {
    let rank = percent / 100.0 * all as f64;
    let mut seen = 0.0;
    let mut last = None;
    for (lowest, highest, count) in buckets.filter(|(.., count)| *count > 0) {
        let share = ((rank - seen) / count as f64).clamp(0.0, 1.0);
        let value = lowest as f64 + share * (highest - lowest) as f64;
        seen += count as f64;
        last = Some(value);
        if seen >= rank {
            break;
        }
    }
    last
}

impl Serialize for Sparse {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_pairs(self.entries(), serializer)
    }
}

impl<'de> Deserialize<'de> for Sparse {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sparse, D::Error> {
        let pairs = read_pairs(deserializer)?;
        let mut all = Sparse(Vec::with_capacity(pairs.len()));
        for (bucket, count) in pairs {
            all.add(bucket, count);
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> Sparse {
        let mut all = Sparse::default();
        values.iter().for_each(|&value| all.record(value));
        all
    }

    #[test]
    fn percentiles_are_spread_within_a_bucket() {
        assert_eq!(of(&[]).percentile(50.0), None);
        assert_eq!(of(&[7]).percentile(99.0), Some(7.0));
        let all = of(&(1..=60).collect::<Vec<_>>());
        assert_eq!(all.percentile(50.0), Some(30.0));
        assert_eq!((all.count(), all.len()), (60, 60));
    }

    proptest! {
        #[test]
        fn a_value_lies_in_its_bucket(value: u64) {
            let (lowest, highest, count) = of(&[value]).buckets().next().expect("one bucket");
            prop_assert!(lowest <= value && value <= highest && count == 1);
            prop_assert!((highest - lowest) as f64 <= lowest as f64 / 32.0);
        }

        #[test]
        fn merging_is_the_same_as_recording_all(left in prop::collection::vec(any::<u64>(), 0..50), right in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut merged = of(&left);
            merged.merge(&of(&right));
            prop_assert_eq!(merged, of(&[left, right].concat()));
        }

        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(any::<u64>(), 0..50)) {
            let all = of(&values);
            let text = serde_json::to_string(&all).expect("numbers can be written");
            prop_assert_eq!(serde_json::from_str::<Sparse>(&text).expect("what was written can be read"), all);
        }
    }
}
