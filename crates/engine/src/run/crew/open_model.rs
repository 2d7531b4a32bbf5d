//! Starts users at a rate, for one iteration each (`OpenModelThreadGroup.ThreadsStarter`). Each worker computes the whole
//! schedule and takes its share of it.
//!
//! Starts are not rounded to milliseconds, except for those that JMeter rounds to the end of the schedule.

use std::time::Instant;

use super::{Crew, Terms};
use crate::base::clock::Clock;
use crate::run::schedule::OpenModel;

impl Crew {
    pub(super) async fn open_model(&mut self, open: &OpenModel) {
        self.worker.keep_schedules();
        let clock = self.shared.clock;
        let origin_ms = self.shared.schedule_origin_ms(self.start.group);
        let end_ms = rounded_ms(origin_ms, open.duration_s());
        let terms = Terms {
            end_ms: Some(end_ms),
            interrupted_at_end: true,
            arrival: None,
        };
        let seed = open.seed(self.supply().seed);
        let mine = self.mine();
        let times = (0..).zip(open.times(seed));
        for (number, time_s) in times.filter(|(number, _)| mine(*number)) {
            let due_ms = rounded_ms(origin_ms, time_s);
            if self.is_missed(due_ms) || self.is_released(number, due_ms) {
                continue;
            }
            let due = start(&clock, origin_ms, time_s, end_ms);
            if !self.wait_for(due).await {
                return;
            }
            // Another machine may have taken it over in the meantime.
            if self.is_released(number, due_ms) {
                continue;
            }
            for copy in 0..self.arrivals_for_one() {
                self.shared.counts.arrival(false);
                let number = match copy {
                    0 => number,
                    _ => open.users() + self.take_number(),
                };
                let arrival = Some(due);
                self.start_user(number, Terms { arrival, ..terms });
            }
        }
        // A schedule that ends with a pause lasts until it is over.
        self.wait_until(end_ms).await;
    }
}

/// Milliseconds since the epoch of a time in seconds since the start of the test, as JMeter rounds it.
fn rounded_ms(origin_ms: i64, time_s: f64) -> i64 {
    origin_ms + (time_s * 1000.0).round() as i64
}

/// The start of the user that is scheduled at `time_s`.
fn start(clock: &Clock, origin_ms: i64, time_s: f64, end_ms: i64) -> Instant {
    if rounded_ms(origin_ms, time_s) >= end_ms {
        return clock.instant(end_ms);
    }
    let start_ns = origin_ms as u64 * 1_000_000;
    clock.instant_ns(start_ns + (time_s * 1e9) as u64)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn users_of_one_millisecond_start_one_after_the_other() {
        let clock = Clock::start();
        let origin_ms = clock.start_ms();
        let end_ms = rounded_ms(origin_ms, 2.0);
        let starts =
            [1.0002, 1.0004, 1.0006].map(|time_s| start(&clock, origin_ms, time_s, end_ms));
        let apart = Duration::from_micros(199)..Duration::from_micros(201);
        for pair in starts.windows(2) {
            assert!(apart.contains(&(pair[1] - pair[0])), "{starts:?}");
        }
        assert!(starts[0] > clock.instant(clock.start_ms() + 1_000));
    }

    /// Samples still running at the end are interrupted, so a user that JMeter starts at the end must not start just before it.
    #[test]
    fn a_user_that_jmeter_starts_at_the_end_starts_no_earlier() {
        let clock = Clock::start();
        let origin_ms = clock.start_ms();
        let end_ms = rounded_ms(origin_ms, 2.0);
        assert_eq!(
            start(&clock, origin_ms, 1.9996, end_ms),
            clock.instant(end_ms)
        );
        assert!(start(&clock, origin_ms, 1.9994, end_ms) < clock.instant(end_ms));
    }
}
