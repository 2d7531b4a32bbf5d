//! Histograms of short times, small enough to keep one per second and label.
//!
//! They come in two resolutions. The timeline divides each power of two by 5 bits, so that hours fit into memory. Increments
//! use 10 bits, the resolution of [`Histogram`](crate::Histogram). No fine bucket straddles two coarse ones, so the timeline
//! loses nothing although it is made from increments.

use std::cmp::Ordering;
use std::fmt;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::bits::{self, put_number, take_number};
use crate::buckets::{COUNT_BITS, bounds, bucket, read_pairs, write_pairs};

const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

/// Counts of the values in a short time: a few buckets, in order. Each power of two is divided into `1 << BITS` buckets. With
/// 5 bits, values below 64 are exact and larger ones accurate to 3.2 %; with 10 bits, values below 2,048 are exact and larger
/// ones accurate to 0.1 %.
#[derive(Clone, Debug, Default)]
pub struct Sparse<const BITS: u32 = COARSE_BITS>(BucketStorage);

/// The resolution of the timeline's histograms, as the number of bits of a value that matter.
pub(crate) const COARSE_BITS: u32 = 5;

/// The representation of the non-empty buckets.
#[derive(Clone, Debug)]
enum BucketStorage {
    /// Each entry has the bucket above [`COUNT_BITS`] and the count below.
    Open(Vec<u64>),
    /// Bucket distances and counts alternate as varints: seven bits a byte, lowest first; the top bit is clear in the last
    /// byte.
    Packed(Box<[u8]>),
}

impl Default for BucketStorage {
    fn default() -> BucketStorage {
        BucketStorage::Open(Vec::new())
    }
}

impl<const BITS: u32> PartialEq for Sparse<BITS> {
    fn eq(&self, other: &Sparse<BITS>) -> bool {
        self.entries().eq(other.entries())
    }
}

impl<const BITS: u32> Eq for Sparse<BITS> {}

impl<const BITS: u32> Sparse<BITS> {
    /// Packs the histogram into a quarter of the memory, until the next change unpacks it.
    pub fn pack(&mut self) {
        if let BucketStorage::Open(_) = self.0 {
            let mut bytes = Vec::new();
            let mut last = 0;
            for (bucket, count) in self.entries() {
                put_number(&mut bytes, (bucket - last) as u64);
                put_number(&mut bytes, count);
                last = bucket;
            }
            self.0 = BucketStorage::Packed(bytes.into());
        }
    }

    /// Unpacks the buckets and returns them for a change.
    fn open(&mut self) -> &mut Vec<u64> {
        if let BucketStorage::Packed(_) = self.0 {
            let entries = self.entries();
            self.0 = BucketStorage::Open(
                entries
                    .map(|(bucket, count)| entry(bucket, count))
                    .collect(),
            );
        }
        match &mut self.0 {
            BucketStorage::Open(entries) => entries,
            BucketStorage::Packed(_) => unreachable!("it was opened"),
        }
    }

    /// Approximate memory of the buckets in use, in bytes.
    pub fn bytes(&self) -> usize {
        match &self.0 {
            BucketStorage::Open(entries) => size_of_val(&**entries),
            BucketStorage::Packed(bytes) => bytes.len(),
        }
    }

    /// Counts one value. Allocates only for a bucket that is not in use yet, or to unpack.
    pub fn record(&mut self, value: u64) {
        self.add(bucket(value, BITS), 1);
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &Sparse<BITS>) {
        self.merge_entries(other.entries());
    }

    /// Adds the counts of a histogram of a finer resolution.
    pub(crate) fn merge_finer<const FINER: u32>(&mut self, other: &Sparse<FINER>) {
        const { assert!(FINER >= BITS) };
        for (fine, count) in other.entries() {
            self.add(bucket(bounds(fine, FINER).0, BITS), count);
        }
    }

    /// Adds sorted buckets and their counts.
    pub(crate) fn merge_entries(&mut self, other: impl Iterator<Item = (usize, u64)>) {
        let mut other = other.peekable();
        let entries = self.open();
        if entries.is_empty() {
            entries.extend(other.map(|(bucket, count)| entry(bucket, count)));
            return;
        }
        let mut merged = Vec::with_capacity(entries.len() + other.size_hint().0);
        for mine in entries.drain(..) {
            let mut mine = mine;
            while let Some(&(bucket, count)) = other.peek() {
                match (bucket as u64).cmp(&(mine >> COUNT_BITS)) {
                    Ordering::Less => merged.push(entry(bucket, count)),
                    Ordering::Equal => mine = plus(mine, count),
                    Ordering::Greater => break,
                }
                other.next();
            }
            merged.push(mine);
        }
        merged.extend(other.map(|(bucket, count)| entry(bucket, count)));
        *entries = merged;
    }

