//! Brings the users of a thread group to life when its schedule says so: one file for each way of doing it.

mod arrivals;
mod concurrency;
mod open_model;
mod windows;

use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, oneshot, watch};
use tokio::task::{JoinError, JoinSet};

use arrivals::Pool;

use crate::run::context::Identity;
use crate::run::program::{Group, GroupStart, Program};
use crate::run::schedule::Shape;
use crate::run::shared::Shared;
use crate::run::user::User;
use crate::run::worker::Worker;
use crate::run::worker::{Enlisted, StartGroup};

/// What the workers and users of one thread group share while it runs.
pub struct Supply {
    /// No user starts any more, and those of dynamic groups end before their next sampler.
    over: AtomicBool,
    /// Its users end (`AbstractThreadGroup#stop`).
    stopped: AtomicBool,
    next_number: AtomicU32,
    arrivals: AtomicI64,
    /// Arrivals after which the group ends; 0 is no limit.
    arrivals_limit: AtomicI64,
    /// How many users there should be now.
    level: watch::Sender<u32>,
    user_ended: Notify,
    /// Of the random arrivals of this run.
    seed: i64,
    /// Users that wait for an arrival (`ArrivalsThreadGroup#poolThreads`).
    pool: Mutex<Pool>,
    /// The group's settings, where they were read when it started.
    started: OnceLock<GroupStart>,
    /// How often somebody ordered how many users there are to be, and the last order.
    orders: AtomicU32,
    ordered_users: AtomicU32,
    /// Workers that have users of this group, or are yet to start some.
    busy: AtomicUsize,
    /// The last of them has none any more.
    idle: Notify,
    /// Arrivals more or fewer than the schedule has, by the rate factor and pauses.
    extra_arrivals: AtomicI64,
}

impl Supply {
    pub fn new(group: &Group) -> Supply {
        Supply {
            over: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            next_number: AtomicU32::new(0),
            arrivals: AtomicI64::new(0),
            arrivals_limit: AtomicI64::new(arrivals_limit(&group.shape)),
            level: watch::Sender::new(0),
            user_ended: Notify::new(),
            seed: drumfire_expr::Random::from_entropy().next_u64() as i64,
            pool: Mutex::default(),
            started: OnceLock::new(),
            orders: AtomicU32::new(0),
            ordered_users: AtomicU32::new(0),
            busy: AtomicUsize::new(0),
            idle: Notify::new(),
            extra_arrivals: AtomicI64::new(0),
        }
    }

    /// The group starts with these settings.
    pub fn start(&self, start: GroupStart) {
        let limit = arrivals_limit(&start.shape);
        self.arrivals_limit.store(limit, Ordering::Relaxed);
        let first = self.started.set(start);
        debug_assert!(first.is_ok(), "a thread group starts once");
    }

    /// The settings that it started with, where they were read then.
    pub fn started(&self) -> Option<&GroupStart> {
        self.started.get()
    }

    /// From now on there are to be so many users.
    pub fn order_users(&self, users: u32) {
        self.ordered_users.store(users, Ordering::Relaxed);
        self.orders.fetch_add(1, Ordering::Release);
        self.user_ended.notify_one();
    }

    /// How many users somebody ordered last, and the number of that order; none if nobody did.
    fn order(&self) -> Option<(u32, u32)> {
        let number = self.orders.load(Ordering::Acquire);
        (number > 0).then(|| (number, self.ordered_users.load(Ordering::Relaxed)))
    }

    /// The group is about to start on so many workers.
    pub fn expect_crews(&self, workers: usize) {
        self.busy.store(workers, Ordering::Release);
    }

    /// `AbstractDynamicThreadGroup#isLimitReached`.
    pub fn limit_reached(&self) -> bool {
        let limit = self.arrivals_limit.load(Ordering::Relaxed);
        self.over.load(Ordering::Relaxed)
            || (limit > 0 && self.arrivals.load(Ordering::Relaxed) >= limit)
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

    /// An iteration has begun (`ArrivalsThreadGroup#arrivalFact`).
    pub fn arrive(&self) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
    }

