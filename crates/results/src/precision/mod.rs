//! Confidence intervals of percentiles, means and rates.
//!
//! Consecutive seconds are alike: a slow second is followed by a slow one. Treating samples as independent would make intervals
//! far too narrow. Therefore the variance of every number comes from its changes between blocks of consecutive steps of the
//! timeline (batch means), whose length follows from the autocorrelation ([`blocks`]).
//!
//! The interval of a percentile consists of ranks: those at which the share of smaller samples is compatible with the percentile
//! (Woodruff 1952), where the number of samples is divided by the design effect that the blocks show (as by Korn and Graubard
//! 1998). The ranks become times in the fine histogram of the whole run, so the coarse histograms of the timeline do not limit
//! the resolution.
//!
//! Everything is computed after or beside a run, from counts that it keeps anyway.

mod blocks;
mod steps;

use crate::statistics::{LabelStatistics, Recording};
use crate::timeline::Cell;
use blocks::{BlockSums, block_length, t_quantile};
use steps::{Ranks, Steps};

/// The percentiles that get an interval.
pub const PERCENTS: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];
/// The normal quantile of the intervals. The nominal level is 97 %, because estimated variances are uncertain: simulated runs
/// show that the intervals then hold the truth in at least 95 of 100 runs.
const DEVIATIONS: f64 = 2.17;
/// The steps that an interval needs. With fewer, the variance between steps is unknown.
const FEWEST_STEPS: usize = 8;
/// Steps of a rate beyond which the run has gaps of days, and no rate.
const MOST_RATE_STEPS: i64 = 20_000;
/// A percentile's design effect exceeds 1 by at least this share of the excess of the percentile before it. Few samples lie
/// beyond a high percentile, and they tell little about the correlation.
const INHERITED: f64 = 0.25;
/// The rounds in which the design effect is measured again at the bounds of an interval.
const ROUNDS: usize = 2;
/// A percentile takes part in the choice of the block length if this many samples lie beyond it.
const FEWEST_BEYOND: f64 = 4.0;

/// A 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The lower bound.
    pub low: f64,
    /// The upper bound; `None` if too few samples are larger to give one.
    pub high: Option<f64>,
}

impl Interval {
    /// The larger distance of a bound from the value, relative to the value; `None` without an upper bound.
    pub fn relative(&self, value: f64) -> Option<f64> {
        let high = self.high?;
        (value > 0.0).then(|| (value - self.low).max(high - value) / value)
    }

    fn times(self, factor: f64) -> Interval {
        Interval {
            low: self.low * factor,
            high: self.high.map(|high| high * factor),
        }
    }
}

/// The intervals of a label, or of all labels together. A number without one was measured too briefly.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Precision {
    /// Of the percentiles of the service time, in milliseconds, in the order of [`PERCENTS`].
    pub percentiles_ms: [Option<Interval>; PERCENTS.len()],
    /// Of the mean service time, in milliseconds.
    pub mean_ms: Option<Interval>,
    /// Of the samples a second.
    pub rate_per_s: Option<Interval>,
    /// Of the failed samples in a hundred.
    pub failed_percent: Option<Interval>,
    /// The length of the blocks from which the variance comes, in seconds; 0 without intervals.
    pub block_s: u32,
}

impl Precision {
    /// The interval of this percentile, if it is one of [`PERCENTS`].
    pub fn percentile_ms(&self, percent: f64) -> Option<Interval> {
        let place = PERCENTS.iter().position(|known| *known == percent)?;
        self.percentiles_ms[place]
    }
}

/// Whether at least one of so many samples can lie beyond this percentile. If not, the percentile is the maximum. A single
/// sample is its own median.
pub fn suffices_for(samples: u64, percent: f64) -> bool {
    // 100 - 99.9 is a little less than a tenth.
    samples as f64 * (100.0 - percent) >= 99.999_999 || (samples == 1 && percent == 50.0)
}

impl Recording {
    /// The intervals of the label at this place.
    pub fn precision(&self, place: usize) -> Precision {
        let cells: Vec<&Cell> = self.timeline.label(place).iter().collect();
        precision(&self.labels[place], &cells, self.timeline.label_step_s())
    }

    /// The intervals of all labels together; `total` is [`Recording::total`].
    pub fn total_precision(&self, total: &LabelStatistics) -> Precision {
        let cells: Vec<&Cell> = self
            .timeline
            .total()
            .iter()
            .map(|step| &step.ended)
            .collect();
        precision(total, &cells, self.timeline.total_step_s())
    }
}

