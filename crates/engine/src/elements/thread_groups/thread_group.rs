//! Thread Group (`ThreadGroup`, `SetupThreadGroup`, `PostThreadGroup`): so many users, started evenly over a ramp-up, each
//! for so many iterations or until the time is over.
//!
//! Properties, computed before the run: `ThreadGroup.num_threads`, `.ramp_time`, `.delayedStart`, `.scheduler`, `.delay`,
//! `.duration` (seconds), `.same_user_on_next_iteration`, and the loop controller in `ThreadGroup.main_controller`.

use super::Load;
use crate::base::number;
use crate::decode::Decoder;
use crate::run::schedule::{Fault, Shape, Window};

/// All times in seconds, as the plan has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ramp {
    pub threads: i32,
    pub ramp_up_s: i32,
    pub delayed_start: bool,
    /// Delay and duration, where the group has a scheduler.
    pub scheduler: Option<(i64, i64)>,
}

pub fn decode(d: &mut Decoder) -> Option<Load> {
    let is_true =
        |d: &mut Decoder, property: &str| d.text_now(property).eq_ignore_ascii_case("true");
    let scheduler = is_true(d, "ThreadGroup.scheduler").then(|| {
        let delay_s = number::long(&d.text_now("ThreadGroup.delay"));
        let duration_s = number::long(&d.text_now("ThreadGroup.duration"));
        (delay_s, duration_s)
    });
    let ramp = Ramp {
        threads: number::int(&d.text_now("ThreadGroup.num_threads")),
        ramp_up_s: number::int(&d.text_now("ThreadGroup.ramp_time")),
        delayed_start: is_true(d, "ThreadGroup.delayedStart"),
        scheduler,
    };
    let same_user = !d
        .element
        .props
        .has("ThreadGroup.same_user_on_next_iteration")
        || is_true(d, "ThreadGroup.same_user_on_next_iteration");
    super::looping(d, Shape::Ramp(ramp), same_user)
}

impl Ramp {
    pub fn users(&self) -> u32 {
        self.threads.max(0) as u32
    }

    /// # Errors
    /// When the scheduler has a negative delay or no duration (`ThreadGroup#scheduleThread`).
    pub fn check(&self) -> Result<(), Fault> {
        match self.scheduler {
            Some((delay_s, _)) if delay_s < 0 => Err(Fault::Delay(delay_s)),
            Some((_, duration_s)) if duration_s <= 0 && !self.delayed_start => {
                Err(Fault::Duration(duration_s))
            }
            _ => Ok(()),
        }
    }

    /// The window of a user, from 0. Users start `ramp-up / users` apart, rounded to milliseconds (`ThreadGroup#start`).
    pub fn window(&self, user: u32) -> Window {
        let threads = self.threads.max(1) as f32;
        let apart_ms = (self.ramp_up_s as f32 * 1000.0 / threads).round() as i64;
        let ramp_ms = apart_ms.max(0) * i64::from(user);
        let Some((delay_s, duration_s)) = self.scheduler else {
            return Window {
                start_ms: ramp_ms,
                stop_ms: None,
            };
        };
        let delay_ms = delay_s.saturating_mul(1000);
        Window {
            start_ms: delay_ms + ramp_ms,
            stop_ms: Some(delay_ms.saturating_add(duration_s.max(0).saturating_mul(1000))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_start_evenly_over_the_ramp_up() {
        let ramp = Ramp {
            threads: 3,
            ramp_up_s: 1,
            ..Ramp::default()
        };
        let starts: Vec<_> = (0..3).map(|user| ramp.window(user).start_ms).collect();
        assert_eq!(starts, [0, 333, 666]);
    }

    #[test]
    fn the_duration_counts_from_the_delay_and_not_from_the_ramp_up() {
        let ramp = Ramp {
            threads: 2,
            ramp_up_s: 10,
            scheduler: Some((3, 20)),
            ..Ramp::default()
        };
        assert_eq!(
            ramp.window(1),
            Window {
                start_ms: 8_000,
                stop_ms: Some(23_000)
            }
        );
    }

    #[test]
    fn a_scheduler_without_duration_does_not_start() {
        let ramp = Ramp {
            threads: 1,
            scheduler: Some((0, 0)),
            ..Ramp::default()
        };
        assert_eq!(ramp.check(), Err(Fault::Duration(0)));
        assert_eq!(Fault::Duration(0).to_string(), "Invalid duration 0");
    }

    #[test]
    fn no_users_and_no_ramp_up_are_harmless() {
        let none = Ramp {
            threads: 0,
            ramp_up_s: 5,
            ..Ramp::default()
        };
        assert_eq!(none.users(), 0);
        let at_once = Ramp {
            threads: 4,
            ..Ramp::default()
        };
        assert_eq!(at_once.window(3).start_ms, 0);
    }
}
