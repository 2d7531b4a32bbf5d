//! Starts the users of a thread group by its schedule. There is one file for each kind of schedule.

mod arrivals;
mod concurrency;
mod java;
mod open_model;
mod windows;

use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_fiber::on_own_stack;
use tokio::task::{JoinError, JoinSet};

use java::Ending;

use crate::run::context::Identity;
use crate::run::fleet::MoveKind;
use crate::run::program::{GroupKind, Program};
use crate::run::schedule::Shape;
use crate::run::share::Slots;
use crate::run::shared::Shared;
use crate::run::supply::Supply;
use crate::run::user::{User, WorkerPlan};
use crate::run::worker::{TaskPlace, Worker};

/// How long a user still counts as active after its last sample. A JMeter thread then logs its end and notifies listeners, so
/// that users whose last samples end at the same moment count each other. Users that arrive for one iteration do not wait.
const LAST_MOMENT: Duration = Duration::from_millis(1);

/// How many users an order starts before it looks whether there is another one.
const BATCH: usize = 64;

/// The property with the name of the server that runs the users, where several run the whole plan.
const SERVER: &str = "__jm.D_TG";

/// Starts the users of a thread group that belong to this worker.
#[derive(Clone, Debug)]
pub struct StartGroup {
    pub group: usize,
    /// The group's number in its phase, from 1, as thread names show it.
    pub number: usize,
    pub at_ms: i64,
    /// The share of the group's users and arrivals to start.
    pub slots: Slots,
    /// Until when, in milliseconds since the epoch, another machine was responsible for these slots, and what became of it.
    pub moved: Option<(i64, MoveKind)>,
}

/// One worker's users of a thread group.
pub struct Crew {
    /// This worker's position among the `count` workers.
    index: usize,
    count: usize,
    start: StartGroup,
    shared: Arc<Shared>,
    worker: Rc<Worker>,
    plan: WorkerPlan,
    group_name: Rc<str>,
    /// The prefix of all thread names (`AbstractThreadGroup`, `__jm.D_TG`): the server's name and a dash, or empty.
    place: String,
    running: JoinSet<()>,
    /// The number of the last order that was begun, and how many moves there had been by then.
    obeyed: (u32, usize),
    /// How many users that order still has to start.
    missing: usize,
    /// The fraction of an arrival that the rate factor left over.
    carry: f64,
}

/// How a user is started; times in milliseconds since the epoch.
#[derive(Clone, Copy, Default)]
struct Terms {
    end_ms: Option<i64>,
    /// Whether samples and sleeps are interrupted at the end.
    interrupted_at_end: bool,
    /// When the user should begin its first sample, where a schedule of arrivals says so.
    arrival: Option<Instant>,
}

/// How many users this machine has in the thread groups before `group`.
fn users_before(program: &Program, group: usize) -> usize {
    let slots = &program.settings.share.slots;
    let before = program.groups[..group].iter();
    before
        .map(|group| slots.users_of(group.shape.users()) as usize)
        .sum()
}

/// A worker's position in the round-robin over the users of a group. A group's first user goes to the worker after that of the
/// previous group's last user. Otherwise the first worker would get the users of many small groups.
fn turned(index: usize, count: usize, users_before: usize) -> usize {
    (index + count - users_before % count) % count
}

impl Crew {
    pub fn new(
        (index, count): (usize, usize),
        start: StartGroup,
        shared: Arc<Shared>,
        worker: Rc<Worker>,
        plan: WorkerPlan,
    ) -> Crew {
        let group_name = shared.group_name(start.group).into();
        let prefix = shared.program.settings.properties.get(SERVER);
        let prefix = prefix.filter(|place| !place.is_empty());
        let prefix = prefix.map(|place| format!("{place}-")).unwrap_or_default();
        let index = turned(index, count, users_before(&shared.program, start.group));
        Crew {
            index,
            count,
            start,
            shared,
            worker,
            plan,
            group_name,
            place: prefix,
            running: JoinSet::new(),
            obeyed: (0, 0),
            missing: 0,
            carry: 0.0,
        }
    }

