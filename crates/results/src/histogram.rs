//! Histograms for whole runs: three significant digits, exact extremes, and memory only for the magnitudes that occur.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::buckets::{Pairs, bounds, bucket};
use crate::distribution::Distribution;

/// Each power of two is divided into `1 << BUCKET_BITS` buckets, so a bucket is at most 0.1 % wide.
pub(crate) const BUCKET_BITS: u32 = 10;
/// Number of buckets allocated together. A page begins with a byte a bucket, so that a label with steady times stays small.
const SLOTS: usize = 128;

/// Counts of values such as microseconds. Values below 2,048 are exact, larger ones to within 0.1 %.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// Buckets in order: `BUCKETS` for the values below that number, then the same number for each power of two.
    pages: Vec<Page>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

/// The counts of neighbouring buckets, as wide as the largest of them needs. A label whose times are spread over many buckets
/// has few samples in most, so that an hour at hundreds of labels takes a byte or two a bucket instead of eight.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Page {
    #[default]
    Empty,
    U8(Box<[u8; SLOTS]>),
    U16(Box<[u16; SLOTS]>),
    U32(Box<[u32; SLOTS]>),
    U64(Box<[u64; SLOTS]>),
}

impl Page {
    /// The count of a bucket.
    fn get(&self, slot: usize) -> u64 {
        match self {
            Page::Empty => 0,
            Page::U8(counts) => u64::from(counts[slot]),
            Page::U16(counts) => u64::from(counts[slot]),
            Page::U32(counts) => u64::from(counts[slot]),
            Page::U64(counts) => counts[slot],
        }
    }

    /// Adds to the count of a bucket.
    #[inline]
    fn add(&mut self, slot: usize, count: u64) {
        let fits = match self {
            Page::U8(counts) => add_to(&mut counts[slot], count),
            Page::U16(counts) => add_to(&mut counts[slot], count),
            Page::U32(counts) => add_to(&mut counts[slot], count),
            Page::U64(counts) => {
                counts[slot] = counts[slot].saturating_add(count);
                true
            }
            Page::Empty => false,
        };
        if !fits {
            self.widen(slot, count);
        }
    }

    /// Adds to a count that the page has no room for.
    #[cold]
    fn widen(&mut self, slot: usize, count: u64) {
        let sum = self.get(slot).saturating_add(count);
        let mut counts = std::array::from_fn(|slot| self.get(slot));
        counts[slot] = sum;
        *self = if sum <= u64::from(u8::MAX) {
            Page::U8(Box::new(counts.map(|count| count as u8)))
        } else if sum <= u64::from(u16::MAX) {
            Page::U16(Box::new(counts.map(|count| count as u16)))
        } else if sum <= u64::from(u32::MAX) {
            Page::U32(Box::new(counts.map(|count| count as u32)))
        } else {
            Page::U64(Box::new(counts))
        };
    }

    /// The buckets in use and their counts, in order.
    fn used(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> + '_ {
        let slots = match self {
            Page::Empty => 0..0,
            _ => 0..SLOTS,
        };
        let counts = slots.map(|slot| (slot, self.get(slot)));
        counts.filter(|(_, count)| *count > 0)
    }
}

/// Adds to a count if the sum fits.
#[inline]
fn add_to<T: Copy + Into<u64> + TryFrom<u64>>(own: &mut T, count: u64) -> bool {
    match T::try_from((*own).into().saturating_add(count)) {
        Ok(sum) => {
            *own = sum;
            true
        }
        Err(_) => false,
    }
}

impl Histogram {
    /// An empty histogram; the first value allocates.
    pub fn new() -> Histogram {
        Histogram::default()
    }

    /// Counts one value. Allocates only for the first value in a page of buckets.
    pub fn record(&mut self, value: u64) {
        self.min = if self.count == 0 {
            value
        } else {
            self.min.min(value)
        };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += u128::from(value);
        let (page, slot) = page_and_slot(value);
        self.page_mut(page).add(slot, 1);
    }

