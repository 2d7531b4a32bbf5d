//! State that the workers and users of one thread group share while it runs.

mod java;
mod pool;

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, oneshot, watch};

use java::JavaSupply;
pub use pool::Arrival;
use pool::Pool;

use crate::run::program::{Group, GroupStart};
use crate::run::schedule::Shape;
use crate::run::share::{Share, Slots};

/// State that the workers and users of one thread group share while it runs.
pub struct Supply {
    /// No user starts any more, and those of dynamic groups end before their next sampler.
    pub over: AtomicBool,
    /// The group's users are to end (`AbstractThreadGroup#stop`).
    stopped: AtomicBool,
    next_number: AtomicU32,
    arrivals: AtomicI64,
    /// Arrivals after which the group ends; 0 is no limit, and a negative one is reached at once.
    pub arrivals_limit: AtomicI64,
    /// How many users there should be now.
    pub level: watch::Sender<u32>,
    pub user_ended: Notify,
    /// The seed of the random arrivals of this run.
    pub seed: i64,
    /// Users that wait for an arrival (`ArrivalsThreadGroup#poolThreads`).
    pool: Mutex<Pool>,
    /// The group's settings, if they were read when it started.
    started: OnceLock<GroupStart>,
    /// How many orders set the number of users, and the number that the last one set.
    orders: AtomicU32,
    ordered_users: AtomicU32,
    /// Workers that have users of this group, or are yet to start some.
    busy: AtomicUsize,
    /// Notified when the last of them has no users any more.
    pub idle: Notify,
    /// Arrivals more or fewer than the schedule has, by the rate factor and pauses.
    pub extra_arrivals: AtomicI64,
    /// Users that the group's Java object starts.
    pub java: JavaSupply,
}

impl Supply {
    /// The state of the group with this index in the plan.
    pub fn new(group: &Group, share: &Share, index: usize) -> Supply {
        Supply {
            over: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            next_number: AtomicU32::new(0),
            arrivals: AtomicI64::new(0),
            arrivals_limit: AtomicI64::new(arrivals_limit(&group.shape, &share.slots)),
            level: watch::Sender::new(0),
            user_ended: Notify::new(),
            seed: share
                .group_seed(index)
                .unwrap_or_else(|| drumfire_expr::Random::from_entropy().next_u64() as i64),
            pool: Mutex::default(),
            started: OnceLock::new(),
            orders: AtomicU32::new(0),
            ordered_users: AtomicU32::new(0),
            busy: AtomicUsize::new(0),
            idle: Notify::new(),
            extra_arrivals: AtomicI64::new(0),
            java: JavaSupply::default(),
        }
    }

    /// Stores the settings with which the group starts.
    pub fn start(&self, start: GroupStart, slots: &Slots) {
        let limit = arrivals_limit(&start.shape, slots);
        self.arrivals_limit.store(limit, Ordering::Relaxed);
        let first = self.started.set(start);
        debug_assert!(first.is_ok(), "a thread group starts once");
    }

    /// The settings that it started with, if they were read then.
    pub fn started(&self) -> Option<&GroupStart> {
        self.started.get()
    }

    /// Orders the number of users from now on.
    pub fn order_users(&self, users: u32) {
        self.ordered_users.store(users, Ordering::Relaxed);
        self.orders.fetch_add(1, Ordering::Release);
        self.user_ended.notify_one();
    }

    /// The number of the last order, and how many users it asks for; `None` if there was no order.
    pub fn order(&self) -> Option<(u32, u32)> {
        let number = self.orders.load(Ordering::Acquire);
        (number > 0).then(|| (number, self.ordered_users.load(Ordering::Relaxed)))
    }

    /// Announces that users of the group are about to start on this many workers.
    pub fn expect_crews(&self, workers: usize) {
        self.busy.fetch_add(workers, Ordering::AcqRel);
        self.pool().expect(workers);
    }

    /// Whether the group needs no more users or iterations (`AbstractDynamicThreadGroup#isLimitReached`).
    pub fn limit_reached(&self) -> bool {
        let limit = self.arrivals_limit.load(Ordering::Relaxed);
        self.over.load(Ordering::Relaxed)
            || (limit != 0 && self.arrivals.load(Ordering::Relaxed) >= limit)
    }

    /// Ends the group's users after their samples at hand, and starts no others.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
        self.over.store(true, Ordering::Relaxed);
        self.user_ended.notify_one();
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// Counts an iteration that has begun (`ArrivalsThreadGroup#arrivalFact`).
    pub fn arrive(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }

    /// Records that a worker has no users of this group any more; true if it was the last.
    pub fn leave(&self) -> bool {
        let was_last = self.busy.fetch_sub(1, Ordering::AcqRel) == 1;
        if was_last {
            self.idle.notify_waiters();
        }
        was_last
    }

    /// Records that a worker has users of this group again.
    pub fn enter(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    pub fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    pub fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a user into the pool, where it waits for an arrival; `None` once no more arrivals come.
    pub fn wait_for_arrival(&self) -> Option<oneshot::Receiver<Instant>> {
        self.pool().enter()
    }

    /// Records that one of the group's users has ended.
    pub fn user_left(&self) {
        self.pool().leave();
    }

    pub fn take_number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }
}

/// This machine's part of a group's limit of arrivals. If the group has a limit but this machine no part of it, -1, which is
/// reached at once.
fn arrivals_limit(shape: &Shape, slots: &Slots) -> i64 {
    let Shape::Arrivals(arrivals) = shape else {
        return 0;
    };
    match u64::try_from(arrivals.arrivals_limit) {
        Ok(0) | Err(_) => 0,
        Ok(limit) => match slots.count_of(limit) {
            0 => -1,
            part => part as i64,
        },
    }
}
