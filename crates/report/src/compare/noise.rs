//! Estimates how much of a difference the noise within the runs explains.

use drumfire_results::{Sparse, percentile_of};

use super::windows::{Window, Windows};

/// The windows that each run needs for an estimate of the noise: with fewer, no order of ranks is improbable enough.
const FEWEST_WINDOWS: usize = 6;
/// The samples that a window needs for its percentile to be ranked.
const FEWEST_SAMPLES: u64 = 3;
/// How often the windows are resampled.
const DRAWS: usize = 400;

/// The noise of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// The bounds of the 95 % interval of the change.
    pub interval: [f64; 2],
    /// The probability that chance alone produces ranks of the windows that differ this much.
    pub chance: f64,
}

/// The noise of the relative changes of percentiles.
pub fn of_percentiles<const N: usize>(
    before: &Windows,
    after: &Windows,
    percents: [f64; N],
) -> [Option<Noise>; N] {
    let sides = [used(before), used(after)];
    let ranked = percents.map(|percent| {
        sides.each_ref().map(|side| {
            let ranked = side
                .iter()
                .filter(|w| w.histogram.count() >= FEWEST_SAMPLES);
            ranked
                .filter_map(|window| window.histogram.percentile(percent))
                .collect::<Vec<f64>>()
        })
    });
    let mut tables = sides.each_ref().map(|side| Table::of(side));
    let mut random = Random::new();
    let mut changes = [(); N].map(|()| Vec::with_capacity(DRAWS));
    if ranked
        .iter()
        .flatten()
        .all(|side| side.len() >= FEWEST_WINDOWS)
    {
        for _ in 0..DRAWS {
            let [from, to] = tables.each_mut().map(|table| {
                table.draw(&mut random);
                percents.map(|percent| table.percentile(percent))
            });
            for (changes, (from, to)) in changes.iter_mut().zip(from.into_iter().zip(to)) {
                changes.extend(from.zip(to).map(|(from, to)| to / from - 1.0));
            }
        }
    }
    let mut ranked = ranked.iter();
    changes.map(|changes| noise(changes, ranked.next()?))
}

/// The buckets of all windows of a side in one row, so that drawing a window means adding its counts.
struct Table {
    /// The lowest and the highest value of each bucket.
    bounds: Vec<(u64, u64)>,
    /// For each window, the indices of its buckets and their counts.
    windows: Vec<Vec<(usize, u64)>>,
    /// The counts of the samples drawn, by bucket.
    drawn: Vec<u64>,
    /// The total of these counts.
    count: u64,
}

impl Table {
    fn of(side: &[&Window]) -> Table {
        let mut all = Sparse::default();
        side.iter().for_each(|window| all.merge(&window.histogram));
        let bounds: Vec<_> = all.buckets().map(|(low, high, _)| (low, high)).collect();
        let place = |low: u64| bounds.partition_point(|(known, _)| *known < low);
        let windows = side.iter().map(|window| {
            let buckets = window.histogram.buckets();
            buckets.map(|(low, _, count)| (place(low), count)).collect()
        });
        Table {
            windows: windows.collect(),
            drawn: vec![0; bounds.len()],
            bounds,
            count: 0,
        }
    }

    /// Draws as many windows as there are, with replacement.
    fn draw(&mut self, random: &mut Random) {
        self.drawn.fill(0);
        self.count = 0;
        for _ in 0..self.windows.len() {
            for (place, count) in &self.windows[random.below(self.windows.len())] {
                self.drawn[*place] += count;
                self.count += count;
            }
        }
    }

    fn percentile(&self, percent: f64) -> Option<f64> {
        let buckets = self
            .bounds
            .iter()
            .zip(&self.drawn)
            .map(|(&(low, high), &count)| (low, high, count));
        percentile_of(buckets, self.count, percent)
    }
}

/// The noise of the difference between shares of failed samples.
pub fn of_errors(before: &Windows, after: &Windows) -> Option<Noise> {
    of_change([used(before), used(after)], value, rank, |from, to| {
        to - from
    })
}

fn value(drawn: &[&Window]) -> Option<f64> {
    let sum = |of: fn(&Window) -> u64| drawn.iter().map(|window| of(window)).sum::<u64>() as f64;
    Some(sum(|window| window.errors) / sum(|window| window.count))
}

fn rank(window: &Window) -> Option<f64> {
    Some(window.errors as f64 / window.count as f64)
}

/// The noise of the relative change of the rate.
pub fn of_rate(before: &Windows, after: &Windows) -> Option<Noise> {
    let sides = [inner(before), inner(after)];
    let rates = sides.each_ref().map(|side| {
        side.iter()
            .map(|(window, seconds)| window.count as f64 / seconds)
            .collect::<Vec<f64>>()
    });
    let refs = rates
        .each_ref()
        .map(|side| side.iter().collect::<Vec<&f64>>());
    of_change(refs, mean, |rate| Some(*rate), |from, to| to / from - 1.0)
}