fn precision(label: &LabelStatistics, cells: &[&Cell], step_s: u32) -> Precision {
    let steps = Steps::of(cells);
    if steps.counts.len() < FEWEST_STEPS || label.service.count() == 0 {
        return Precision::default();
    }
    let ranks = Ranks::of(&label.service);
    let estimate = Estimate::of(&steps, &ranks);
    let ms = |interval: Interval| interval.times(0.001);
    Precision {
        percentiles_ms: estimate.percentiles().map(|interval| interval.map(ms)),
        mean_ms: Some(ms(estimate.mean())),
        rate_per_s: rate(cells, step_s, label.row().throughput_per_s),
        failed_percent: estimate.failed(cells).map(|share| share.times(100.0)),
        block_s: estimate.block as u32 * step_s,
    }
}

/// How many times as large as that of independent samples a variance is, and its degrees of freedom.
#[derive(Clone, Copy)]
struct DesignEffect {
    factor: f64,
    freedom: f64,
}

impl DesignEffect {
    /// Independent samples, whose variance follows from their number and is no estimate.
    const NONE: DesignEffect = DesignEffect {
        factor: 1.0,
        freedom: f64::INFINITY,
    };

    /// A variance beside that of independent samples. Blocks that differ less than independent samples do so by chance.
    fn of(variance: f64, independent: f64, freedom: f64) -> DesignEffect {
        let factor = variance / independent;
        if independent > 0.0 && factor > 1.0 {
            DesignEffect { factor, freedom }
        } else {
            DesignEffect::NONE
        }
    }

    /// A part of what exceeds 1.
    fn part(self, share: f64) -> DesignEffect {
        DesignEffect {
            factor: 1.0 + (self.factor - 1.0) * share,
            ..self
        }
    }

    fn larger(self, other: DesignEffect) -> DesignEffect {
        if other.factor > self.factor {
            other
        } else {
            self
        }
    }
}

/// The steps of a label with what all of its intervals share.
struct Estimate<'a> {
    steps: &'a Steps,
    ranks: &'a Ranks,
    /// Samples in all.
    count: f64,
    /// The block length, in steps.
    block: usize,
    /// The design effect of the mean.
    mean_effect: DesignEffect,
    mean_us: f64,
}