    /// Adds everything `other` has counted.
    pub fn merge(&mut self, other: &Histogram) {
        if other.count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.count += other.count;
        self.sum += other.sum;
        // Pages of `other` beyond its extremes are empty, whether allocated or not.
        let (first, last) = (page_and_slot(other.min).0, page_and_slot(other.max).0);
        for (index, page) in other.pages.iter().enumerate().take(last + 1).skip(first) {
            if !matches!(page, Page::Empty) {
                let mine = self.page_mut(index);
                page.used().for_each(|(slot, count)| mine.add(slot, count));
            }
        }
    }

    /// Adds the values of an increment.
    pub fn absorb(&mut self, other: &Distribution) {
        let count = other.count();
        if count == 0 {
            return;
        }
        self.min = if self.count == 0 {
            other.min
        } else {
            self.min.min(other.min)
        };
        self.max = self.max.max(other.max);
        self.count = self.count.saturating_add(count);
        self.sum = self.sum.saturating_add(other.sum);
        for (bucket, count) in other.buckets.entries() {
            self.page_mut(bucket / SLOTS).add(bucket % SLOTS, count);
        }
    }

    /// How many values were counted.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The smallest value, exactly; 0 without values.
    pub fn min(&self) -> u64 {
        self.min
    }

    /// The largest value, exactly; 0 without values.
    pub fn max(&self) -> u64 {
        self.max
    }

    /// The mean, from the exact sum; 0 without values.
    pub fn mean(&self) -> f64 {
        if self.count == 0 {
            0.0
        } else {
            self.sum as f64 / self.count as f64
        }
    }

    /// The value that `percent` per cent of all values do not exceed, accurate to 0.1 %; 0 without values. It interpolates
    /// between neighbours as JMeter does (`DescriptiveStatistics#getPercentile`, Commons Math's estimation type LEGACY).
    /// All reported percentiles come from here.
    pub fn percentile(&self, percent: f64) -> f64 {
        let position = percent * (self.count as f64 + 1.0) / 100.0;
        if self.count == 0 || position < 1.0 {
            return self.min as f64;
        }
        if position >= self.count as f64 {
            return self.max as f64;
        }
        let rank = position.floor();
        let (lower, upper) = self.neighbours(rank as u64);
        lower + (position - rank) * (upper - lower)
    }

    /// [`Histogram::percentile`] of microseconds, in milliseconds.
    pub fn percentile_ms(&self, percent: f64) -> f64 {
        self.percentile(percent) / 1000.0
    }

    /// The value with this rank, counted from 1, and its successor in sorted order.
    fn neighbours(&self, rank: u64) -> (f64, f64) {
        let mut seen = 0;
        let mut lower = None;
        for (bucket, count) in self.used() {
            let value = |rank: u64| self.value(bucket, count, rank - seen);
            if lower.is_none() && seen + count >= rank {
                lower = Some(value(rank));
            }
            if let Some(lower) = lower
                && seen + count > rank
            {
                return (lower, value(rank + 1));
            }
            seen += count;
        }
        let max = self.max as f64;
        (lower.unwrap_or(max), max)
    }

    /// The value with this rank, counted from 1, within a bucket, whose values are assumed to be evenly spread. If all
    /// values are whole milliseconds, as in a result file, the result is too.
    fn value(&self, bucket: usize, count: u64, rank: u64) -> f64 {
        let (lowest, highest) = bounds(bucket, BUCKET_BITS);
        let width = (highest - lowest) as f64;
        let value = lowest as f64 + width * (rank as f64 - 0.5) / count as f64;
        if self.is_whole_ms() {
            let (first, last) = (lowest.div_ceil(1000) * 1000, highest / 1000 * 1000);
            if first <= last {
                let value = (value / 1000.0).round() * 1000.0;
                return value.clamp(first as f64, last as f64);
            }
        }
        value.clamp(self.min as f64, self.max as f64)
    }

