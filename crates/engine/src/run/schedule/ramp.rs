//! A number of users, started evenly over a ramp-up (`ThreadGroup`).

use super::window::{ScheduleError, Window};

/// All times in seconds, as the plan has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ramp {
    pub threads: i32,
    pub ramp_up_s: i32,
    pub delayed_start: bool,
    /// Delay and duration, where the group has a scheduler.
    pub scheduler: Option<(i64, i64)>,
}

impl Ramp {
    pub fn users(&self) -> u32 {
        self.threads.max(0) as u32
    }

    /// # Errors
    /// When the scheduler has a negative delay or no duration (`ThreadGroup#scheduleThread`). With delayed thread creation,
    /// JMeter checks neither.
    pub fn check(&self) -> Result<(), ScheduleError> {
        match self.scheduler {
            _ if self.delayed_start => Ok(()),
            Some((delay_s, _)) if delay_s < 0 => Err(ScheduleError::Delay(delay_s)),
            Some((_, duration_s)) if duration_s <= 0 => Err(ScheduleError::Duration(duration_s)),
            _ => Ok(()),
        }
    }

    /// The windows of all users, in the order of their starts.
    pub fn windows(&self) -> Box<dyn Iterator<Item = Window> + '_> {
        let (delay_s, duration_s) = self.scheduler.unwrap_or_default();
        let delay_ms = delay_s.max(0).saturating_mul(1000);
        let duration_ms = duration_s.max(0).saturating_mul(1000);
        let stop_ms = self.scheduler.map(|_| delay_ms.saturating_add(duration_ms));
        let window = move |start_ms: i64| Window {
            start_ms: delay_ms.saturating_add(start_ms),
            stop_ms,
        };
        if self.delayed_start {
            // Threads that would start past the end are not created. JMeter takes the end from the clock before it reads the
            // number of users and the ramp-up, and the ramp-up counts from later. So a start exactly at the end is too late.
            let in_time = move |window: &Window| stop_ms.is_none_or(|end| window.start_ms < end);
            return match self.scheduler {
                // No duration: the end is the year 1970.
                Some((_, duration_s)) if duration_s <= 0 => Box::new(std::iter::empty()),
                _ => Box::new(self.late_starts().map(window).take_while(in_time)),
            };
        }
        Box::new(self.even_starts().map(window))
    }

    /// Users start `ramp-up / users` apart, rounded to milliseconds (`ThreadGroup#start`).
    fn even_starts(&self) -> impl Iterator<Item = i64> + use<> {
        let threads = self.threads.max(1) as f32;
        let apart_ms = (self.ramp_up_s as f32 * 1000.0 / threads).round() as i64;
        (0..i64::from(self.users())).map(move |user| apart_ms.max(0) * user)
    }

    /// Before each user but the first, JMeter waits for the rest of the ramp-up divided by the number of remaining users,
    /// including this one (`ThreadGroup$ThreadStarter#run`). So the last one starts at the end of the ramp-up.
    fn late_starts(&self) -> impl Iterator<Item = i64> + use<> {
        let (users, ramp_up_ms) = (self.users(), self.ramp_up_s as f32 * 1000.0);
        let mut start_ms = 0_i64;
        (0..users).map(move |user| {
            if user > 0 {
                let pause = (ramp_up_ms - start_ms as f32) / (users - user) as f32;
                start_ms += (pause.round() as i64).max(0);
            }
            start_ms
        })
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
        let starts: Vec<_> = ramp.windows().map(|window| window.start_ms).collect();
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
            ramp.windows().nth(1),
            Some(Window {
                start_ms: 8_000,
                stop_ms: Some(23_000)
            })
        );
    }

    #[test]
    fn a_scheduler_without_duration_does_not_start() {
        let ramp = Ramp {
            threads: 1,
            scheduler: Some((0, 0)),
            ..Ramp::default()
        };
        assert_eq!(ramp.check(), Err(ScheduleError::Duration(0)));
        assert_eq!(ScheduleError::Duration(0).to_string(), "Invalid duration 0");
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
        assert!(at_once.windows().all(|window| window.start_ms == 0));
    }

    fn delayed(users: i32, ramp_up_s: i32, scheduler: Option<(i64, i64)>) -> Vec<i64> {
        let ramp = Ramp {
            threads: users,
            ramp_up_s,
            delayed_start: true,
            scheduler,
        };
        assert_eq!(ramp.check(), Ok(()));
        ramp.windows().map(|window| window.start_ms).collect()
    }

    #[test]
    fn users_created_when_needed_share_what_is_left_of_the_ramp_up() {
        assert_eq!(delayed(5, 4, None), [0, 1_000, 2_000, 3_000, 4_000]);
        assert_eq!(delayed(4, 1, None), [0, 333, 667, 1_000]);
        assert_eq!(delayed(1, 9, None), [0]);
        assert_eq!(delayed(3, 0, None), [0, 0, 0]);
    }

    #[test]
    fn users_that_would_be_created_past_the_end_are_not() {
        assert_eq!(delayed(6, 6, Some((0, 3))), [0, 1_200, 2_400]);
        assert_eq!(delayed(6, 6, Some((2, 3))), [2_000, 3_200, 4_400]);
        assert_eq!(delayed(2, 1, Some((-5, 3))), [0, 1_000]);
        assert_eq!(delayed(3, 2, Some((0, 2))), [0, 1_000]);
        assert!(delayed(2, 1, Some((0, 0))).is_empty());
    }
}
