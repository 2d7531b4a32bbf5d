//! Starts iterations at a rate (`ArrivalsThreadStarter`). Each worker takes its share of the arrivals, and has a pool of
//! users that wait for the next one (`ArrivalsThreadGroup#poolThreads`).

use std::sync::atomic::Ordering;
use std::time::Instant;

use tokio::sync::oneshot;

use super::{Crew, Terms};
use crate::elements::thread_groups::Arrivals;

/// Users of one group on one worker that wait for an arrival.
#[derive(Default)]
pub struct Pool {
    waiting: Vec<oneshot::Sender<Instant>>,
    is_closed: bool,
}

impl Pool {
    /// A place for a user that waits; none once no arrivals come any more.
    pub fn enter(&mut self) -> Option<oneshot::Receiver<Instant>> {
        if self.is_closed {
            return None;
        }
        let (release, released) = oneshot::channel();
        self.waiting.push(release);
        Some(released)
    }

    /// Lets one user go on that arrives at `due`; false if none waits.
    fn release(&mut self, due: Instant) -> bool {
        while let Some(user) = self.waiting.pop() {
            if user.send(due).is_ok() {
                return true;
            }
        }
        false
    }

    /// Ends all that wait, and those that come.
    fn close(&mut self) {
        self.is_closed = true;
        self.waiting.clear();
    }
}

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
        self.worker.pool(self.start.group, Pool::close);
    }

    fn arrival(&mut self, due: Instant, concurrency_limit: i64) {
        let group = self.start.group;
        if self.worker.pool(group, |pool| pool.release(due)) {
            self.shared.counts.arrival(false);
            return;
        }
        let (active, _) = self.shared.counts.active(group);
        let is_left_out = concurrency_limit > 0 && i64::from(active) >= concurrency_limit;
        self.shared.counts.arrival(is_left_out);
        if !is_left_out {
            let number = self.supply().take_number();
            let terms = Terms {
                arrival: Some(due),
                ..Terms::default()
            };
            self.start_user(number, terms);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_takes_a_user_that_waits() {
        let mut pool = Pool::default();
        let due = Instant::now();
        assert!(!pool.release(due));
        let mut gone = pool.enter();
        let mut waits = pool.enter().expect("the pool is open");
        drop(gone.take());
        assert!(pool.release(due));
        assert_eq!(waits.try_recv(), Ok(due));
        assert!(!pool.release(due));
    }

    #[test]
    fn a_closed_pool_ends_those_that_wait_and_those_that_come() {
        let mut pool = Pool::default();
        let mut waits = pool.enter().expect("the pool is open");
        pool.close();
        assert_eq!(waits.try_recv(), Err(oneshot::error::TryRecvError::Closed));
        assert!(pool.enter().is_none());
    }
}
