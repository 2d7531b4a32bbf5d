//! As many concurrent users as a level says (`ConcurrencyThreadGroup`).

use std::time::Duration;

use drumfire_expr::{Scope, Template};
use drumfire_java::values;

use super::window::{LevelStretch, LevelUnit};

/// The group's settings, which are evaluated repeatedly while it runs.
pub struct Concurrency {
    pub target: Template,
    pub ramp_up: Template,
    pub steps: Template,
    pub hold: Template,
    /// Seconds in the unit of ramp-up and hold.
    pub unit_s: f64,
    /// `dynamic_tg.shift_rampup_start`, in seconds.
    pub shift_s: f64,
    /// How often the level is evaluated while no user runs (`dynamic_tg.temporisation`).
    pub idle_pause: Duration,
    /// The level as it is before the run, for reports on the plan.
    pub planned: Level,
}

impl std::fmt::Debug for Concurrency {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Concurrency")
            .field("planned", &self.planned)
            .finish_non_exhaustive()
    }
}

/// The group's settings at one moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Level {
    pub target: f64,
    pub ramp_up_s: i64,
    pub steps: i64,
    pub hold_s: i64,
    pub shift_s: f64,
}

impl Concurrency {
    pub fn users(&self) -> u32 {
        self.planned.target.max(0.0) as u32
    }

    /// The settings now.
    pub fn level(&self, scope: &mut dyn Scope) -> Level {
        Level {
            target: values::property_int(&self.target.eval(scope)).into(),
            ramp_up_s: Level::seconds(&self.ramp_up.eval(scope), self.unit_s),
            steps: values::property_long(&self.steps.eval(scope)),
            hold_s: Level::seconds(&self.hold.eval(scope), self.unit_s),
            shift_s: self.shift_s,
        }
    }

    pub fn stretches(&self) -> Vec<LevelStretch> {
        self.planned
            .stretches(LevelUnit::Users, self.planned.target)
    }
}

impl Level {
    /// `AbstractDynamicThreadGroupModel#getRampUpSeconds` and the like: an empty text, or one that is not a number, counts as 0.
    pub fn seconds(text: &str, unit_s: f64) -> i64 {
        (values::property_double(text) * unit_s + 0.5).floor() as i64
    }

    /// How many users there should be, `elapsed_s` after the start; `None` when the time is over
    /// (`ConcurrencyThreadStarter#getPlannedConcurrency`).
    pub fn users_at(&self, elapsed_s: f64) -> Option<u32> {
        let elapsed_s = (elapsed_s - self.shift_s).max(0.0);
        let ramp_up_s = self.ramp_up_s as f64;
        if elapsed_s >= ramp_up_s + self.hold_s as f64 {
            return None;
        }
        let users = if self.ramp_up_s == 0 || elapsed_s > ramp_up_s {
            self.target
        } else if self.steps > 0 {
            let steps = self.steps as f64;
            self.target / steps * ((elapsed_s / (ramp_up_s / steps)).floor() + 1.0)
        } else {
            self.target / ramp_up_s * elapsed_s
        };
        Some((users + 0.5).floor().max(0.0) as u32)
    }

    /// The stretches of the ramp-up and the hold, for a level that ends at `target`.
    pub fn stretches(&self, unit: LevelUnit, target: f64) -> Vec<LevelStretch> {
        let (ramp_up_s, hold_s) = (self.ramp_up_s as f64, self.hold_s as f64);
        let stretch = |start_s: f64, end_s: f64, from: f64, to: f64| LevelStretch {
            start_ms: ms(start_s),
            end_ms: ms(end_s),
            from,
            to,
            unit,
        };
        let mut stretches = Vec::new();
        if self.ramp_up_s > 0 && self.steps > 0 {
            let steps = self.steps as f64;
            for step in 0..self.steps {
                let (at, level) = (step as f64, target / steps * (step + 1) as f64);
                let length_s = ramp_up_s / steps;
                stretches.push(stretch(at * length_s, (at + 1.0) * length_s, level, level));
            }
        } else if self.ramp_up_s > 0 {
            stretches.push(stretch(0.0, ramp_up_s, 0.0, target));
        }
        stretches.push(stretch(ramp_up_s, ramp_up_s + hold_s, target, target));
        stretches
    }
}

fn ms(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1000.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEVEL: Level = Level {
        target: 5.0,
        ramp_up_s: 3,
        steps: 0,
        hold_s: 2,
        shift_s: 0.0,
    };

    fn users(level: Level, times: &[f64]) -> Vec<Option<u32>> {
        times.iter().map(|time_s| level.users_at(*time_s)).collect()
    }

    #[test]
    fn the_level_rises_evenly_or_in_steps_and_is_held() {
        let times = [0.0, 0.4, 1.0, 2.0, 3.0, 4.9, 5.0];
        let even = [Some(0), Some(1), Some(2), Some(3), Some(5), Some(5), None];
        assert_eq!(users(LEVEL, &times), even);
        let stepped = Level { steps: 3, ..LEVEL };
        let expected = [Some(2), Some(2), Some(3), Some(5), Some(7), Some(5), None];
        assert_eq!(users(stepped, &times), expected);
        let at_once = Level {
            ramp_up_s: 0,
            ..LEVEL
        };
        assert_eq!(users(at_once, &[0.0, 1.9, 2.0]), [Some(5), Some(5), None]);
        let shifted = Level {
            shift_s: 1.0,
            ..at_once
        };
        assert_eq!(users(shifted, &[2.9, 3.0]), [Some(5), None]);
    }

    #[test]
    fn the_load_is_shown_as_ramp_up_and_hold() {
        let shown = |level: Level| -> Vec<_> {
            let stretches = level.stretches(LevelUnit::Users, level.target);
            let part = |s: &LevelStretch| (s.start_ms, s.end_ms, s.from, s.to);
            stretches.iter().map(part).collect()
        };
        assert_eq!(
            shown(LEVEL),
            [(0, 3_000, 0.0, 5.0), (3_000, 5_000, 5.0, 5.0)]
        );
        let stepped = Level {
            target: 6.0,
            ramp_up_s: 6,
            steps: 3,
            ..LEVEL
        };
        assert_eq!(
            shown(stepped),
            [
                (0, 2_000, 2.0, 2.0),
                (2_000, 4_000, 4.0, 4.0),
                (4_000, 6_000, 6.0, 6.0),
                (6_000, 8_000, 6.0, 6.0)
            ]
        );
    }

    #[test]
    fn times_are_rounded_to_seconds() {
        assert_eq!(Level::seconds("1.5", 60.0), 90);
        assert_eq!(Level::seconds("0.4", 1.0), 0);
        assert_eq!(["", "x"].map(|text| Level::seconds(text, 1.0)), [0, 0]);
    }
}
