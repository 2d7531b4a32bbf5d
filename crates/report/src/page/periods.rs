//! The times of each label in periods, so that the page can compute percentiles and distributions of any part of the run.

use std::collections::BTreeMap;

use drumfire_results::{Cell, Timeline};

/// The buckets per power of two: each is 4.4 % wide.
const BUCKETS: f64 = 16.0;
/// The most periods of a label, and the most buckets that a page holds for all labels together. If there would be more, the periods
/// are made longer.
const MOST_PERIODS: i64 = 120;
const MOST_BUCKETS: usize = 12_000;

/// The periods of a label as one list: for each period with samples the distance to the one before, the number of buckets, and for
/// each bucket the distance to the one before and its count. Bucket `n` begins at 2^(n/16) µs.
pub type Periods = Vec<u64>;

/// The length of a period in seconds, and the periods of the labels at these places.
pub fn periods(timeline: &Timeline, places: &[usize]) -> (u32, Vec<Periods>) {
    let ends = |of: fn(&[Cell]) -> Option<&Cell>| {
        let cells = places
            .iter()
            .filter_map(move |&place| of(timeline.label(place)));
        cells.map(|cell| cell.at)
    };
    let (first, last) = (
        ends(|cells| cells.first()).min(),
        ends(|cells| cells.last()).max(),
    );
    let steps = last.unwrap_or(0) - first.unwrap_or(0) + 1;
    let mut factor = (steps + MOST_PERIODS - 1) / MOST_PERIODS;
    loop {
        let all: Vec<Periods> = places
            .iter()
            .map(|&place| of_label(timeline.label(place), factor))
            .collect();
        let numbers: usize = all.iter().map(Vec::len).sum();
        if numbers <= 2 * MOST_BUCKETS || factor >= steps {
            return (timeline.label_step_s() * factor as u32, all);
        }
        factor *= 2;
    }
}

fn of_label(cells: &[Cell], factor: i64) -> Periods {
    let mut list = Vec::new();
    let mut last = 0;
    for group in cells.chunk_by(|a, b| a.at.div_euclid(factor) == b.at.div_euclid(factor)) {
        let mut buckets: BTreeMap<u64, u64> = BTreeMap::new();
        for (lowest, highest, count) in group.iter().flat_map(|cell| cell.histogram.buckets()) {
            let middle = (lowest + highest) as f64 / 2.0;
            let bucket = (middle.max(1.0).log2() * BUCKETS).floor() as u64;
            *buckets.entry(bucket).or_insert(0) += count;
        }
        let at = group[0].at.div_euclid(factor);
        list.push((at - std::mem::replace(&mut last, at)).unsigned_abs());
        list.push(buckets.len() as u64);
        let mut before = 0;
        for (bucket, count) in buckets {
            list.push(bucket - std::mem::replace(&mut before, bucket));
            list.push(count);
        }
    }
    list
}