    /// Whether all values are apparently whole milliseconds, judged by the sum and extremes, which are exact.
    pub(crate) fn is_whole_ms(&self) -> bool {
        self.sum.is_multiple_of(1000)
            && self.min.is_multiple_of(1000)
            && self.max.is_multiple_of(1000)
    }

    /// The buckets in use and their counts, in order.
    fn used(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let pages = self.pages.iter().enumerate();
        pages.flat_map(|(index, page)| {
            let slots = page.used();
            slots.map(move |(slot, count)| (index * SLOTS + slot, count))
        })
    }

    /// The buckets in use, in order: the lowest and the highest value of each and its count.
    pub(crate) fn ranges(&self) -> impl Iterator<Item = (u64, u64, u64)> + '_ {
        self.used().map(|(bucket, count)| {
            let (lowest, highest) = bounds(bucket, BUCKET_BITS);
            (lowest, highest, count)
        })
    }

    /// The number of values up to `limit`, with the precision of the limit's bucket.
    pub fn count_up_to(&self, limit: u64) -> u64 {
        let highest = bounds(bucket(limit, BUCKET_BITS), BUCKET_BITS).1;
        let below = self.buckets().take_while(|(value, _)| *value <= highest);
        below.map(|(_, count)| count).sum()
    }

    /// Whether all buckets lie between the extremes.
    fn extremes_fit(&self) -> bool {
        let (first, last) = (page_and_slot(self.min), page_and_slot(self.max));
        let used = self.pages.iter().enumerate().filter_map(|(index, page)| {
            let (first, last) = (page.used().next()?.0, page.used().next_back()?.0);
            Some([(index, first), (index, last)])
        });
        used.flatten().all(|slot| first <= slot && slot <= last)
    }

    /// The buckets that are not empty, in order: the highest value of each and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let used = self.used();
        used.map(|(bucket, count)| (bounds(bucket, BUCKET_BITS).1, count))
    }

    fn page_mut(&mut self, index: usize) -> &mut Page {
        if self.pages.len() <= index {
            self.pages.resize_with(index + 1, Page::default);
        }
        &mut self.pages[index]
    }
}

/// The page of a value and the slot in it.
fn page_and_slot(value: u64) -> (usize, usize) {
    let bucket = bucket(value, BUCKET_BITS);
    (bucket / SLOTS, bucket % SLOTS)
}

/// The serialized form of a histogram.
#[derive(Serialize, Deserialize)]
struct Written {
    min: u64,
    max: u64,
    /// A string, since the sum may exceed the integers that JSON readers support.
    sum: String,
    buckets: Pairs,
}

