//! Iterations at a rate (`ArrivalsThreadGroup`, `FreeFormArrivalsThreadGroup`).

use super::concurrency::Level;
use super::window::{LevelStretch, LevelUnit};

/// How long the plugin waits while the rate is 0.
const ZERO_RATE_PAUSE_MS: f64 = 200.0;
/// The number of users for a concurrency limit that exceeds `u32`.
const NO_LIMIT: u32 = u32::MAX;

/// When iterations start, and how many users there may be.
#[derive(Clone, Debug)]
pub struct Arrivals {
    pub rate: Rate,
    /// Users at work at the same time; 0 is no limit.
    pub concurrency_limit: i64,
    /// Arrivals after which the group ends; 0 is no limit.
    pub arrivals_limit: i64,
}

/// Arrivals per second over time.
#[derive(Clone, Debug)]
pub enum Rate {
    /// The target of the level is a rate.
    Level(Level),
    /// Rows: rate at the beginning, rate at the end, length in seconds.
    FreeForm(Box<[[f64; 3]]>),
}

impl Arrivals {
    /// The concurrency limit, or without one the expected number of arrivals.
    pub fn users(&self) -> u32 {
        if self.concurrency_limit > 0 {
            return u32::try_from(self.concurrency_limit).unwrap_or(NO_LIMIT);
        }
        let expected: f64 = self
            .stretches()
            .iter()
            .map(|stretch| {
                (stretch.from + stretch.to) / 2.0 * (stretch.end_ms - stretch.start_ms) as f64
                    / 1000.0
            })
            .sum();
        expected.ceil() as u32
    }

    /// When iterations start, in milliseconds from the start of the group.
    pub fn times(&self) -> ArrivalTimes<'_> {
        ArrivalTimes {
            rate: &self.rate,
            count: 0,
            rolling_ms: 0.0,
        }
    }

    pub fn stretches(&self) -> Vec<LevelStretch> {
        let unit = LevelUnit::ArrivalsPerSecond;
        match &self.rate {
            Rate::Level(level) => {
                let mut stretches = level.stretches(unit, level.target);
                if level.ramp_up_s > 0 && level.steps <= 0 {
                    stretches[0].to = 0.0; // nothing arrives
                }
                stretches
            }
            Rate::FreeForm(rows) => {
                let mut end_ms = 0;
                let stretch = |&[from, to, length_s]: &[f64; 3]| {
                    let start_ms = end_ms;
                    end_ms += (length_s.max(0.0) * 1000.0) as u64;
                    LevelStretch {
                        start_ms,
                        end_ms,
                        from,
                        to,
                        unit,
                    }
                };
                rows.iter().map(stretch).collect()
            }
        }
    }
}

impl Rate {
    /// The rate at a moment, after `count` arrivals; `None` when the time is over.
    fn at(&self, elapsed_s: f64, count: u64) -> Option<f64> {
        match self {
            Rate::Level(level) => level_rate(level, elapsed_s, count),
            Rate::FreeForm(rows) => free_form_rate_at(rows, elapsed_s),
        }
    }
}

/// `ArrivalsThreadStarter#getCurrentRate`.
fn level_rate(level: &Level, elapsed_s: f64, count: u64) -> Option<f64> {
    let ramp_up_s = level.ramp_up_s as f64;
    if elapsed_s >= ramp_up_s + level.hold_s as f64 {
        return None;
    }
    Some(if level.ramp_up_s == 0 || elapsed_s > ramp_up_s {
        level.target
    } else if level.steps > 0 {
        let steps = level.steps as f64;
        level.target / steps * ((elapsed_s / (ramp_up_s / steps)).floor() + 1.0)
    } else {
        let slope = level.target / ramp_up_s;
        slope * (2.0 * count as f64 / slope).sqrt()
    })
}

