//! Histograms of short times, small enough to keep one per second and label.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::buckets::{COUNT_BITS, bounds, bucket, read_pairs, write_pairs};

/// Each power of two of a [`Sparse`] histogram is cut into this many buckets, so a bucket is at most 3.2 % wide.
const SPARSE_BITS: u32 = 5;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// Counts of the values of a short time: a few buckets, in order. Values below 64 are exact, larger ones to within
/// 3.2 %.
#[derive(Clone, Debug, Default)]
pub struct Sparse(Form);

/// How the buckets in use are kept.
#[derive(Clone, Debug)]
enum Form {
    /// The bucket above [`COUNT_BITS`], the count below.
    Open(Vec<u64>),
    /// Distances of buckets and counts in turns, each as seven bits a byte, the lowest first; the last byte lacks its top bit.
    Packed(Box<[u8]>),
}

impl Default for Form {
    fn default() -> Form {
        Form::Open(Vec::new())
    }
}

impl PartialEq for Sparse {
    fn eq(&self, other: &Sparse) -> bool {
        self.entries().eq(other.entries())
    }
}

impl Eq for Sparse {}

impl Sparse {
    /// Takes a quarter of the memory from now on. What is counted afterwards undoes it.
    pub fn pack(&mut self) {
        if let Form::Open(_) = self.0 {
            let mut bytes = Vec::new();
            let mut last = 0;
            for (bucket, count) in self.entries() {
                put(&mut bytes, (bucket - last) as u64);
                put(&mut bytes, count);
                last = bucket;
            }
            self.0 = Form::Packed(bytes.into());
        }
    }

    /// The buckets in use, to be changed.
    fn open(&mut self) -> &mut Vec<u64> {
        if let Form::Packed(_) = self.0 {
            let entries = self.entries();
            self.0 = Form::Open(
                entries
                    .map(|(bucket, count)| entry(bucket, count))
                    .collect(),
            );
        }
        match &mut self.0 {
            Form::Open(entries) => entries,
            Form::Packed(_) => unreachable!("it was opened"),
        }
    }

    /// Memory of the buckets in use, about, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            Form::Open(entries) => size_of_val(&**entries),
            Form::Packed(bytes) => bytes.len(),
        }
    }

    /// Counts one value. Allocates only for a value unlike those before, and where it was packed.
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
        let entries = self.open();
        let key = entry(bucket, 0);
        let at = entries.partition_point(|entry| *entry < key);
        match entries
            .get_mut(at)
            .filter(|entry| **entry >> COUNT_BITS == bucket as u64)
        {
            Some(entry) => *entry += count,
            None => entries.insert(at, key | count),
        }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
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

    /// The buckets in use and their counts, in order.
    fn entries(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (mut open, mut packed) = match &self.0 {
            Form::Open(entries) => (entries.iter(), &[][..]),
            Form::Packed(bytes) => ([].iter(), &**bytes),
        };
        let mut last = 0;
        std::iter::from_fn(move || {
            if let Some(entry) = open.next() {
                return Some(((entry >> COUNT_BITS) as usize, entry & COUNT_MASK));
            }
            last += take(&mut packed)? as usize;
            Some((last, take(&mut packed)?))
        })
    }
}

/// A bucket and its count in one number.
fn entry(bucket: usize, count: u64) -> u64 {
    (bucket as u64) << COUNT_BITS | count
}

/// Writes a number as [`Form::Packed`] has it.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number that [`put`] has written; none at the end.
fn take(bytes: &mut &[u8]) -> Option<u64> {
    let length = bytes.iter().position(|byte| byte & 0x80 == 0)? + 1;
    let (own, rest) = bytes.split_at(length);
    *bytes = rest;
    let add = |number: u64, byte: &u8| number << 7 | u64::from(byte & 0x7f);
    Some(own.iter().rev().fold(0, add))
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
        let mut all = Sparse::default();
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
        assert_eq!((all.count(), all.buckets().count()), (60, 60));
    }

    #[test]
    fn what_is_packed_takes_a_quarter_of_the_memory() {
        let open = of(&(0..5_000).map(|i| 80 + i * i / 10_000).collect::<Vec<_>>());
        let mut packed = open.clone();
        packed.pack();
        assert_eq!(packed, open);
        assert!(
            packed.bytes() * 7 < open.bytes() * 2,
            "{} {}",
            packed.bytes(),
            open.bytes()
        );
        assert!(!packed.is_empty());
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
        fn packing_changes_nothing_but_the_memory(left in prop::collection::vec(any::<u64>(), 0..50), right in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut packed = of(&left);
            packed.add(bucket(7, SPARSE_BITS), COUNT_MASK - 100);
            let mut open = packed.clone();
            packed.pack();
            prop_assert_eq!(&packed, &open);
            right.iter().for_each(|&value| open.record(value));
            right.iter().for_each(|&value| packed.record(value));
            prop_assert_eq!(packed, open);
        }

        #[test]
        fn what_is_written_is_read(values in prop::collection::vec(any::<u64>(), 0..50)) {
            let all = of(&values);
            let text = serde_json::to_string(&all).expect("numbers can be written");
            prop_assert_eq!(serde_json::from_str::<Sparse>(&text).expect("what was written can be read"), all);
        }
    }
}