fn inner(windows: &Windows) -> Vec<(Window, f64)> {
    let seconds = windows.length_s;
    windows
        .inner()
        .iter()
        .map(|window| (window.clone(), seconds))
        .collect()
}

fn mean(drawn: &[&f64]) -> Option<f64> {
    Some(drawn.iter().copied().sum::<f64>() / drawn.len() as f64)
}

fn used(windows: &Windows) -> Vec<&Window> {
    windows
        .all
        .iter()
        .filter(|window| window.count > 0)
        .collect()
}

/// Resamples the windows of both sides and computes the change of `value` each time. Tests the windows by `rank`.
fn of_change<W>(
    sides: [Vec<&W>; 2],
    value: impl Fn(&[&W]) -> Option<f64>,
    rank: impl Fn(&W) -> Option<f64>,
    change: impl Fn(f64, f64) -> f64,
) -> Option<Noise> {
    let ranked = sides.each_ref().map(|side| {
        side.iter()
            .filter_map(|window| rank(window))
            .collect::<Vec<f64>>()
    });
    if ranked.iter().any(|side| side.len() < FEWEST_WINDOWS) {
        return None;
    }
    let mut random = Random::new();
    let mut changes = Vec::with_capacity(DRAWS);
    let mut drawn: Vec<&W> = Vec::new();
    for _ in 0..DRAWS {
        let mut values = [None; 2];
        for (value_of_side, side) in values.iter_mut().zip(&sides) {
            drawn.clear();
            drawn.extend((0..side.len()).map(|_| side[random.below(side.len())]));
            *value_of_side = value(&drawn);
        }
        if let [Some(from), Some(to)] = values {
            changes.push(change(from, to));
        }
    }
    noise(changes, &ranked)
}

/// The interval of the resampled changes and the rank test; `None` if too few changes are known.
fn noise(mut changes: Vec<f64>, ranked: &[Vec<f64>; 2]) -> Option<Noise> {
    changes.retain(|change| change.is_finite());
    if changes.len() < DRAWS / 2 {
        return None;
    }
    changes.sort_by(f64::total_cmp);
    let at = |share: f64| changes[((changes.len() - 1) as f64 * share).round() as usize];
    Some(Noise {
        interval: [at(0.025), at(0.975)],
        chance: mann_whitney(&ranked[0], &ranked[1]),
    })
}

/// The two-sided probability that chance alone produces ranks of two sets of values that differ this much:
/// Mann-Whitney U with the normal approximation, corrected for ties.
fn mann_whitney(left: &[f64], right: &[f64]) -> f64 {
    let mut all: Vec<(f64, bool)> = left.iter().map(|value| (*value, true)).collect();
    all.extend(right.iter().map(|value| (*value, false)));
    all.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (n, m) = (left.len() as f64, right.len() as f64);
    let mut rank_sum = 0.0;
    let mut ties = 0.0;
    let mut before = 0.0;
    for group in all.chunk_by(|a, b| a.0 == b.0) {
        let size = group.len() as f64;
        let mean_rank = before + (size + 1.0) / 2.0;
        rank_sum += group.iter().filter(|(_, is_left)| *is_left).count() as f64 * mean_rank;
        ties += size * size * size - size;
        before += size;
    }
    let total = n + m;
    let u = rank_sum - n * (n + 1.0) / 2.0;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0) / variance.sqrt();
    both_tails(distance)
}

/// The two-sided tail probability of the normal distribution beyond this many standard deviations (Abramowitz and
/// Stegun 7.1.26, accurate to 1.5e-7).
fn both_tails(deviations: f64) -> f64 {
    let x = deviations / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let terms = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let sum = terms.iter().rev().fold(0.0, |sum, term| (sum + term) * t);
    (sum * (-x * x).exp()).clamp(0.0, 1.0)
}

/// SplitMix64 with a fixed seed, so that a comparison always gives the same result.
struct Random(u64);

impl Random {
    fn new() -> Random {
        Random(0x9e37_79b9_7f4a_7c15)
    }

    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * bound as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first value was computed by hand from all pairs, with the error function of another library.
    #[test]
    fn ranks_are_tested_as_elsewhere() {
        let first: Vec<f64> = (1..=8).map(f64::from).collect();
        let later: Vec<f64> = (6..=14).map(f64::from).collect();
        for (left, right, chance) in [
            (&first, &later, 0.002_803_73),
            (&first, &first, 1.0),
            (&vec![1.0; 6], &vec![1.0; 6], 1.0),
        ] {
            let found = mann_whitney(left, right);
            assert!((found - chance).abs() < 1e-6, "{found} is not {chance}");
        }
    }

    #[test]
    fn tails_are_those_of_the_normal_distribution() {
        for (deviations, share) in [
            (0.0, 1.0),
            (1.0, 0.317_310_5),
            (1.959_964, 0.05),
            (3.290_527, 0.001),
        ] {
            assert!((both_tails(deviations) - share).abs() < 1e-6);
        }
    }
}
