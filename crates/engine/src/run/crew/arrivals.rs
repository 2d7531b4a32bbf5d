//! Starts iterations at a rate (`ArrivalsThreadStarter`). Each worker takes its share of the arrivals.

use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{Crew, Terms};
use crate::run::schedule::Arrivals;
use crate::run::supply::Arrival;

impl Crew {
    pub(super) async fn arrivals(&mut self, arrivals: &Arrivals) {
        self.worker.keep_schedules();
        let mine = self.mine();
        let mut times = arrivals.times();
        let mut scheduled = 0_u32;
        let concurrency_limit = self.limit_of(arrivals.concurrency_limit);
        loop {
            let due_ms = times.next();
            let at_ms = due_ms.unwrap_or_else(|| times.end_ms()).ceil() as i64;
            let due_at_ms = self.start.at_ms + at_ms;
            let is_others = |number: u32| {
                !mine(number) || self.is_missed(due_at_ms) || self.is_released(number, due_at_ms)
            };
            if due_ms.is_some() && is_others(scheduled) {
                scheduled += 1;
                continue;
            }
            let due = self.shared.clock.instant(due_at_ms);
            if !self.wait_for(due).await || self.supply().limit_reached() {
                break;
            }
            if due_ms.is_none() {
                // Users end before their next sampler once all have arrived.
                let extra = self.supply().extra_arrivals.load(Ordering::Relaxed);
                let limit = &self.supply().arrivals_limit;
                let own = self.own_arrivals(arrivals, scheduled);
                limit.store((own as i64 + extra).max(1), Ordering::Relaxed);
                break;
            }
            // Another machine may have taken it over in the meantime.
            let is_released = self.is_released(scheduled, due_at_ms);
            scheduled += 1;
            if is_released {
                continue;
            }
            let copies = self.arrivals_for_one();
            let extra = copies as i64 - 1;
            self.supply()
                .extra_arrivals
                .fetch_add(extra, Ordering::Relaxed);
            for _ in 0..copies {
                self.arrival(due, concurrency_limit);
            }
        }
        self.supply().pool().close();
    }

    /// How many of the scheduled arrivals were those of this machine.
    fn own_arrivals(&self, arrivals: &Arrivals, scheduled: u32) -> u64 {
        let part = &self.shared.part;
        if !part.has_moves() {
            return part.slots().count_of(scheduled.into());
        }
        let mut times = arrivals.times();
        let due = std::iter::from_fn(|| times.next());
        let due_ms = due.map(|at_ms| self.start.at_ms + at_ms.ceil() as i64);
        part.count_of((0..u64::from(scheduled)).zip(due_ms))
    }

    /// This machine's part of a limit; `None` if the limit is 0, which means unlimited.
    fn limit_of(&self, limit: i64) -> Option<i64> {
        let limit = u64::try_from(limit).ok().filter(|limit| *limit > 0)?;
        Some(self.shared.part.slots().count_of(limit) as i64)
    }

    fn arrival(&mut self, due: Instant, concurrency_limit: Option<i64>) {
        let arrival = self.supply().pool().arrive(due, concurrency_limit);
        self.shared.counts.arrival(arrival == Arrival::LeftOut);
        if arrival == Arrival::Starts {
            let number = self.take_number();
            let terms = Terms {
                arrival: Some(due),
                ..Terms::default()
            };
            self.start_user(number, terms);
        }
    }
}