    /// Starts this worker's users when each is due, and waits until all have ended.
    pub async fn serve(mut self) {
        let shared = self.shared.clone();
        self.wait_for_others().await;
        if let Some(end_ms) = shared.shape(self.start.group).end_ms() {
            let end_ms = self.start.at_ms + end_ms;
            shared.overruns.plan(self.start.group, end_ms);
        }
        match shared.shape(self.start.group) {
            Shape::Ramp(ramp) => {
                let mine = self.mine();
                let windows = (0..).zip(ramp.windows());
                self.windows(windows.filter(|(number, _)| mine(*number)))
                    .await;
            }
            Shape::Windows(all) => {
                let mine = self.mine();
                let windows = (0..).zip(all.iter().copied());
                let mut windows: Vec<_> = windows.filter(|(number, _)| mine(*number)).collect();
                windows.sort_by_key(|(_, window)| window.start_ms);
                self.windows(windows.into_iter()).await;
            }
            Shape::Concurrency(concurrency) => self.concurrency(concurrency).await,
            Shape::Arrivals(arrivals) => self.arrivals(arrivals).await,
            Shape::Open(open) => self.open_model(open).await,
            Shape::Java { .. } => self.java().await,
        }
        let shape = shared.shape(self.start.group);
        if matches!(shape, Shape::Ramp(_) | Shape::Windows(_)) {
            self.attend(shape).await;
        }
        while let Some(ended) = self.running.join_next().await {
            self.report(ended);
        }
    }

    /// Waits for the moment at which groups start on all machines of the run.
    async fn wait_for_others(&self) {
        let at_ms = self.start.at_ms;
        let Some(fleet) = &self.shared.part.fleet else {
            return;
        };
        if self.start.moved.is_some() || at_ms <= self.shared.clock.now_ms() {
            return;
        }
        if self.wait_until(at_ms).await {
            fleet.begun(self.shared.clock.instant(at_ms).elapsed());
        }
    }

    /// Whether this was due while another machine was responsible for it.
    fn is_missed(&self, due_ms: i64) -> bool {
        self.start
            .moved
            .is_some_and(|(from_ms, _)| due_ms < from_ms)
    }

    /// Since when, in milliseconds since the epoch, this machine is responsible for the crew's slots.
    fn since_ms(&self) -> i64 {
        self.start
            .moved
            .map_or(self.start.at_ms, |(from_ms, _)| from_ms)
    }

    /// Whether another machine is responsible for a number of this crew that is due at this time.
    fn is_released(&self, number: u32, due_ms: i64) -> bool {
        let part = &self.shared.part;
        let is_main = self.shared.program.groups[self.start.group].kind == GroupKind::Main;
        let leaves_ms = part.fleet.as_ref().filter(|_| is_main);
        let leaves_ms = leaves_ms.and_then(|fleet| fleet.leaves_ms());
        if leaves_ms.is_some_and(|leaves_ms| due_ms >= leaves_ms) {
            return true;
        }
        part.has_moves() && part.is_released(number.into(), self.since_ms(), due_ms)
    }

    /// The crew's slots that this machine still has.
    fn slots(&self) -> Slots {
        if self.shared.part.has_moves() {
            let part = &self.shared.part;
            part.kept_of(&self.start.slots, self.since_ms())
        } else {
            self.start.slots.clone()
        }
    }

    /// A predicate for the numbers of the group's users that belong to this worker.
    fn mine(&self) -> impl Fn(u32) -> bool + use<> {
        let (slots, index, count) = (self.start.slots.clone(), self.index, self.count);
        move |number| slots.falls_to(number.into(), index, count)
    }

    /// Takes a number that no other user of the group has on any machine.
    fn take_number(&self) -> u32 {
        self.start.slots.nth(self.supply().take_number().into()) as u32
    }

    /// How many of the group's users this worker has.
    fn part_of(&self, users: u32) -> usize {
        share(self.slots().users_of(users), self.index, self.count)
    }

    /// How many users arrive for one arrival of the schedule, by the rate factor; 0 while the run is paused.
    fn arrivals_for_one(&mut self) -> usize {
        if self.shared.control.is_paused() {
            return 0;
        }
        self.carry += self.shared.control.rate();
        let whole = self.carry.floor();
        self.carry -= whole;
        whole as usize
    }

    /// Records a user's panic.
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