    /// A worker has no users of this group any more; true if it was the last.
    fn leave(&self) -> bool {
        let was_last = self.busy.fetch_sub(1, Ordering::AcqRel) == 1;
        if was_last {
            self.idle.notify_waiters();
        }
        was_last
    }

    /// A worker has users of this group again.
    fn enter(&self) {
        self.busy.fetch_add(1, Ordering::AcqRel);
    }

    fn is_idle(&self) -> bool {
        self.busy.load(Ordering::Acquire) == 0
    }

    fn pool(&self) -> MutexGuard<'_, Pool> {
        self.pool.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A place for a user that waits for an arrival; none once no arrivals come any more.
    pub fn wait_for_arrival(&self) -> Option<oneshot::Receiver<Instant>> {
        self.pool().enter()
    }

    /// One of the group's users has ended.
    fn user_left(&self) {
        self.pool().leave();
    }

    fn take_number(&self) -> u32 {
        self.next_number.fetch_add(1, Ordering::Relaxed)
    }
}

fn arrivals_limit(shape: &Shape) -> i64 {
    match shape {
        Shape::Arrivals(arrivals) => arrivals.arrivals_limit,
        _ => 0,
    }
}

/// One worker's users of a thread group.
pub struct Crew {
    /// This worker among so many.
    index: usize,
    count: usize,
    start: StartGroup,
    shared: Arc<Shared>,
    worker: Rc<Worker>,
    program: Arc<Program>,
    group_name: Rc<str>,
    running: JoinSet<()>,
    /// The last order that was carried out.
    obeyed: u32,
    /// Part of an arrival that the rate factor left over.
    carry: f64,
}

/// How a user is started; times in milliseconds since the epoch.
#[derive(Clone, Copy, Default)]
struct Terms {
    end_ms: Option<i64>,
    /// Whether what is under way at the end is broken off.
    interrupted_at_end: bool,
    /// When the user should begin its first sample, where a schedule of arrivals says so.
    arrival: Option<Instant>,
}

impl Crew {
    pub fn new(
        index: usize,
        count: usize,
        start: StartGroup,
        shared: Arc<Shared>,
        worker: Rc<Worker>,
    ) -> Crew {
        let program = shared.program.clone();
        let group_name = shared.group_name(start.group).into();
        Crew {
            index,
            count,
            start,
            shared,
            worker,
            program,
            group_name,
            running: JoinSet::new(),
            obeyed: 0,
            carry: 0.0,
        }
    }

    /// Starts this worker's users when each is due, and waits until all have ended.
    pub async fn serve(mut self) {
        let shared = self.shared.clone();
        match shared.shape(self.start.group) {
            Shape::Ramp(ramp) => {
                let windows = (0..).zip(ramp.windows());
                let mine = windows.skip(self.index).step_by(self.count);
                self.windows(mine).await;
            }
            Shape::Windows(all) => {
                let mine = (self.index..all.len()).step_by(self.count);
                let mut windows: Vec<_> = mine.map(|number| (number as u32, all[number])).collect();
                windows.sort_by_key(|(_, window)| window.start_ms);
                self.windows(windows.into_iter()).await;
            }
            Shape::Concurrency(concurrency) => self.concurrency(concurrency).await,
            Shape::Arrivals(arrivals) => self.arrivals(arrivals).await,
            Shape::Open(open) => self.open_model(open).await,
        }
        let shape = shared.shape(self.start.group);
        if matches!(shape, Shape::Ramp(_) | Shape::Windows(_)) {
            self.attend(shape).await;
        }
        while let Some(ended) = self.running.join_next().await {
            self.report(ended);
        }
    }

    /// How many arrivals one of the schedule stands for, by the rate factor; none while the run pauses.
    fn arrivals_for_one(&mut self) -> usize {
        if self.shared.control.is_paused() {
            return 0;
        }
        self.carry += self.shared.control.rate();
        let whole = self.carry.floor();
        self.carry -= whole;
        whole as usize
    }

