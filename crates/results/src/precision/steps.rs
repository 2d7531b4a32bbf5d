//! The steps of a label, and its histogram, in forms that answer many questions quickly.

use crate::buckets::{bounds, bucket};
use crate::histogram::Histogram;
use crate::timeline::Cell;

/// The resolution of the timeline's histograms.
const STEP_BITS: u32 = 5;
/// The resolution of result files whose times are whole milliseconds, in microseconds.
const WHOLE_MS_US: f64 = 1_000.0;

/// The steps in which samples ended.
pub struct Steps {
    /// Samples of each step.
    pub counts: Vec<f64>,
    /// Sums of their times, in microseconds.
    pub sums_us: Vec<f64>,
    /// The end of each step in `buckets`.
    ends: Vec<usize>,
    /// The lowest value of each bucket, and the samples of the step in the buckets before it and in itself.
    buckets: Vec<(u64, f64, f64)>,
}

impl Steps {
    pub fn of(cells: &[&Cell]) -> Steps {
        let mut steps = Steps {
            counts: Vec::new(),
            sums_us: Vec::new(),
            ends: Vec::new(),
            buckets: Vec::new(),
        };
        for cell in cells.iter().filter(|cell| !cell.histogram.is_empty()) {
            let mut before = 0.0;
            for (low, _, count) in cell.histogram.buckets() {
                steps.buckets.push((low, before, count as f64));
                before += count as f64;
            }
            steps.counts.push(before);
            steps.sums_us.push(cell.service_us as f64);
            steps.ends.push(steps.buckets.len());
        }
        steps
    }

    /// For each step, how many more samples lie up to a time than would if all steps had the same share of them. Also returns
    /// that share.
    pub fn residuals(&self, probe: Probe) -> (Vec<f64>, f64) {
        let mut start = 0;
        let below = self.ends.iter().zip(&self.counts).map(|(&end, &count)| {
            let buckets = &self.buckets[start..end];
            start = end;
            match buckets.get(buckets.partition_point(|(low, ..)| *low < probe.bucket)) {
                Some((low, before, inside)) if *low == probe.bucket => {
                    before + probe.inside * inside
                }
                Some((_, before, _)) => *before,
                None => count,
            }
        });
        let mut residuals: Vec<f64> = below.collect();
        let all: f64 = self.counts.iter().sum();
        let share = residuals.iter().sum::<f64>() / all;
        for (below, count) in residuals.iter_mut().zip(&self.counts) {
            *below -= share * count;
        }
        (residuals, share)
    }
}

/// A time in the timeline's resolution.
#[derive(Clone, Copy)]
pub struct Probe {
    /// The lowest value of its bucket.
    bucket: u64,
    /// The share of the bucket's samples that lie up to the time.
    pub inside: f64,
    /// The number of the bucket's samples.
    pub bucket_count: f64,
}

/// The cumulative counts of a histogram.
pub struct Ranks {
    /// The lowest and the highest value of each bucket, and the samples up to its end.
    buckets: Vec<(u64, u64, f64)>,
    percentiles: [f64; super::PERCENTS.len()],
    min: f64,
    max: f64,
    is_whole_ms: bool,
}

impl Ranks {
    pub fn of(histogram: &Histogram) -> Ranks {
        let mut seen = 0.0;
        let buckets = histogram.ranges().map(|(low, high, count)| {
            seen += count as f64;
            (low, high, seen)
        });
        Ranks {
            buckets: buckets.collect(),
            percentiles: super::PERCENTS.map(|percent| histogram.percentile(percent)),
            min: histogram.min() as f64,
            max: histogram.max() as f64,
            is_whole_ms: histogram.is_whole_ms(),
        }
    }

    /// One of the percentiles with an interval.
    pub fn percentile(&self, percent: f64) -> f64 {
        let place = super::PERCENTS.iter().position(|known| *known == percent);
        self.percentiles[place.expect("only percentiles with an interval are asked for")]
    }

    /// The lowest value that the sample with this rank may have had.
    pub fn low(&self, rank: f64) -> f64 {
        let (low, ..) = self.bucket_of(rank.floor());
        match self.is_whole_ms {
            true => (low as f64 / WHOLE_MS_US).ceil() * WHOLE_MS_US - WHOLE_MS_US,
            false => (low as f64).max(self.min),
        }
        .max(0.0)
    }

    /// The highest value that the sample with this rank may have had.
    pub fn high(&self, rank: f64) -> f64 {
        let (_, high, _) = self.bucket_of(rank.ceil());
        match self.is_whole_ms {
            true => (high as f64 / WHOLE_MS_US).floor() * WHOLE_MS_US + WHOLE_MS_US,
            false => (high as f64).min(self.max),
        }
    }

    /// By how much each time may be wrong, because it was stored in whole milliseconds.
    pub fn resolution_us(&self) -> f64 {
        if self.is_whole_ms { WHOLE_MS_US } else { 0.0 }
    }

    fn bucket_of(&self, rank: f64) -> (u64, u64, f64) {
        let place = self.buckets.partition_point(|(.., seen)| *seen < rank);
        self.buckets[place.min(self.buckets.len() - 1)]
    }

    /// The number of samples in buckets whose values do not exceed this one.
    fn up_to(&self, value: u64) -> f64 {
        let place = self.buckets.partition_point(|(low, ..)| *low <= value);
        place
            .checked_sub(1)
            .map_or(0.0, |place| self.buckets[place].2)
    }

    /// A time in the timeline's resolution.
    pub fn probe(&self, us: f64) -> Probe {
        let value = us as u64;
        let (low, high) = bounds(bucket(value, STEP_BITS), STEP_BITS);
        let before = low.checked_sub(1).map_or(0.0, |below| self.up_to(below));
        let bucket_count = self.up_to(high) - before;
        let inside = (self.up_to(value) - before) / bucket_count.max(1.0);
        Probe {
            bucket: low,
            inside: inside.clamp(0.0, 1.0),
            bucket_count,
        }
    }

    /// The sum of squared distances from a value, which independent samples would have as the variance of their sum.
    pub fn squared_deviations(&self, value: f64) -> f64 {
        let mut before = 0.0;
        let squares = self.buckets.iter().map(|(low, high, seen)| {
            let count = seen - std::mem::replace(&mut before, *seen);
            count * ((*low as f64 + *high as f64) / 2.0 - value).powi(2)
        });
        squares.sum()
    }
}