impl<'a> Estimate<'a> {
    fn of(steps: &'a Steps, ranks: &'a Ranks) -> Estimate<'a> {
        let count: f64 = steps.counts.iter().sum();
        let mean_us = steps.sums_us.iter().sum::<f64>() / count;
        let sums = steps.sums_us.iter().zip(&steps.counts);
        let mean_residuals: Vec<f64> = sums.map(|(sum, count)| sum - mean_us * count).collect();
        let mut block = block_length(&mean_residuals);
        for percent in PERCENTS {
            if count * (1.0 - percent / 100.0) >= FEWEST_BEYOND {
                let (residuals, _) = steps.residuals(ranks.probe(ranks.percentile(percent)));
                block = block.max(block_length(&residuals));
            }
        }
        let sums = BlockSums::of(&mean_residuals, block);
        let independent = ranks.squared_deviations(mean_us);
        Estimate {
            steps,
            ranks,
            count,
            block,
            mean_effect: DesignEffect::of(sums.variance, independent, sums.freedom),
            mean_us,
        }
    }

    /// The intervals of the percentiles, in microseconds.
    fn percentiles(&self) -> [Option<Interval>; PERCENTS.len()] {
        let mut before = DesignEffect::NONE;
        PERCENTS.map(|percent| {
            let at = self.ranks.percentile(percent);
            before = self.effect_at(at).larger(before.part(INHERITED));
            self.percentile(percent / 100.0, before)
        })
    }

    /// The interval of a percentile with this design effect. The design effect is measured again at the bounds, because beside
    /// a gap between quick and slow samples that of the percentile itself says nothing about the other side.
    fn percentile(&self, share: f64, effect: DesignEffect) -> Option<Interval> {
        let beyond = (1.0 - share).sqrt().asin();
        let (mut low_effect, mut high_effect) = (effect, effect);
        for round in 0.. {
            let (effective, reach) = self.reach(low_effect);
            let share_below = 1.0
                - (beyond + reach)
                    .min(std::f64::consts::FRAC_PI_2)
                    .sin()
                    .powi(2);
            let low =
                (share_below * effective >= 1.0).then(|| self.ranks.low(share_below * self.count));
            let (effective, reach) = self.reach(high_effect);
            let share_beyond = (beyond - reach).max(0.0).sin().powi(2);
            let high = (share_beyond * effective >= 1.0)
                .then(|| self.ranks.high((1.0 - share_beyond) * self.count));
            if round == ROUNDS || low.is_none() {
                return low.map(|low| Interval { low, high });
            }
            let measured = |bound: Option<f64>| bound.map(|us| self.effect_at(us));
            low_effect = measured(low).map_or(low_effect, |one| low_effect.larger(one));
            high_effect = measured(high).map_or(high_effect, |one| high_effect.larger(one));
        }
        None
    }

    /// How many independent samples the samples are worth, and how far the bounds of a share are from it, as an angle: the
    /// arcsine of the root of a share has the same variance for all shares.
    fn reach(&self, effect: DesignEffect) -> (f64, f64) {
        let effective = self.count / effect.factor;
        // Only the excess over independent samples is an estimate; the rest is known (Satterthwaite 1946).
        let estimated = 1.0 - 1.0 / effect.factor;
        let freedom = effect.freedom / (estimated * estimated);
        let reach = t_quantile(DEVIATIONS, freedom) / 2.0 / effective.sqrt();
        (effective, reach)
    }

    /// The design effect of the share of samples up to this time.
    fn effect_at(&self, us: f64) -> DesignEffect {
        let probe = self.ranks.probe(us);
        let (residuals, share) = self.steps.residuals(probe);
        let sums = BlockSums::of(&residuals, self.block);
        let independent = self.count * share * (1.0 - share);
        // Which samples of a bucket of the timeline lie below the time is unknown in each step. They are taken to be as
        // correlated as the means of the steps are.
        let inside = probe.inside * (1.0 - probe.inside) * probe.bucket_count;
        let variance = sums.variance + inside * self.mean_effect.factor;
        DesignEffect::of(variance, independent, sums.freedom)
    }

    /// The interval of the mean, in microseconds: times are positive and skewed, so its bounds are factors.
    fn mean(&self) -> Interval {
        let effect = self.mean_effect;
        let variance = effect.factor * self.ranks.squared_deviations(self.mean_us);
        let deviation = variance.sqrt() / self.count / self.mean_us.max(f64::MIN_POSITIVE);
        let factor = (t_quantile(DEVIATIONS, effect.freedom) * deviation).exp();
        let resolution_us = self.ranks.resolution_us();
        Interval {
            low: (self.mean_us / factor - resolution_us).max(0.0),
            high: Some(self.mean_us * factor + resolution_us).filter(|high| high.is_finite()),
        }
    }

    /// The interval of the share of failed samples (Wilson's, with the number of independent samples).
    fn failed(&self, cells: &[&Cell]) -> Option<Interval> {
        let count: f64 = cells.iter().map(|cell| cell.count as f64).sum();
        let failed: f64 = cells.iter().map(|cell| cell.errors as f64).sum();
        let share = failed / count;
        let used = cells.iter().filter(|cell| cell.count > 0);
        let residuals = used.map(|cell| cell.errors as f64 - share * cell.count as f64);
        let residuals: Vec<f64> = residuals.collect();
        let sums = BlockSums::of(&residuals, self.block.max(block_length(&residuals)));
        let independent = count * share * (1.0 - share);
        let effect = DesignEffect::of(sums.variance, independent, sums.freedom);
        let effective = count / effect.factor;
        let squared = t_quantile(DEVIATIONS, effect.freedom).powi(2) / effective;
        let middle = share + squared / 2.0;
        let reach = (share * (1.0 - share) * squared + squared * squared / 4.0).sqrt();
        let bound = |value: f64| (value / (1.0 + squared)).clamp(0.0, 1.0);
        middle.is_finite().then(|| Interval {
            low: bound(middle - reach),
            high: Some(bound(middle + reach)),
        })
    }
}

/// The interval of a rate. The first and the last step are left out, because the run fills them only partly.
fn rate(cells: &[&Cell], step_s: u32, per_s: f64) -> Option<Interval> {
    let mut used = cells.iter().filter(|cell| cell.count > 0);
    let first = used.next()?.at;
    let last = used.next_back()?.at;
    if !(FEWEST_STEPS as i64 + 1..MOST_RATE_STEPS).contains(&(last - first)) {
        return None;
    }
    let mut counts = vec![0.0; (last - first - 1) as usize];
    for cell in cells {
        if first < cell.at && cell.at < last {
            counts[(cell.at - first - 1) as usize] = cell.count as f64;
        }
    }
    let mean = counts.iter().sum::<f64>() / counts.len() as f64;
    counts.iter_mut().for_each(|count| *count -= mean);
    let sums = BlockSums::of(&counts, block_length(&counts));
    let deviation = sums.variance.sqrt() / counts.len() as f64 / mean;
    let relative = t_quantile(DEVIATIONS, sums.freedom) * deviation;
    // A step counts whole samples, so that even a steady rate is known to one sample in the run.
    let one = 1.0 / (counts.len() as f64 * f64::from(step_s));
    relative.is_finite().then(|| Interval {
        low: (per_s * (1.0 - relative) - one).max(0.0),
        high: Some(per_s * (1.0 + relative) + one),
    })
}

#[cfg(test)]
mod coverage;
#[cfg(test)]
mod tests;