impl Serialize for Histogram {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Written {
            min: self.min,
            max: self.max,
            sum: self.sum.to_string(),
            buckets: Pairs(self.used().collect()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Histogram {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Histogram, D::Error> {
        let written = Written::deserialize(deserializer)?;
        let mut all = Histogram {
            min: written.min,
            max: written.max,
            sum: written.sum.parse().map_err(D::Error::custom)?,
            ..Histogram::default()
        };
        for (bucket, count) in written.buckets.0 {
            all.page_mut(bucket / SLOTS).add(bucket % SLOTS, count);
            all.count += count;
        }
        // Merging requires that all buckets lie within the extremes.
        if all.count > 0 && !all.extremes_fit() {
            return Err(D::Error::custom(
                "the extremes of a histogram do not fit its buckets",
            ));
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn counts_of_every_width_are_kept() {
        let mut all = Histogram::new();
        let mut sum = 0;
        for count in [1, 255, 65_535, u64::from(u32::MAX), 1 << 40] {
            all.page_mut(0).add(7, count);
            all.page_mut(0).add(9, 1);
            sum += count;
            assert_eq!(all.page_mut(0).get(7), sum);
        }
        assert_eq!(all.used().collect::<Vec<_>>(), [(7, sum), (9, 5)]);
    }

    #[test]
    fn an_empty_histogram_is_all_zeros() {
        let empty = Histogram::new();
        assert_eq!(
            (
                empty.count(),
                empty.min(),
                empty.max(),
                empty.percentile(99.0)
            ),
            (0, 0, 0, 0.0)
        );
        assert_eq!(empty.mean(), 0.0);
    }

    #[test]
    fn small_values_are_exact() {
        let mut all = Histogram::new();
        (1..=1000).for_each(|value| all.record(value));
        assert_eq!(all.percentile(50.0), 500.5);
        assert_eq!(all.percentile(99.0), 990.99);
        assert_eq!(all.percentile(100.0), 1000.0);
        assert_eq!(all.percentile(0.0), 1.0);
        assert_eq!(all.mean(), 500.5);
    }

    #[test]
    fn the_extremes_are_exact_at_any_size() {
        let mut all = Histogram::new();
        for value in [u64::MAX, 123_456_789, 0] {
            all.record(value);
        }
        assert_eq!((all.min(), all.max()), (0, u64::MAX));
        assert_eq!(all.percentile(100.0), u64::MAX as f64);
    }

    /// `Percentile.EstimationType.LEGACY` over sorted values.
    fn legacy(sorted: &[u64], percent: f64) -> f64 {
        let position = percent * (sorted.len() as f64 + 1.0) / 100.0;
        let value = |rank: f64| sorted[(rank as usize).clamp(1, sorted.len()) - 1] as f64;
        let rank = position.floor();
        value(rank) + (position - rank).clamp(0.0, 1.0) * (value(rank + 1.0) - value(rank))
    }

    proptest! {
        #[test]
        fn percentiles_are_within_a_thousandth(mut values in prop::collection::vec(0u64..1 << 40, 1..200), percent in 0.0..100.0f64) {
            let mut all = Histogram::new();
            values.iter().for_each(|&value| all.record(value));
            values.sort_unstable();
            let (exact, found) = (legacy(&values, percent), all.percentile(percent));
            prop_assert!((found - exact).abs() <= exact / 1000.0, "{found} {exact}");
        }

        #[test]
        fn percentiles_of_whole_milliseconds_are_exact_up_to_a_second(
            mut values in prop::collection::vec(0u64..1_000, 1..200),
            percent in 0.0..100.0f64,
        ) {
            let mut all = Histogram::new();
            values.iter().for_each(|&value| all.record(value * 1_000));
            values.sort_unstable();
            let (exact, found) = (legacy(&values, percent) * 1_000.0, all.percentile(percent));
            prop_assert!((found - exact).abs() < 1e-6, "{found} {exact}");
        }

        #[test]
        fn histograms_read_back_as_they_were_written(values in prop::collection::vec(any::<u64>(), 0..50)) {
            let mut all = Histogram::new();
            values.iter().for_each(|&value| all.record(value));
            let text = serde_json::to_string(&all).expect("numbers can be written");
            let read: Histogram = serde_json::from_str(&text).expect("what was written can be read");
            prop_assert_eq!(read.buckets().collect::<Vec<_>>(), all.buckets().collect::<Vec<_>>());
            prop_assert_eq!((read.min(), read.max(), read.count(), read.mean()), (all.min(), all.max(), all.count(), all.mean()));
        }

        #[test]
        fn merging_is_the_same_as_recording_all(left in prop::collection::vec(any::<u64>(), 0..50), right in prop::collection::vec(any::<u64>(), 0..50)) {
            let of = |values: &[u64]| {
                let mut all = Histogram::new();
                values.iter().for_each(|&value| all.record(value));
                all
            };
            let mut merged = of(&left);
            merged.merge(&of(&right));
            let whole = of(&[left, right].concat());
            prop_assert_eq!(merged.buckets().collect::<Vec<_>>(), whole.buckets().collect::<Vec<_>>());
            prop_assert_eq!((merged.min(), merged.max(), merged.count()), (whole.min(), whole.max(), whole.count()));
        }
    }
}
