//! Concurrency Thread Group (`com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup`): keeps as many users
//! running as its level says, starting new ones as others end.
//!
//! Properties: `TargetLevel`, `RampUp`, `Steps`, `Hold`, `Unit` (`M` or `S`), `Iterations` (per user), and
//! `same_user_on_next_iteration`. Level, ramp-up, steps and hold are computed again and again while the group runs, so that
//! functions (`__tstFeedback`) can steer it. The level is looked at once a second and whenever a user ends. The plugin's own
//! log file (`LogFilename`) is not written.

use std::time::Duration;

use drumfire_expr::{Scope, Template, values};

use super::Load;
use crate::decode::Decoder;
use crate::run::schedule::{LevelUnit, Shape, Stretch};
use crate::run::walk::{Kind, VirtualUser};

pub struct Concurrency {
    target: Template,
    ramp_up: Template,
    steps: Template,
    hold: Template,
    /// Seconds in the unit of ramp-up and hold.
    unit_s: f64,
    /// `dynamic_tg.shift_rampup_start`, in seconds.
    shift_s: f64,
    /// How long the level waits for the first user (`dynamic_tg.temporisation`).
    pub idle_pause: Duration,
    /// The level as it is before the run, for those who look at the plan.
    planned: Level,
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

pub fn decode(d: &mut Decoder) -> Load {
    warn_of_log_file(d);
    let property = |d: &Decoder, name: &str| d.settings().properties.get(name);
    let shift = property(d, "dynamic_tg.shift_rampup_start");
    let pause = d
        .settings()
        .properties
        .get_long("dynamic_tg.temporisation", 10);
    let mut concurrency = Concurrency {
        target: text_or(d, "TargetLevel", "1"),
        ramp_up: d.template("RampUp"),
        steps: d.template("Steps"),
        hold: text_or(d, "Hold", "1"),
        unit_s: unit_s(d),
        shift_s: shift.map_or(0.0, |text| values::property_long(text.trim()) as f64),
        idle_pause: Duration::from_millis(pause.try_into().unwrap_or(0)),
        planned: Level::default(),
    };
    concurrency.planned = concurrency.level(d.unit.compiler.scope_mut());
    Load {
        root: Kind::VirtualUser(Box::new(virtual_user(d, false))),
        shape: Shape::Concurrency(Box::new(concurrency)),
        loops: None,
        same_user: same_user(d),
        thread_name_suffix: "-ThreadStarter",
    }
}

/// A property's text, or what the plugin takes where it is missing.
pub fn text_or(d: &mut Decoder, property: &str, default: &str) -> Template {
    d.optional(property)
        .unwrap_or_else(|| Template::raw(default))
}

/// `AbstractDynamicThreadGroup#getUnitFactor`.
pub fn unit_s(d: &mut Decoder) -> f64 {
    if d.text_now("Unit") == "M" { 60.0 } else { 1.0 }
}

pub fn virtual_user(d: &mut Decoder, arrives: bool) -> VirtualUser {
    VirtualUser {
        iterations: d.template("Iterations"),
        arrives,
    }
}

pub fn same_user(d: &mut Decoder) -> bool {
    !d.element.props.has("same_user_on_next_iteration")
        || values::property_bool(&d.text_now("same_user_on_next_iteration"))
}

pub fn warn_of_log_file(d: &mut Decoder) {
    if !d.text("LogFilename").is_empty() {
        let message = format!(
            "the log of thread states of '{}' is not written",
            d.element.name
        );
        d.warn("thread-log", message);
    }
}

/// `AbstractDynamicThreadGroupModel#getRampUpSeconds` and its like: none and what is no number count 0.
pub fn seconds(text: &str, unit_s: f64) -> i64 {
    (values::property_double(text) * unit_s + 0.5).floor() as i64
}

impl Concurrency {
    pub fn users(&self) -> u32 {
        self.planned.target.max(0.0) as u32
    }

    /// What the settings are now.
    pub fn level(&self, scope: &mut dyn Scope) -> Level {
        Level {
            target: values::property_int(&self.target.eval(scope)).into(),
            ramp_up_s: seconds(&self.ramp_up.eval(scope), self.unit_s),
            steps: values::property_long(&self.steps.eval(scope)),
            hold_s: seconds(&self.hold.eval(scope), self.unit_s),
            shift_s: self.shift_s,
        }
    }

    pub fn stretches(&self) -> Vec<Stretch> {
        self.planned
            .stretches(LevelUnit::Users, self.planned.target)
    }
}

impl Level {
    /// How many users there should be, so many seconds after the start; none when the time is over
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

    /// The ramp-up and the hold, at a level that is `target` in the end.
    pub fn stretches(&self, unit: LevelUnit, target: f64) -> Vec<Stretch> {
        let ms = |seconds: f64| (seconds.max(0.0) * 1000.0) as u64;
        let (ramp_up_s, hold_s) = (self.ramp_up_s as f64, self.hold_s as f64);
        let stretch = |start_s: f64, end_s: f64, from: f64, to: f64| Stretch {
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
            let part = |s: &Stretch| (s.start_ms, s.end_ms, s.from, s.to);
            stretches.iter().map(part).collect()
        };
        assert_eq!(
            shown(LEVEL),
            [(0, 3_000, 0.0, 5.0), (3_000, 5_000, 5.0, 5.0)]
        );
        let stepped = Level {
            target: 6.0,
            steps: 3,
            ..LEVEL
        };
        assert_eq!(
            shown(stepped),
            [
                (0, 1_000, 2.0, 2.0),
                (1_000, 2_000, 4.0, 4.0),
                (2_000, 3_000, 6.0, 6.0),
                (3_000, 5_000, 6.0, 6.0)
            ]
        );
    }

    #[test]
    fn times_are_rounded_to_seconds() {
        assert_eq!(seconds("1.5", 60.0), 90);
        assert_eq!(seconds("0.4", 1.0), 0);
        assert_eq!([seconds("", 1.0), seconds("x", 1.0)], [0, 0]);
    }
}