    /// Takes note of a user that panicked.
    fn report(&self, ended: Result<(), JoinError>) {
        if let Err(error) = ended
            && let Ok(panic) = error.try_into_panic()
        {
            self.shared.defects.note_user(&*panic);
        }
    }

    fn supply(&self) -> &Supply {
        &self.shared.supplies[self.start.group]
    }

    /// Waits until a time in milliseconds since the epoch; false if the run was told to stop. Nobody is late for one that has
    /// passed.
    async fn wait_until(&self, due_ms: i64) -> bool {
        if due_ms <= self.shared.clock.now_ms() {
            return !self.is_stopping();
        }
        self.wait_for(self.shared.clock.instant(due_ms)).await
    }

    /// Waits for something that is due at this time, whether it has passed or not; false if the run was told to stop. What was due
    /// before the group's turn is not late.
    async fn wait_for(&self, due: Instant) -> bool {
        let stop = self.worker.stop.notified();
        if self.is_stopping() {
            return false;
        }
        let mut stop = std::pin::pin!(stop);
        while due > Instant::now() {
            let told = self.worker.told.notified();
            if self.is_stopping() {
                return false;
            }
            tokio::select! {
                () = self.worker.alarms.wait_until(due) => {}
                () = &mut stop => return false,
                () = told => {}
            }
        }
        if due >= self.shared.clock.instant(self.start.at_ms) {
            self.worker.record_lateness(due);
        }
        !self.is_stopping()
    }

    fn is_stopping(&self) -> bool {
        self.shared.control.stopping()
            || self.supply().is_stopped()
            || self.shared.orders.ends_group(self.start.group)
    }

    fn identity(&self, number: u32, terms: Terms) -> Identity {
        let group = &self.program.groups[self.start.group];
        let (name, suffix) = (&self.group_name, group.thread_name_suffix);
        let started = self.supply().started();
        Identity {
            thread_name: format!("{name}{suffix} {}-{}", self.start.number, number + 1).into(),
            group_name: name.clone(),
            group: self.start.group,
            number,
            same_user: started.map_or(group.same_user, |start| start.same_user),
            on_error: started.map_or(group.on_error, |start| start.on_error),
            end_ms: terms.end_ms,
            interrupted_at_end: terms.interrupted_at_end,
        }
    }

    fn start_user(&mut self, number: u32, terms: Terms) {
        let mut user = User::new(&self.shared, &self.worker, self.identity(number, terms));
        user.cx.arrival = terms.arrival;
        let counted = Counted::start(self.shared.clone(), self.start.group, &user.cx.thread_name);
        let worker = self.worker.clone();
        self.running.spawn_local(async move {
            let _counted = counted;
            let _enlisted = Enlisted::here(worker).await;
            // By reference: by value the task would have room for it twice.
            user.run().await;
            drop(user);
        });
        while let Some(ended) = self.running.try_join_next() {
            self.report(ended);
        }
    }
}

/// One worker's part of the users: the remainder goes to the first ones.
fn share(users: u32, index: usize, count: usize) -> usize {
    (users as usize + count - 1 - index) / count
}

/// A user counts as running for as long as this lives, also when it panics.
struct Counted {
    shared: Arc<Shared>,
    group: usize,
    /// Where scripts may stop users by their names.
    thread_name: Option<Rc<str>>,
}

impl Counted {
    fn start(shared: Arc<Shared>, group: usize, thread_name: &Rc<str>) -> Counted {
        shared.counts.start(group);
        let is_named = !shared.program.java.is_empty();
        let thread_name = is_named.then(|| thread_name.clone());
        if let Some(name) = &thread_name {
            shared.orders.enter(name);
        }
        Counted {
            shared,
            group,
            thread_name,
        }
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.shared.counts.finish(self.group);
        self.shared.supplies[self.group].user_left();
        if let Some(name) = &self.thread_name {
            self.shared.orders.leave(name);
        }
    }
}
