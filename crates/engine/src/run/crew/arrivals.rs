//! Starts iterations at a rate (`ArrivalsThreadStarter`). Each worker takes its share of the arrivals.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Crew, Terms};
use crate::run::schedule::Arrivals;
use crate::run::supply::Arrival;

impl Crew {
    pub(super) async fn arrivals(&mut self, arrivals: &Arrivals) {
        self.worker.keep_schedules();
        let mut times = arrivals.times();
        let mut scheduled = 0_usize;
        loop {
            let due_ms = times.next();
            let is_mine = scheduled % self.count == self.index;
            if due_ms.is_some() && !is_mine {
                scheduled += 1;
                continue;
            }
            let at_ms = due_ms.unwrap_or_else(|| times.end_ms()).ceil() as i64;
            let due = self.shared.clock.instant(self.start.at_ms + at_ms);
            if !self.wait_for(due).await || self.supply().limit_reached() {
                break;
            }
            if due_ms.is_none() {
                // Users end before their next sampler once all have arrived.
                let extra = self.supply().extra_arrivals.load(Ordering::Relaxed);
                let limit = &self.supply().arrivals_limit;
                limit.store((scheduled as i64 + extra).max(1), Ordering::Relaxed);
                break;
            }
            scheduled += 1;
            let copies = self.arrivals_for_one();
            let extra = copies as i64 - 1;
            self.supply()
                .extra_arrivals
                .fetch_add(extra, Ordering::Relaxed);
            for _ in 0..copies {
                self.arrival(due, arrivals.concurrency_limit);
            }
        }
        self.supply().pool().close(self.count);
    }

    fn arrival(&mut self, due: Instant, concurrency_limit: i64) {
        let arrival = self.supply().pool().arrive(due, concurrency_limit);
        self.shared.counts.arrival(arrival == Arrival::LeftOut);
        if arrival == Arrival::Starts {
            let number = self.supply().take_number();
            let terms = Terms {
                arrival: Some(due),
                ..Terms::default()
            };
            self.start_user(number, terms);
        }
    }
}
