//! Simulated runs whose true percentiles and means are known: how often do the intervals hold them?
//!
//! Each test prints its shares: `cargo test -p drumfire-results --lib coverage -- --nocapture`.

use super::*;
use crate::timeline::TimelineSample;

const RUNS: usize = 1_000;
/// The shares of intervals that must hold the truth. Intervals that hold it more often are wider than they need to be.
const COVERED: std::ops::RangeInclusive<f64> = 0.95..=0.995;
/// The normal quantiles of [`PERCENTS`].
const NORMAL: [f64; PERCENTS.len()] = [0.0, 1.281_552, 1.644_854, 2.326_348, 3.090_232];

/// SplitMix64.
struct Random(u64);

impl Random {
    fn share(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((z ^ (z >> 31)) >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn exponential(&mut self, mean: f64) -> f64 {
        -self.share().ln() * mean
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.share().ln()).sqrt() * (std::f64::consts::TAU * self.share()).cos()
    }
}

/// Gives the time of a sample that starts at this second of the run, in microseconds.
type Target = Box<dyn FnMut(f64, &mut Random) -> f64>;

/// A kind of run.
struct Situation {
    name: &'static str,
    seconds: u32,
    per_second: f64,
    /// Makes the target of a run.
    target: fn(&mut Random) -> Target,
    /// The true percentiles, in microseconds.
    percentiles_us: [f64; PERCENTS.len()],
    mean_us: f64,
    /// The first percentile for which such a run is too short.
    too_short_for: f64,
}

fn run(situation: &Situation, random: &mut Random) -> Recording {
    let mut target = (situation.target)(random);
    let mut recording = Recording::default();
    let label = recording.place("a", false);
    for second in 0..situation.seconds {
        let samples = (situation.per_second + random.share()).floor() as u32;
        for place in 0..samples {
            let offset = (f64::from(place) + random.share()) / f64::from(samples);
            let at = f64::from(second) + offset;
            let service_us = target(at, random) as u64;
            recording.labels[label].count += 1;
            recording.labels[label].service.record(service_us);
            let end_ms = (at * 1_000.0) as i64;
            recording.timeline.add(&TimelineSample {
                label,
                count: 1,
                end_ms,
                service_us,
                ..TimelineSample::default()
            });
        }
    }
    recording
}

/// Counts how often intervals hold the truth. Prints and checks the shares.
fn assert_covered(situation: &Situation) {
    let mut random = Random(0x5eed);
    let mut held = [0; PERCENTS.len() + 1];
    let mut given = [0; PERCENTS.len() + 1];
    let mut open = [0; PERCENTS.len() + 1];
    for _ in 0..RUNS {
        let precision = run(situation, &mut random).precision(0);
        let truths = situation
            .percentiles_us
            .into_iter()
            .chain([situation.mean_us]);
        let intervals = precision
            .percentiles_ms
            .into_iter()
            .chain([precision.mean_ms]);
        for (place, (truth_us, interval)) in truths.zip(intervals).enumerate() {
            let Some(interval) = interval else { continue };
            let truth = truth_us / 1_000.0;
            given[place] += 1;
            open[place] += usize::from(interval.high.is_none());
            let holds = interval.low <= truth && interval.high.is_none_or(|high| truth <= high);
            held[place] += usize::from(holds);
        }
    }
    let names = ["p50", "p90", "p95", "p99", "p99.9", "mean"];
    let percents = PERCENTS.into_iter().chain([0.0]);
    for (place, (name, percent)) in names.into_iter().zip(percents).enumerate() {
        let share = held[place] as f64 / given[place] as f64;
        println!(
            "{}: the interval of {name} holds the truth in {:.1} % of {} runs; {} have no upper bound",
            situation.name,
            share * 100.0,
            given[place],
            open[place],
        );
        if percent >= situation.too_short_for {
            assert!(
                open[place] * 2 > RUNS || given[place] < RUNS,
                "{name} has intervals"
            );
        } else {
            assert!(
                given[place] * 20 >= RUNS * 19,
                "{name} has too few intervals"
            );
            assert!(
                COVERED.contains(&share),
                "{}: {name} {share}",
                situation.name
            );
        }
    }
}

/// A log-normal distribution with a median of 100 ms.
fn log_normal(deviation: f64) -> ([f64; PERCENTS.len()], f64) {
    let percentiles = NORMAL.map(|normal| 100_000.0 * (deviation * normal).exp());
    (percentiles, 100_000.0 * (deviation * deviation / 2.0).exp())
}

fn independent(_: &mut Random) -> Target {
    Box::new(|_, random| 100_000.0 * (0.4 * random.normal()).exp())
}

#[test]
fn independent_samples() {
    let (percentiles_us, mean_us) = log_normal(0.4);
    assert_covered(&Situation {
        name: "independent",
        seconds: 120,
        per_second: 15.0,
        target: independent,
        percentiles_us,
        mean_us,
        too_short_for: 99.9,
    });
}

#[test]
fn rare_samples() {
    let (percentiles_us, mean_us) = log_normal(0.4);
    assert_covered(&Situation {
        name: "rare",
        seconds: 300,
        per_second: 0.4,
        target: independent,
        percentiles_us,
        mean_us,
        too_short_for: 99.0,
    });
}

/// The level of the times changes from second to second and takes ten seconds to forget a third of its distance.
fn correlated(random: &mut Random) -> Target {
    const KEPT: f64 = 0.9;
    let mut level = random.normal();
    let mut second = 0.0;
    Box::new(move |at, random| {
        while second < at.floor() {
            second += 1.0;
            level = KEPT * level + (1.0 - KEPT * KEPT).sqrt() * random.normal();
        }
        100_000.0 * (0.3 * level + 0.4 * random.normal()).exp()
    })
}

#[test]
fn correlated_seconds() {
    let (percentiles_us, mean_us) = log_normal(0.5);
    assert_covered(&Situation {
        name: "autocorrelated",
        seconds: 600,
        per_second: 5.0,
        target: correlated,
        percentiles_us,
        mean_us,
        too_short_for: 99.9,
    });
}

#[test]
fn two_modes() {
    assert_covered(&Situation {
        name: "bimodal",
        seconds: 120,
        per_second: 20.0,
        target: |_| {
            Box::new(|_, random| match random.share() < 0.9 {
                true => 10_000.0 + 10_000.0 * random.share(),
                false => 200_000.0 + 100_000.0 * random.share(),
            })
        },
        percentiles_us: [
            10_000.0 + 10_000.0 * 0.5 / 0.9,
            20_000.0,
            250_000.0,
            290_000.0,
            299_000.0,
        ],
        mean_us: 0.9 * 15_000.0 + 0.1 * 250_000.0,
        too_short_for: 99.9,
    });
}

/// The target stands still for a second, on average 20 s after the last time. All samples of that second end with it.
fn stalls(random: &mut Random) -> Target {
    let mut end = if random.share() < 1.0 / 21.0 {
        random.share()
    } else {
        0.0
    };
    let mut next = end + random.exponential(20.0);
    Box::new(move |at, random| {
        while next <= at {
            end = next + 1.0;
            next = end + random.exponential(20.0);
        }
        let waited_us = (end - at).max(0.0) * 1e6;
        waited_us + 10_000.0 + 10_000.0 * random.share()
    })
}

#[test]
fn stalls_of_the_target() {
    // The share of samples up to a time of `us`: of those in a stall, the wait is uniform up to a second.
    let share = |us: f64| {
        let quick = ((us - 10_000.0) / 10_000.0).clamp(0.0, 1.0);
        let bases = (0..100).map(|place| 10_000.0 + 100.0 * (f64::from(place) + 0.5));
        let waited: f64 = bases.map(|base| ((us - base) / 1e6).clamp(0.0, 1.0)).sum();
        (20.0 * quick + waited / 100.0) / 21.0
    };
    let percentiles_us = PERCENTS.map(|percent| {
        let (mut low, mut high) = (0.0, 2e6);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            match share(middle) * 100.0 < percent {
                true => low = middle,
                false => high = middle,
            }
        }
        low
    });
    assert_covered(&Situation {
        name: "stalls",
        seconds: 400,
        per_second: 6.0,
        target: stalls,
        percentiles_us,
        mean_us: 15_000.0 + 500_000.0 / 21.0,
        too_short_for: 99.9,
    });
}

