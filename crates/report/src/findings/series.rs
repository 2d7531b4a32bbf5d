//! The series that findings are computed from: a run in bins with enough samples each, and robust statistics of such bins.

use drumfire_results::{Cell, Sparse, Timeline, TotalCell};

/// The most bins of a series.
const MOST_BINS: i64 = 120;
/// The fewest bins that a rule can judge.
const FEWEST_BINS: i64 = 12;
/// How many samples a bin should have on average.
const SAMPLES_OF_BIN: u64 = 20;
/// A bin with fewer samples than this has no percentiles.
const FEWEST_SAMPLES: u64 = 5;

/// The samples that ended in a span of time; times in milliseconds.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bin {
    /// Start, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    pub count: u64,
    pub times: Sparse,
    /// `None` with few samples.
    pub p50: Option<f64>,
    pub p90: Option<f64>,
}

/// A label over time. Its first and last bins are whole.
#[derive(Clone, Debug)]
pub(super) struct Series {
    pub bin_ms: i64,
    pub bins: Vec<Bin>,
}

impl Series {
    /// The label at this place; `None` if it has too few samples for a curve.
    pub fn of_label(timeline: &Timeline, place: usize) -> Option<Series> {
        let cells = timeline.label(place);
        let (first, last) = (cells.first()?.at, cells.last()?.at);
        let steps = last - first + 1;
        let count: u64 = cells.iter().map(|cell| cell.count).sum();
        let bins = MOST_BINS
            .min(steps)
            .min((count / SAMPLES_OF_BIN).try_into().unwrap_or(MOST_BINS));
        if bins < FEWEST_BINS {
            return None;
        }
        let factor = (steps + bins - 1) / bins;
        let step_ms = i64::from(timeline.label_step_s()) * 1000;
        let of = |cell: &Cell| (cell.at - first) / factor;
        let groups = cells.chunk_by(|a, b| of(a) == of(b));
        let mut bins: Vec<Bin> = groups
            .map(|group| {
                let at_ms = (first + of(&group[0]) * factor) * step_ms;
                Bin::of(
                    at_ms,
                    group.iter().map(|cell| (cell.count, &cell.histogram)),
                )
            })
            .collect();
        trim(&mut bins, |bin| bin.count);
        let series = Series {
            bin_ms: factor * step_ms,
            bins,
        };
        (series.bins.len() as i64 >= FEWEST_BINS).then_some(series)
    }

    /// Logarithms of one of its values.
    pub fn logs(&self, value: fn(&Bin) -> Option<f64>) -> Vec<Option<f64>> {
        let bins = self.bins.iter();
        bins.map(|bin| value(bin).map(|ms| ms.max(0.001).ln()))
            .collect()
    }

    /// The percentile of all samples in these bins.
    pub fn percentile(&self, percent: f64, wanted: impl Fn(usize) -> bool) -> Option<f64> {
        let mut times = Sparse::default();
        let bins = self.bins.iter().enumerate();
        bins.filter(|(place, _)| wanted(*place))
            .for_each(|(_, bin)| times.merge(&bin.times));
        times.percentile(percent).map(|us| us / 1000.0)
    }

    pub fn start_ms(&self, place: usize) -> i64 {
        self.bins[place].at_ms
    }

    pub fn end_ms(&self, place: usize) -> i64 {
        self.bins[place].at_ms + self.bin_ms
    }
}

impl Bin {
    fn of<'c>(at_ms: i64, cells: impl Iterator<Item = (u64, &'c Sparse)>) -> Bin {
        let (mut count, mut times) = (0, Sparse::default());
        for (samples, histogram) in cells {
            count += samples;
            times.merge(histogram);
        }
        let percentile = |percent| {
            let us = times.percentile(percent)?;
            (count >= FEWEST_SAMPLES).then_some(us / 1000.0)
        };
        Bin {
            at_ms,
            count,
            p50: percentile(50.0),
            p90: percentile(90.0),
            times,
        }
    }
}

/// The whole run in a span of time.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    pub at_ms: i64,
    pub users: f64,
    /// Samples that ended, and that started, a second.
    pub rate: f64,
    pub started: f64,
    pub p50: Option<f64>,
    pub mean: Option<f64>,
    count: u64,
}

/// The whole run, in at most `most` bins of whole steps.
pub(super) fn moments(timeline: &Timeline, most: i64) -> (i64, Vec<Moment>) {
    let cells = timeline.total();
    let (Some(first), Some(last)) = (cells.first(), cells.last()) else {
        return (1, Vec::new());
    };
    let (first, steps) = (first.ended.at, last.ended.at - first.ended.at + 1);
    let factor = (steps + most - 1) / most;
    let step_ms = i64::from(timeline.total_step_s()) * 1000;
    let of = |cell: &TotalCell| (cell.ended.at - first) / factor;
    let groups = cells.chunk_by(|a, b| of(a) == of(b));
    let seconds = (factor * step_ms) as f64 / 1000.0;
    let mut moments: Vec<Moment> = groups
        .map(|group| {
            let ended = group
                .iter()
                .map(|cell| (cell.ended.count, &cell.ended.histogram));
            let bin = Bin::of((first + of(&group[0]) * factor) * step_ms, ended);
            let service_us: u64 = group.iter().map(|cell| cell.ended.service_us).sum();
            let started: u64 = group.iter().map(|cell| cell.started).sum();
            let users = group.iter().map(|cell| cell.users).max().unwrap_or(0);
            Moment {
                at_ms: bin.at_ms,
                users: users.into(),
                rate: bin.count as f64 / seconds,
                started: started as f64 / seconds,
                p50: bin.p50,
                mean: (bin.count > 0).then(|| service_us as f64 / 1000.0 / bin.count as f64),
                count: bin.count,
            }
        })
        .collect();
    trim(&mut moments, |moment| moment.count);
    (factor * step_ms, moments)
}

/// Leaves out the first and the last bin if the run covers only a part of them.
fn trim<T>(bins: &mut Vec<T>, count: fn(&T) -> u64) {
    let usual = median(bins.iter().map(|bin| count(bin) as f64)).unwrap_or(0.0);
    let is_part = |bin: Option<&T>| bin.is_some_and(|bin| (count(bin) as f64) < usual / 2.0);
    if is_part(bins.last()) {
        bins.pop();
    }
    if is_part(bins.first()) {
        bins.remove(0);
    }
}

/// The value below which this share of the values lies.
pub(super) fn quantile(values: impl Iterator<Item = f64>, share: f64) -> Option<f64> {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[(share * last as f64).round() as usize])
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    quantile(values, 0.5)
}

/// The noise of a series: the standard deviation from one value to the next, which steps and slow changes do not enlarge.
pub(super) fn noise(values: &[Option<f64>]) -> f64 {
    let measured: Vec<f64> = values.iter().flatten().copied().collect();
    let changes = measured.windows(2).map(|pair| (pair[1] - pair[0]).abs());
    median(changes).unwrap_or(0.0) * 1.4826 / std::f64::consts::SQRT_2
}

/// Slope and intercept of the least squares line, and the sum of the squared distances from it.
pub(super) fn line(points: &[(f64, f64)]) -> (f64, f64, f64) {
    let n = points.len().max(1) as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / n;
    let (x, y) = (mean(|p| p.0), mean(|p| p.1));
    let spread: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let common: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = if spread > 0.0 { common / spread } else { 0.0 };
    let rest = points.iter().map(|p| (p.1 - y - slope * (p.0 - x)).powi(2));
    (slope, y - slope * x, rest.sum())
}