/// `FreeFormArrivalsThreadStarter#getCurrentRate`: ends of rows are cut to whole seconds.
fn free_form_rate_at(rows: &[[f64; 3]], elapsed_s: f64) -> Option<f64> {
    let mut end_s: i32 = 0;
    for [from, to, length_s] in rows {
        let progress = (elapsed_s - f64::from(end_s)) / length_s;
        end_s = (f64::from(end_s) + length_s) as i32;
        if elapsed_s <= f64::from(end_s) {
            return Some(from + progress * (to - from)).filter(|rate| *rate >= 0.0);
        }
    }
    None
}

/// The arrivals of a group, one after the other.
pub struct ArrivalTimes<'a> {
    rate: &'a Rate,
    count: u64,
    /// When the next one is due.
    rolling_ms: f64,
}

impl ArrivalTimes<'_> {
    /// When the group notices, after the last arrival, that its time is over: when the next arrival would be due.
    pub fn end_ms(&self) -> f64 {
        self.rolling_ms
    }
}

impl Iterator for ArrivalTimes<'_> {
    type Item = f64;

    /// `ArrivalsThreadStarter#needMoreArrivals`.
    fn next(&mut self) -> Option<f64> {
        loop {
            let rate = self.rate.at(self.rolling_ms / 1000.0, self.count)?;
            if rate.is_nan() {
                return None;
            }
            if rate > 0.0 {
                let at_ms = self.rolling_ms;
                self.rolling_ms += 1000.0 / rate;
                self.count += 1;
                return Some(at_ms);
            }
            self.rolling_ms += ZERO_RATE_PAUSE_MS;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(rate: Rate) -> (Vec<i64>, i64) {
        let arrivals = Arrivals {
            rate,
            concurrency_limit: 0,
            arrivals_limit: 0,
        };
        let mut times = arrivals.times();
        let arrivals = times.by_ref().map(|at_ms| at_ms.round() as i64).collect();
        (arrivals, times.end_ms().round() as i64)
    }

    const LEVEL: Level = Level {
        target: 5.0,
        ramp_up_s: 3,
        steps: 3,
        hold_s: 1,
        shift_s: 0.0,
    };

    #[test]
    fn arrivals_are_those_of_the_plugin() {
        // As observed with jmeter-plugins-casutg 2.10, less some milliseconds each.
        let expected = [
            0, 600, 1200, 1500, 1800, 2100, 2300, 2500, 2700, 2900, 3100, 3300, 3500, 3700, 3900,
        ];
        assert_eq!(times(Rate::Level(LEVEL)), (expected.to_vec(), 4100));
    }

    #[test]
    fn nothing_arrives_during_a_ramp_up_without_steps() {
        let level = Level { steps: 0, ..LEVEL };
        let (arrivals, _) = times(Rate::Level(level));
        assert_eq!(arrivals, [3200, 3400, 3600, 3800]);
        // After n arrivals the rate is the root of 2n times the slope, which is 5/3 a second.
        let rate = Rate::Level(level).at(1.0, 30).expect("the ramp-up goes on");
        assert!((rate - 10.0).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn free_form_rates_change_within_a_row() {
        let rows = Box::new([[2.0, 2.0, 1.0], [0.0, 0.0, 1.0], [4.0, 4.0, 1.0]]);
        // At the end of a row its rate still counts.
        let (arrivals, end_ms) = times(Rate::FreeForm(rows));
        assert_eq!(arrivals, [0, 500, 1000, 2100, 2350, 2600, 2850]);
        assert_eq!(end_ms, 3100);
    }

    #[test]
    fn a_rate_of_nothing_ends() {
        let level = Level {
            target: 0.0,
            steps: 0,
            ..LEVEL
        };
        assert!(times(Rate::Level(level)).0.is_empty());
        let rows = Box::new([[1.0, 1.0, 0.0]]);
        assert!(times(Rate::FreeForm(rows)).0.is_empty());
    }

    #[test]
    fn as_many_users_as_the_limit_or_the_arrivals() {
        let arrivals = |concurrency_limit| Arrivals {
            rate: Rate::Level(LEVEL),
            concurrency_limit,
            arrivals_limit: 0,
        };
        assert_eq!([arrivals(7).users(), arrivals(0).users()], [7, 15]);
    }
}
