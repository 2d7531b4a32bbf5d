//! Buckets of a histogram as few bits: what increments send over the network and append to run files.
//!
//! The number of buckets, the first bucket and a shift `k` come first. Each further bucket is its distance from the one
//! before, less one, as an exponential Golomb code of order `k`; `k` follows the mean distance, so steady times take four
//! or five bits a bucket, and one outlier costs some thirty bits and not thousands. Each count, less one, is a code of
//! order 0: one bit for a bucket with one value.

/// No count is larger; see `buckets::COUNT_BITS`.
const MOST: u64 = (1 << 48) - 1;
/// Distances of buckets are below 2^16, so no shift is larger.
const MOST_SHIFT: u32 = 16;

/// Writes buckets and counts, which are in order and not 0.
pub(crate) fn write(entries: &[(usize, u64)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    put_number(&mut bytes, entries.len() as u64);
    let (Some(&(first, _)), Some(&(last, _))) = (entries.first(), entries.last()) else {
        return bytes;
    };
    put_number(&mut bytes, first as u64);
    let shift = ((last - first) / entries.len()).max(1).ilog2();
    bytes.push(shift as u8);
    let mut out = BitWriter {
        bytes,
        hold: 0,
        held: 0,
    };
    let mut before = None;
    for &(bucket, count) in entries {
        if let Some(before) = before.replace(bucket) {
            out.golomb((bucket - before - 1) as u64, shift);
        }
        out.golomb(count.saturating_sub(1), 0);
    }
    out.finish()
}

/// Reads what [`write`] has written; none if it is damaged. No bucket is above `highest`.
pub(crate) fn read(mut bytes: &[u8], highest: usize) -> Option<Vec<(usize, u64)>> {
    let length = take_number(&mut bytes)?;
    if length == 0 {
        return bytes.is_empty().then(Vec::new);
    }
    let mut bucket = take_number(&mut bytes)?;
    let (&shift, rest) = bytes.split_first()?;
    // Each bucket takes two bits at least, but the first, which takes one.
    if u32::from(shift) > MOST_SHIFT || length > rest.len() as u64 * 4 + 1 {
        return None;
    }
    let mut input = BitReader { bytes: rest, at: 0 };
    let mut entries = Vec::with_capacity(length as usize);
    for place in 0..length {
        if place > 0 {
            let distance = input.golomb(u32::from(shift))?.checked_add(1)?;
            bucket = bucket.checked_add(distance)?;
        }
        let count = input.golomb(0)?.checked_add(1)?;
        if bucket > highest as u64 || count > MOST {
            return None;
        }
        entries.push((bucket as usize, count));
    }
    input.is_done().then_some(entries)
}

/// Appends a number as seven bits a byte, the lowest first; the last byte lacks its top bit.
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number that [`put_number`] has written; none at the end.
pub(crate) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let length = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let (own, rest) = bytes.split_at(length);
    *bytes = rest;
    let add = |number: u64, byte: &u8| number << 7 | u64::from(byte & 0x7f);
    Some(own.iter().rev().fold(0, add))
}

struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, the first one the lowest.
    hold: u64,
    held: u32,
}

impl BitWriter {
    /// The lowest `length` bits of `value`, at most 56.
    fn put(&mut self, value: u64, length: u32) {
        self.hold |= value << self.held;
        self.held += length;
        while self.held >= 8 {
            self.bytes.push(self.hold as u8);
            self.hold >>= 8;
            self.held -= 8;
        }
    }

    /// As many zeros as the number above the shift has binary digits less one, that number, the bits below the shift.
    fn golomb(&mut self, value: u64, shift: u32) {
        let above = (value >> shift) + 1;
        let digits = above.ilog2();
        self.put(0, digits);
        // The highest digit is a one, and comes first.
        self.put(1, 1);
        self.put(above & !(1 << digits), digits);
        self.put(value & ((1 << shift) - 1), shift);
    }

    fn finish(mut self) -> Vec<u8> {
        if self.held > 0 {
            self.bytes.push(self.hold as u8);
        }
        self.bytes
    }
}

struct BitReader<'a> {
    bytes: &'a [u8],
    /// The next bit.
    at: usize,
}

impl BitReader<'_> {
    fn bit(&mut self) -> Option<u64> {
        let byte = self.bytes.get(self.at / 8)?;
        let bit = byte >> (self.at % 8) & 1;
        self.at += 1;
        Some(u64::from(bit))
    }

    fn take(&mut self, length: u32) -> Option<u64> {
        (0..length).try_fold(0, |value, place| Some(value | self.bit()? << place))
    }

    fn golomb(&mut self, shift: u32) -> Option<u64> {
        let mut digits = 0;
        while self.bit()? == 0 {
            digits += 1;
            // `put` takes no more bits at once.
            if digits > 48 {
                return None;
            }
        }
        let above = 1 << digits | self.take(digits)?;
        let below = self.take(shift)?;
        Some((above - 1) << shift | below)
    }

    /// Nothing follows but the unused bits of the last byte.
    fn is_done(&self) -> bool {
        self.at.div_ceil(8) == self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HIGHEST: usize = 60_000;

    #[test]
    fn steady_times_take_few_bits() {
        let entries: Vec<_> = (0..900)
            .map(|i| (9_000 + i * 5, 1 + u64::from(i % 10 == 0)))
            .collect();
        // Six bits and a quarter for each.
        assert_eq!(write(&entries).len(), 702);
        assert_eq!(write(&[]), [0]);
        assert_eq!(write(&[(3, 1)]), [1, 3, 0, 1]);
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(mut buckets in prop::collection::btree_map(0..HIGHEST, 1..MOST, 0..60)) {
            buckets.insert(HIGHEST, MOST);
            let entries: Vec<_> = buckets.into_iter().collect();
            prop_assert_eq!(read(&write(&entries), HIGHEST), Some(entries));
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            if let Some(entries) = read(&bytes, HIGHEST) {
                prop_assert!(entries.len() <= bytes.len() * 4 + 1);
                prop_assert!(entries.windows(2).all(|pair| pair[0].0 < pair[1].0));
                prop_assert!(entries.iter().all(|(bucket, _)| *bucket <= HIGHEST));
            }
        }
    }
}