    fn add(&mut self, bucket: usize, count: u64) {
        let entries = self.open();
        let key = entry(bucket, 0);
        let at = entries.partition_point(|entry| *entry < key);
        match entries
            .get_mut(at)
            .filter(|entry| **entry >> COUNT_BITS == bucket as u64)
        {
            Some(entry) => *entry = plus(*entry, count),
            None => entries.insert(at, key | count.min(COUNT_MASK)),
        }
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.bytes() == 0
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        let counts = self.entries().map(|(_, count)| count);
        counts.fold(0, u64::saturating_add)
    }

    /// The buckets in use, in order: the lowest and the highest value of each, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.entries().map(|(bucket, count)| {
            let (lowest, highest) = bounds(bucket, BITS);
            (lowest, highest, count)
        })
    }

    /// The value below which `percent` per cent of all values lie, assuming an even spread within a bucket; `None` without
    /// values.
    pub fn percentile(&self, percent: f64) -> Option<f64> {
        percentile_of(self.buckets(), self.count(), percent)
    }

    /// The buckets in use and their counts, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let (mut open, mut packed) = match &self.0 {
            BucketStorage::Open(entries) => (entries.iter(), &[][..]),
            BucketStorage::Packed(bytes) => ([].iter(), &**bytes),
        };
        let mut last = 0;
        std::iter::from_fn(move || {
            if let Some(entry) = open.next() {
                return Some(((entry >> COUNT_BITS) as usize, entry & COUNT_MASK));
            }
            last += take_number(&mut packed)? as usize;
            Some((last, take_number(&mut packed)?))
        })
    }
}

/// Packs a bucket and its count into one number.
fn entry(bucket: usize, count: u64) -> u64 {
    (bucket as u64) << COUNT_BITS | count.min(COUNT_MASK)
}

/// Adds `count` to the entry, saturating at its maximum.
fn plus(entry: u64, count: u64) -> u64 {
    let sum = (entry & COUNT_MASK).saturating_add(count).min(COUNT_MASK);
    entry & !COUNT_MASK | sum
}

/// The value below which `percent` per cent of `all` values lie, given sorted buckets (lowest value, highest value, count). It
/// assumes an even spread within a bucket; `None` without values.
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

impl<const BITS: u32> Serialize for Sparse<BITS> {
    /// Pairs of numbers in human-readable formats, [bits] in binary ones.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return write_pairs(self.entries(), serializer);
        }
        let entries: Vec<_> = self.entries().collect();
        serializer.serialize_bytes(&bits::write(&entries))
    }
}

impl<'de, const BITS: u32> Deserialize<'de> for Sparse<BITS> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Sparse<BITS>, D::Error> {
        if !deserializer.is_human_readable() {
            return deserializer.deserialize_bytes(Bits::<BITS>);
        }
        let pairs = read_pairs(deserializer)?;
        let mut all = Sparse::default();
        for (bucket, count) in pairs {
            all.add(bucket, count);
        }
        Ok(all)
    }
}

/// Deserializes the output of [`bits::write`].
struct Bits<const BITS: u32>;

impl<const BITS: u32> Visitor<'_> for Bits<BITS> {
    type Value = Sparse<BITS>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a packed histogram")
    }

    fn visit_bytes<E: serde::de::Error>(self, bytes: &[u8]) -> Result<Sparse<BITS>, E> {
        let highest = bucket(u64::MAX, BITS);
        let entries = bits::read(bytes, highest)
            .ok_or_else(|| E::custom("a histogram is damaged"))?
            .into_iter();
        Ok(Sparse(BucketStorage::Open(
            entries
                .map(|(bucket, count)| entry(bucket, count))
                .collect(),
        )))
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
    fn packed_histograms_take_a_quarter_of_the_memory() {
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
            packed.add(bucket(7, 5), COUNT_MASK - 100);
            let mut open = packed.clone();
            packed.pack();
            prop_assert_eq!(&packed, &open);
            right.iter().for_each(|&value| open.record(value));
            right.iter().for_each(|&value| packed.record(value));
            prop_assert_eq!(packed, open);
        }

        #[test]
        fn sparse_histograms_read_back_as_they_were_written(values in prop::collection::vec(any::<u64>(), 0..50)) {
            let all = of(&values);
            let text = serde_json::to_string(&all).expect("numbers can be written");
            prop_assert_eq!(serde_json::from_str::<Sparse>(&text).expect("what was written can be read"), all);
        }
    }
}
