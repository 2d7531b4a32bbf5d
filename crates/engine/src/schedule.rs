//! Stop 3, **schedule**: when each user of a thread group starts and stops, as pure data (`ThreadGroup#start`).

use crate::program::Shape;

/// When one user starts and when its time is over, in milliseconds from the start of its thread group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub start_ms: i64,
    /// None where only its iterations end it.
    pub stop_ms: Option<i64>,
}

/// Why a thread group cannot start (`ThreadGroup#scheduleThread`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    Delay(i64),
    Duration(i64),
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Fault::Delay(delay_s) => write!(f, "Invalid delay {delay_s}"),
            Fault::Duration(duration_s) => write!(f, "Invalid duration {duration_s}"),
        }
    }
}

impl Shape {
    /// How many users the group has.
    pub fn users(&self) -> u32 {
        self.threads.max(0) as u32
    }

    /// # Errors
    /// When the scheduler has a negative delay or no duration: JMeter then does not start the group.
    pub fn check(&self) -> Result<(), Fault> {
        match self.scheduler {
            Some((delay_s, _)) if delay_s < 0 => Err(Fault::Delay(delay_s)),
            Some((_, duration_s)) if duration_s <= 0 && !self.delayed_start => {
                Err(Fault::Duration(duration_s))
            }
            _ => Ok(()),
        }
    }

    /// The window of a user, from 0. Users start `ramp-up / users` apart, rounded to milliseconds.
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
        let shape = Shape {
            threads: 3,
            ramp_up_s: 1,
            ..Shape::default()
        };
        let starts: Vec<_> = (0..3).map(|user| shape.window(user).start_ms).collect();
        assert_eq!(starts, [0, 333, 666]);
    }

    #[test]
    fn the_duration_counts_from_the_delay_and_not_from_the_ramp_up() {
        let shape = Shape {
            threads: 2,
            ramp_up_s: 10,
            scheduler: Some((3, 20)),
            ..Shape::default()
        };
        assert_eq!(
            shape.window(1),
            Window {
                start_ms: 8_000,
                stop_ms: Some(23_000)
            }
        );
    }

    #[test]
    fn a_scheduler_without_duration_does_not_start() {
        let shape = Shape {
            threads: 1,
            scheduler: Some((0, 0)),
            ..Shape::default()
        };
        assert_eq!(shape.check(), Err(Fault::Duration(0)));
        assert_eq!(Fault::Duration(0).to_string(), "Invalid duration 0");
    }

    #[test]
    fn no_users_and_no_ramp_up_are_harmless() {
        let shape = Shape {
            threads: 0,
            ramp_up_s: 5,
            ..Shape::default()
        };
        assert_eq!(shape.users(), 0);
        assert_eq!(
            Shape {
                threads: 4,
                ..Shape::default()
            }
            .window(3)
            .start_ms,
            0
        );
    }
}
