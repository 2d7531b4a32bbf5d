//! Starts users at a rate, for one iteration each (`OpenModelThreadGroup.ThreadsStarter`). Each worker computes the whole
//! schedule and takes its share of it.
//!
//! Starts are not rounded to milliseconds, except for those that JMeter rounds to the end of the schedule.

use super::{Crew, Terms};
use crate::elements::thread_groups::OpenModel;

impl Crew {
    pub(super) async fn open_model(&mut self, open: &OpenModel) {
        self.worker.keep_schedules();
        let test_start_ms = self.shared.clock.start_ms();
        let at = |seconds: f64| test_start_ms + (seconds * 1000.0).round() as i64;
        let end_ms = at(open.duration_s());
        let terms = Terms {
            end_ms: Some(end_ms),
            interrupted_at_end: true,
            arrival: None,
        };
        let seed = open.seed(self.supply().seed);
        let times = open.times(seed).enumerate();
        for (number, time_s) in times.skip(self.index).step_by(self.count) {
            let due = if at(time_s) < end_ms {
                let start_ns = test_start_ms as u64 * 1_000_000;
                let since_ns = (time_s * 1e9) as u64;
                self.shared.clock.instant_ns(start_ns + since_ns)
            } else {
                self.shared.clock.instant(end_ms)
            };
            if !self.wait_for(due).await {
                return;
            }
            self.shared.counts.arrival(false);
            let arrival = Some(due);
            self.start_user(number as u32, Terms { arrival, ..terms });
        }
        // A schedule that ends with a pause lasts until it is over.
        self.wait_until(end_ms).await;
    }
}
