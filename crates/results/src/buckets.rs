//! Histogram buckets: exact for small values, then a fixed number per power of two. Also defines how bucket counts are
//! serialized.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Number of low bits that hold the count in a packed entry; this limits the count of a bucket.
pub(crate) const COUNT_BITS: u32 = 48;
/// An upper bound of bucket numbers, at every precision in use.
const LAST_BUCKET: usize = 1 << 16;

/// The bucket of a value where each power of two is cut into `1 << bits` buckets.
pub(crate) fn bucket(value: u64, bits: u32) -> usize {
    if value < 1 << bits {
        return value as usize;
    }
    let shift = 63 - value.leading_zeros() - bits;
    ((shift as usize) << bits) + (value >> shift) as usize
}

/// The lowest and the highest value of a bucket.
pub(crate) fn bounds(bucket: usize, bits: u32) -> (u64, u64) {
    if bucket < 2 << bits {
        return (bucket as u64, bucket as u64);
    }
    let shift = (bucket >> bits) - 1;
    let lowest = ((bucket - (shift << bits)) as u64) << shift;
    (lowest, lowest + ((1 << shift) - 1))
}

/// Serializes buckets and counts alternately, each bucket as the distance from its predecessor.
pub(crate) fn write_pairs<S: Serializer>(
    pairs: impl Iterator<Item = (usize, u64)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut last = 0;
    serializer.collect_seq(pairs.flat_map(|(bucket, count)| {
        let distance = (bucket - std::mem::replace(&mut last, bucket)) as u64;
        [distance, count]
    }))
}

pub(crate) fn read_pairs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Vec<(usize, u64)>, D::Error> {
    let flat = Vec::<u64>::deserialize(deserializer)?;
    let mut bucket = 0usize;
    let mut pairs = Vec::with_capacity(flat.len() / 2);
    for pair in flat.chunks(2) {
        let [distance, count] = *pair else {
            return Err(D::Error::custom("a bucket has no count"));
        };
        bucket = bucket.saturating_add(distance as usize);
        if bucket >= LAST_BUCKET || count >> COUNT_BITS != 0 {
            return Err(D::Error::custom("a bucket is out of range"));
        }
        pairs.push((bucket, count));
    }
    Ok(pairs)
}

/// Buckets and their counts, in order.
pub(crate) struct Pairs(pub Vec<(usize, u64)>);

impl Serialize for Pairs {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        write_pairs(self.0.iter().copied(), serializer)
    }
}

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Pairs, D::Error> {
        read_pairs(deserializer).map(Pairs)
    }
}
