//! The statistics of the later part of a run.

use crate::buckets::bucket;
use crate::distribution::Distribution;
use crate::histogram::{BUCKET_BITS, Histogram};
use crate::phases::Phases;
use crate::sparse::{COARSE_BITS, Sparse};
use crate::statistics::{LabelStatistics, Recording};
use crate::timeline::Cell;

impl Recording {
    /// The samples that ended from this time on, in milliseconds since the Unix epoch; a step of the timeline that the time divides is
    /// left out. Counts, sums and means are exact. Percentiles and extremes are within 4 %, because the timeline has coarser buckets: their counts
    /// are spread over those of the whole run. Failures by kind remain those of the whole run; response times from the intended
    /// start, the generator's own part and traces are not known for a part.
    pub fn since(&self, from_ms: i64) -> Recording {
        let mut rest = self.clone();
        rest.timeline.retain_from(from_ms);
        for place in 0..rest.labels.len() {
            let cells = rest.timeline.label(place);
            rest.labels[place] = since(&self.labels[place], cells, from_ms);
        }
        rest
    }
}

fn since(whole: &LabelStatistics, cells: &[Cell], from_ms: i64) -> LabelStatistics {
    let mut rest = LabelStatistics::new(whole.label.clone(), whole.transaction);
    let (mut times, mut sum_us, mut phases) = (Sparse::default(), 0, Phases::default());
    for cell in cells {
        rest.count += cell.count;
        rest.errors += cell.errors;
        rest.bytes += cell.bytes;
        rest.sent_bytes += cell.sent_bytes;
        times.merge(&cell.histogram);
        sum_us += u128::from(cell.service_us);
        phases.add(cell.phases);
    }
    rest.phases = phases;
    rest.service.absorb(&spread(&whole.service, &times, sum_us));
    if rest.count > 0 {
        rest.first_start_ms = whole.first_start_ms.max(from_ms);
        rest.last_end_ms = whole.last_end_ms;
    }
    rest
}

/// The counts of coarse buckets, spread over the finer buckets of the whole run in proportion to their counts there.
fn spread(whole: &Histogram, coarse: &Sparse, sum: u128) -> Distribution {
    let ranges: Vec<(u64, u64, u64)> = whole.ranges().collect();
    let coarse_of = |range: &(u64, u64, u64)| bucket(range.0, COARSE_BITS);
    let mut counts = coarse.entries().peekable();
    let mut part = Distribution::default();
    let mut counted: Vec<(u64, u64, u64)> = Vec::new();
    for group in ranges.chunk_by(|a, b| coarse_of(a) == coarse_of(b)) {
        let coarse_bucket = coarse_of(&group[0]);
        while counts
            .next_if(|(known, _)| *known < coarse_bucket)
            .is_some()
        {}
        let Some((_, count)) = counts.next_if(|(known, _)| *known == coarse_bucket) else {
            continue;
        };
        let all: u64 = group.iter().map(|(_, _, count)| count).sum();
        let share = |so_far: u64| (u128::from(so_far) * u128::from(count) / u128::from(all)) as u64;
        let mut so_far = 0;
        for &(lowest, highest, own) in group {
            let taken = share(so_far + own) - share(so_far);
            so_far += own;
            if taken > 0 {
                counted.push((lowest, highest, taken));
            }
        }
    }
    let entries = counted
        .iter()
        .map(|&(lowest, _, count)| (bucket(lowest, BUCKET_BITS), count));
    part.buckets.merge_entries(entries);
    if let (Some(first), Some(last)) = (counted.first(), counted.last()) {
        (part.min, part.max) = (first.0.max(whole.min()), last.1.min(whole.max()));
        part.sum = sum;
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::Sample;

    /// Ten slow seconds and forty quick ones, with 50 samples each.
    fn recording() -> Recording {
        let mut recording = Recording::default();
        for place in 0..2_500i64 {
            let second = place / 50;
            let mut sample = Sample::new("Home".into(), "t".into());
            sample.set_ok();
            sample.success = place % 100 != 0;
            sample.bytes = 10;
            sample.start_ms = 100_000 + second * 1_000 + place % 50;
            let slow = if second < 10 { 200 } else { 0 };
            sample.set_end(sample.start_ms + 40 + place * 7 % 61 + slow);
            recording.add(&sample);
        }
        recording
    }

    #[test]
    fn a_later_part_has_its_own_numbers() {
        let whole = recording();
        let rest = whole.since(110_000);
        let row = rest.labels[0].row();
        assert_eq!((row.count, row.errors), (2_000, 20));
        assert_eq!(rest.labels[0].bytes, 20_000);
        assert!((row.min_ms / 40.0 - 1.0).abs() < 0.001, "{}", row.min_ms);
        assert!((row.max_ms / 100.0 - 1.0).abs() < 0.001, "{}", row.max_ms);
        assert!((row.mean_ms - 70.0).abs() < 0.2, "{}", row.mean_ms);
        for (percent, exact_ms) in [(50.0, 70.0), (95.0, 97.0), (99.0, 100.0)] {
            let ms = rest.labels[0].service.percentile_ms(percent);
            assert!((ms / exact_ms - 1.0).abs() < 0.04, "{percent}: {ms}");
        }
        // From the beginning of the part to the end of the last sample.
        let seconds = (whole.labels[0].last_end_ms - 110_000) as f64 / 1000.0;
        assert_eq!(row.throughput_per_s, 2_000.0 / seconds);
        assert_eq!(rest.timeline.total().len(), 40);
        let precision = rest.precision(0);
        assert!(precision.percentile_ms(50.0).is_some());
    }

    #[test]
    fn a_part_that_begins_before_the_run_is_the_whole() {
        let whole = recording();
        let rest = whole.since(0);
        assert_eq!(rest.labels[0].service, whole.labels[0].service);
        assert_eq!(rest.labels[0].count, whole.labels[0].count);
        let nothing = whole.since(i64::MAX / 2);
        assert_eq!(nothing.labels[0].row().count, 0);
    }
}
