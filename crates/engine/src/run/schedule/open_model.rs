//! Users at a rate, for one iteration each (`OpenModelThreadGroup`).

use super::language::ScheduleSyntaxError;
use super::language::{self, ScheduleStep};
use super::window::{LevelStretch, LevelUnit, ScheduleError};
use crate::base::java_random::JavaRandom;

/// When users start, or why the schedule cannot be read.
#[derive(Clone, Debug)]
pub struct OpenModel {
    parts: Result<Box<[RateStretch]>, ScheduleSyntaxError>,
    seed: i64,
}

/// A stretch of the schedule; rates are per second.
#[derive(Clone, Copy, Debug, PartialEq)]
struct RateStretch {
    random: bool,
    start_s: f64,
    duration_s: f64,
    from: f64,
    to: f64,
}

/// `ThreadScheduleProcessGenerator#findNextArrivalStep`: a rate right after a stretch is the rate at its end.
fn parts(steps: &[ScheduleStep]) -> Vec<RateStretch> {
    let (mut rate, mut start_s) = (0.0, 0.0);
    let mut parts = Vec::new();
    for (index, step) in steps.iter().enumerate() {
        match *step {
            ScheduleStep::Rate(next) => rate = next,
            ScheduleStep::Arrivals { random, duration_s } => {
                let to = match steps.get(index + 1) {
                    Some(ScheduleStep::Rate(to)) => *to,
                    _ => rate,
                };
                parts.push(RateStretch {
                    random,
                    start_s,
                    duration_s,
                    from: rate,
                    to,
                });
                start_s += duration_s;
            }
        }
    }
    parts
}

impl OpenModel {
    /// The load of a schedule in [`language`]. A seed of 0 means a different seed in each run.
    pub fn new(schedule: &str, seed: i64) -> OpenModel {
        OpenModel {
            parts: language::parse(schedule).map(|steps| parts(&steps).into()),
            seed,
        }
    }

    fn parts(&self) -> &[RateStretch] {
        self.parts.as_deref().unwrap_or_default()
    }

    /// # Errors
    /// When the schedule cannot be read.
    pub fn check(&self) -> Result<(), ScheduleError> {
        match &self.parts {
            Ok(_) => Ok(()),
            Err(message) => Err(ScheduleError::Schedule(message.clone())),
        }
    }

    /// How many users start in all.
    pub fn users(&self) -> u32 {
        self.parts().iter().map(|part| part.users() as u32).sum()
    }

    /// The length of the schedule in seconds.
    pub fn duration_s(&self) -> f64 {
        self.parts().iter().map(|part| part.duration_s).sum()
    }

    /// The random seed of one run: the plan's, or else `chosen`.
    pub fn seed(&self, chosen: i64) -> i64 {
        if self.seed == 0 { chosen } else { self.seed }
    }

    /// When users start, in seconds from the start of the schedule, for `seed`. Only one stretch is held in memory.
    pub fn times(&self, seed: i64) -> impl Iterator<Item = f64> + use<'_> {
        let mut random = JavaRandom::new(seed);
        self.parts().iter().flat_map(move |part| {
            let times: Box<dyn Iterator<Item = f64>> = if part.random {
                Box::new(part.random_times(&mut random).into_iter())
            } else {
                Box::new(part.even_times())
            };
            let start_s = part.start_s;
            times.map(move |time_s| start_s + time_s)
        })
    }

    pub fn stretches(&self) -> Vec<LevelStretch> {
        let stretch = |part: &RateStretch| LevelStretch {
            start_ms: ms(part.start_s),
            end_ms: ms(part.start_s + part.duration_s),
            from: part.from,
            to: part.to,
            unit: if part.random {
                LevelUnit::RandomArrivalsPerSecond
            } else {
                LevelUnit::ArrivalsPerSecond
            },
        };
        self.parts().iter().map(stretch).collect()
    }
}

fn ms(seconds: f64) -> u64 {
    (seconds * 1000.0).round() as u64
}

impl RateStretch {
    fn users(&self) -> u64 {
        ((self.from + self.to) / 2.0 * self.duration_s) as u64
    }

    /// Evenly spaced arrivals (`EvenArrivalsRamp`).
    fn even_times(&self) -> impl Iterator<Item = f64> + use<> {
        let from = self.from;
        let mean = (from + self.to) / 2.0;
        let change = self.to - from;
        let acceleration = if change.abs() < 0.0001 * mean {
            0.0
        } else {
            change / self.duration_s
        };
        (0..self.users()).map(move |user| match user {
            0 => 0.0,
            user if acceleration == 0.0 => user as f64 / mean,
            user => ((from * from + 2.0 * acceleration * user as f64).sqrt() - from) / acceleration,
        })
    }

    /// Random arrivals (`PoissonArrivalsRamp`): uniform at the smaller rate, and the rest with growing or shrinking density.
    fn random_times(&self, random: &mut JavaRandom) -> Vec<f64> {
        let lowest = self.from.min(self.to);
        let flat = (lowest * self.duration_s) as u64;
        let mut times = Vec::with_capacity(self.users() as usize);
        for _ in 0..flat {
            times.push(random.next_double() * self.duration_s);
        }
        if self.from != self.to {
            for _ in flat..self.users() {
                let place = random.next_double().sqrt();
                let place = if self.from > self.to {
                    1.0 - place
                } else {
                    place
                };
                times.push(place * self.duration_s);
            }
        }
        times.sort_by(f64::total_cmp);
        times
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(schedule: &str) -> OpenModel {
        OpenModel::new(schedule, 42)
    }

    #[test]
    fn arrivals_for_a_seed_are_those_of_jmeter() {
        // Recorded from JMeter 5.6.3.
        let open = open(
            "rate(2/sec) random_arrivals(3 s) rate(5/sec) even_arrivals(2 s) rate(1/sec) random_arrivals(2 s) rate(0)",
        );
        let times: Vec<f64> = open.times(open.seed(7)).collect();
        assert_eq!(
            times,
            [
                0.83123547022241,
                0.9261583659979793,
                1.5753515877337736,
                1.8218249698315563,
                1.9966468553837209,
                2.0427633691356375,
                2.0496704152795364,
                2.182691040098604,
                2.6544521109092027,
                2.7101167940165345,
                3.0,
                3.20871215252208,
                3.4384471871911697,
                3.697224362268005,
                4.0,
                4.381966011250105,
                5.082368353547828
            ]
        );
        assert_eq!(open.users() as usize, times.len());
        assert_eq!(open.duration_s(), 7.0);
    }

    #[test]
    fn nobody_arrives_in_a_pause() {
        let open = open("rate(3/s) even_arrivals(1 s) pause(2 s) even_arrivals(1 s)");
        let times: Vec<f64> = open.times(0).collect();
        assert_eq!(
            times,
            [
                0.0,
                0.3333333333333333,
                0.6666666666666666,
                3.0,
                3.3333333333333335,
                3.6666666666666665
            ]
        );
        let stretches = open.stretches();
        assert_eq!(
            (stretches.len(), stretches[1].from, stretches[1].end_ms),
            (3, 0.0, 3_000)
        );
    }

    #[test]
    fn a_schedule_that_cannot_be_read_does_not_start() {
        let open = open("rate(5)");
        assert!(matches!(open.check(), Err(ScheduleError::Schedule(_))));
        assert_eq!((open.users(), open.stretches().len()), (0, 0));
    }
}
