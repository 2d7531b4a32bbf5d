//! A compact bit encoding of a histogram's buckets, for increments that are sent over the network or appended to run
//! files.
//!
//! The encoding starts with the number of buckets, the first bucket and a shift `k`. Each further bucket is the distance
//! from its predecessor, minus one, as an exponential Golomb code of order `k`. The writer derives `k` from the mean
//! distance. Steady times therefore cost four or five bits a bucket, and an outlier costs about thirty bits instead of
//! thousands. Each count, minus one, is a code of order 0: a bucket with a single value costs one bit.

/// The largest count; see `buckets::COUNT_BITS`.
const MOST: u64 = (1 << 48) - 1;
/// The largest shift: distances between buckets are below 2^16.
const MOST_SHIFT: u32 = 16;

/// Encodes buckets and their counts. The entries are sorted and no count is 0.
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

/// Decodes the output of [`write`]; `None` if it is damaged or contains a bucket above `highest`.
pub(crate) fn read(mut bytes: &[u8], highest: usize) -> Option<Vec<(usize, u64)>> {
    let length = take_number(&mut bytes)?;
    if length == 0 {
        return bytes.is_empty().then(Vec::new);
    }
    let mut bucket = take_number(&mut bytes)?;
    let (&shift, rest) = bytes.split_first()?;
    // Each bucket takes at least two bits, except the first, which takes at least one.
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

/// Appends a number as a varint: seven bits a byte, lowest first; the top bit is clear in the last byte.
pub(crate) fn put_number(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

/// Reads a number that [`put_number`] wrote; `None` at the end of the input.
pub(crate) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let length = bytes.iter().take(10).position(|byte| byte & 0x80 == 0)? + 1;
    let (digits, rest) = bytes.split_at(length);
    *bytes = rest;
    Some(digits.iter().rev().fold(0, add))
}

fn add(number: u64, byte: &u8) -> u64 {
    number << 7 | u64::from(byte & 0x7f)
}

struct BitWriter {
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, lowest first.
    hold: u64,
    held: u32,
}

impl BitWriter {
    /// Appends the lowest `length` bits of `value`; `length` is at most 56.
    fn put(&mut self, value: u64, length: u32) {
        self.hold |= value << self.held;
        self.held += length;
        while self.held >= 8 {
            self.bytes.push(self.hold as u8);
            self.hold >>= 8;
            self.held -= 8;
        }
    }

    /// Appends an exponential Golomb code: a zero for each binary digit of the part above the shift except the first,
    /// then that part, then the bits below the shift.
    fn golomb(&mut self, value: u64, shift: u32) {
        let above = (value >> shift) + 1;
        let digits = above.ilog2();
        self.put(0, digits);
        // The highest digit is always one and comes first.
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
    /// Index of the next bit.
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
            // `put` never writes more than 48 bits at once.
            if digits > 48 {
                return None;
            }
        }
        let above = 1 << digits | self.take(digits)?;
        let below = self.take(shift)?;
        Some((above - 1) << shift | below)
    }

    /// Whether only the unused bits of the last byte remain.
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
        // Six and a quarter bits a bucket.
        assert_eq!(write(&entries).len(), 702);
        assert_eq!(write(&[]), [0]);
        assert_eq!(write(&[(3, 1)]), [1, 3, 0, 1]);
    }

    proptest! {
        #[test]
        fn bits_read_back_as_they_were_written(mut buckets in prop::collection::btree_map(0..HIGHEST, 1..MOST, 0..60)) {
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
