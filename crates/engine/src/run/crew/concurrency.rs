//! Keeps as many users running as a level says (`ConcurrencyThreadStarter`). The first worker follows the level; each
//! worker keeps its share of the users.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use super::{BATCH, Crew, Terms};
use crate::run::context::{Context, Identity};
use crate::run::schedule::Concurrency;
use crate::run::shared::Shared;
use crate::run::worker::Worker;

/// How often the level is evaluated while users run (`ConcurrencyThreadGroup.MIN_CHECK_TIME`).
const CHECK_PAUSE: Duration = Duration::from_secs(1);

impl Crew {
    pub(super) async fn concurrency(&mut self, concurrency: &Concurrency) {
        let mut level = self.supply().level.subscribe();
        let (shared, worker, start_ms) =
            (self.shared.clone(), self.worker.clone(), self.start.at_ms);
        let identity = self.identity(0, Terms::default());
        // One task that follows the level is enough, and the task of the group's first start runs as long as the group.
        let leads = self.index == 0 && self.start.moved.is_none();
        let lead = async move {
            if leads {
                follow(concurrency, shared, worker, identity, start_ms).await;
            }
        };
        let since_ms = self.since_ms();
        let keep = async {
            if self.start.moved.is_some() && !self.wait_until(since_ms).await {
                return;
            }
            let mut releases = self.worker.releases();
            loop {
                let mut users = self.part_of(*level.borrow_and_update());
                // Other machines have some of the users.
                let now = self.worker.releases();
                let has_lost = std::mem::replace(&mut releases, now) < now;
                if self.supply().order().is_some() || has_lost {
                    // In the plugin no user ends early when the level falls. An order for fewer users does end the surplus.
                    let surplus = self.running.len().saturating_sub(users);
                    self.worker.set_surplus(self.start.group, surplus);
                }
                while !self.is_over() && self.running.len() < users {
                    for _ in 0..BATCH.min(users - self.running.len()) {
                        let number = self.take_number();
                        self.start_user(number, Terms::default());
                    }
                    if self.running.len() < users {
                        tokio::task::yield_now().await;
                        users = self.part_of(*level.borrow());
                    }
                }
                // A user that ends is replaced once the level has been evaluated again.
                loop {
                    let ordered = self.worker.orders.notified();
                    if self.is_over() {
                        return;
                    }
                    tokio::select! {
                        () = ordered => break,
                        changed = level.changed() => match changed {
                            Ok(()) => break,
                            Err(_) => return,
                        },
                        Some(ended) = self.running.join_next() => {
                            self.report(ended);
                            self.supply().user_ended.notify_one();
                        }
                    }
                }
            }
        };
        tokio::join!(lead, keep);
    }

    fn is_over(&self) -> bool {
        self.supply().over.load(Ordering::Relaxed) || self.shared.control.stopping()
    }
}

/// Publishes the level until the time is over or the run is told to stop.
async fn follow(
    concurrency: &Concurrency,
    shared: Arc<Shared>,
    worker: Rc<Worker>,
    identity: Identity,
    start_ms: i64,
) {
    let group = identity.group;
    let supply = &shared.supplies[group];
    // The settings may hold functions: they are evaluated for a user that never runs.
    let mut cx = Context::new(&shared, &worker, identity);
    let mut is_first = true;
    loop {
        let stop = worker.stop.notified();
        if shared.control.stopping() {
            break;
        }
        if supply.is_stopped() {
            break;
        }
        let level = concurrency.level(&mut cx);
        let elapsed_s = (shared.clock.now_ms() - start_ms) as f64 / 1000.0;
        match level.users_at(elapsed_s) {
            Some(users) if !is_first || level.target > 0.0 => {
                let ordered = supply.order().map(|(_, users)| users);
                supply.level.send_replace(ordered.unwrap_or(users))
            }
            _ => break,
        };
        is_first = false;
        let is_idle = shared.counts.active(group).0 == 0;
        let pause = if is_idle {
            concurrency.idle_pause
        } else {
            CHECK_PAUSE
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = supply.user_ended.notified() => {}
            () = stop => {}
        }
    }
    supply.over.store(true, Ordering::Relaxed);
    supply.level.send_replace(0);
}

#[cfg(test)]
mod tests {
    use super::super::share;

    #[test]
    fn the_workers_shares_add_up() {
        for users in [0, 1, 5, 64] {
            let shares = (0..3).map(|index| share(users, index, 3));
            assert_eq!(shares.sum::<usize>(), users as usize);
        }
        assert_eq!([share(4, 0, 3), share(4, 1, 3), share(4, 2, 3)], [2, 1, 1]);
    }
}