/// The percentiles and the mean of an exponential distribution.
fn exponential(mean_us: f64) -> ([f64; PERCENTS.len()], f64) {
    let percentiles = PERCENTS.map(|percent| -(1.0 - percent / 100.0_f64).ln() * mean_us);
    (percentiles, mean_us)
}

#[test]
fn ten_seconds_of_independent_samples() {
    let (percentiles_us, mean_us) = exponential(20_000.0);
    assert_covered(&Situation {
        name: "ten seconds",
        seconds: 10,
        per_second: 100.0,
        target: |_| Box::new(|_, random| random.exponential(20_000.0)),
        percentiles_us,
        mean_us,
        too_short_for: 99.9,
    });
}

#[test]
fn ten_seconds_of_many_independent_samples() {
    let (percentiles_us, mean_us) = exponential(5_000.0);
    assert_covered(&Situation {
        name: "ten busy seconds",
        seconds: 10,
        per_second: 800.0,
        target: |_| Box::new(|_, random| random.exponential(5_000.0)),
        percentiles_us,
        mean_us,
        too_short_for: 100.0,
    });
}

/// A queue with one place, half used: samples wait for those before them. Their times are exponential, too.
fn queue(random: &mut Random) -> Target {
    let mut free_at = random.exponential(0.01);
    let mut now = 0.0;
    Box::new(move |_, random| {
        now += random.exponential(0.02);
        free_at = now.max(free_at) + random.exponential(0.01);
        (free_at - now) * 1e6
    })
}

#[test]
fn ten_seconds_of_a_queue() {
    let (percentiles_us, mean_us) = exponential(20_000.0);
    assert_covered(&Situation {
        name: "ten seconds of a queue",
        seconds: 10,
        per_second: 50.0,
        target: queue,
        percentiles_us,
        mean_us,
        too_short_for: 95.0,
    });
}