    /// Waits until a time in milliseconds since the epoch; false if the run was told to stop. Records no lateness for a time
    /// that has passed.
    async fn wait_until(&self, due_ms: i64) -> bool {
        if due_ms <= self.shared.clock.now_ms() {
            return !self.is_stopping();
        }
        self.wait_for(self.shared.clock.instant(due_ms)).await
    }

    /// Waits until `due` and records the lateness, even if `due` has passed already; false if the run was told to stop. Does
    /// not count times before the start of the group as late.
    async fn wait_for(&self, due: Instant) -> bool {
        let stop = self.worker.stop.notified();
        if self.is_stopping() {
            return false;
        }
        let mut stop = std::pin::pin!(stop);
        while due > Instant::now() {
            let stop_notice = self.worker.told.notified();
            if self.is_stopping() {
                return false;
            }
            tokio::select! {
                () = self.worker.alarms.wait_until(due) => {}
                () = &mut stop => return false,
                () = stop_notice => {}
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
        let group = &self.shared.program.groups[self.start.group];
        let (name, suffix) = (&self.group_name, group.thread_name_suffix);
        let started = self.supply().started();
        let (place, number_of_group) = (&self.place, self.start.number);
        Identity {
            thread_name: format!("{place}{name}{suffix} {number_of_group}-{}", number + 1).into(),
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
        let mut user = self.new_user(self.identity(number, terms));
        user.cx.arrival = terms.arrival;
        // Users of an open model come for one iteration.
        let lingers = terms.arrival.is_none() && !terms.interrupted_at_end;
        self.send_off(user, lingers, None);
    }

    fn new_user(&self, identity: Identity) -> User {
        User::new(&self.shared, &self.worker, &self.plan, identity)
    }

    /// Spawns a user's task, which drops `ending` when the user has ended.
    fn send_off(&mut self, user: User, lingers: bool, ending: Option<Box<Ending>>) {
        let entries = TaskEntries {
            place: TaskPlace::new(self.worker.clone()),
            _counted: Counted::start(self.shared.clone(), self.start.group, &user.cx.thread_name),
            _ending: ending,
        };
        let task = task(user, entries, lingers);
        if self.shared.program.waits_in_functions {
            drop(self.running.spawn_local(on_own_stack(task)))
        } else {
            drop(self.running.spawn_local(task))
        }
        while let Some(ended) = self.running.try_join_next() {
            self.report(ended);
        }
    }
}

/// One worker's part of the users. The first workers get the remainder.
fn share(users: u32, index: usize, count: usize) -> usize {
    (users as usize + count - 1 - index) / count
}

/// A user's task.
#[expect(
    clippy::manual_async_fn,
    reason = "an `async fn` would have room for the user twice: as its argument, and as its variable"
)]
fn task(mut user: User, mut entries: TaskEntries, lingers: bool) -> impl Future<Output = ()> {
    async move {
        entries.place.enlist().await;
        user.run().await;
        drop(user);
        if lingers {
            let alarms = &entries.place.worker().alarms;
            alarms.wait_until(Instant::now() + LAST_MOMENT).await;
        }
        drop(entries);
    }
}

/// The entries that list a user's task. They are dropped in this order when it ends.
struct TaskEntries {
    place: TaskPlace,
    _counted: Counted,
    _ending: Option<Box<Ending>>,
}

/// Counts a user as running until it is dropped, also by a panic.
struct Counted {
    shared: Arc<Shared>,
    group: usize,
    /// Set if scripts may stop users by their names.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn task_size<F: Future>(_: impl FnOnce(User, TaskEntries, bool) -> F) -> usize {
        size_of::<F>()
    }

    /// tokio adds 104 bytes, and rounds up to a multiple of 128.
    #[test]
    fn a_users_task_takes_a_kilobyte() {
        assert!(task_size(task) + 104 <= 1_024, "{}", task_size(task));
    }

    #[test]
    fn users_of_small_groups_are_dealt_in_turn() {
        let of_group = |users: u32, before: usize| -> Vec<usize> {
            let worker = |index| share(users, turned(index, 4, before), 4);
            (0..4).map(worker).collect()
        };
        assert_eq!(of_group(1, 0), [1, 0, 0, 0]);
        assert_eq!(of_group(1, 1), [0, 1, 0, 0]);
        assert_eq!(of_group(2, 3), [1, 0, 0, 1]);
        assert_eq!(of_group(6, 9), [1, 2, 2, 1]);
    }
}
