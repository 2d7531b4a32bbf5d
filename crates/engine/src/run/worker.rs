//! One worker: an operating system thread with a runtime of its own, which owns its users, connections and recorder.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;
use std::time::{Duration, Instant};

use drumfire_expr::{Random, Vars};
use drumfire_health::Segments;
use drumfire_java::charset::Charset;
use drumfire_results::{Connections, Recorder};
use tokio::sync::Notify;

use crate::run::alarm::Alarms;
use crate::run::fleet::MoveKind;
use crate::run::program::Program;
use crate::run::room::Room;
use crate::run::sampler::Samplers;
use crate::run::share::Slots;
use crate::run::shared::{Counts, Shared};
use crate::run::slots::{Traffic, WorkerSlot};
use crate::run::stages::Stages;

/// The state that all users of a worker share.
pub struct Worker {
    /// Borrow it through the worker: a refcount that all cores share would be contended.
    pub program: Arc<Program>,
    pub recorder: RefCell<Recorder>,
    /// Wakes users that wait when the run is told to stop.
    pub stop: Arc<Notify>,
    /// Wakes tasks that wait for other orders: the end of a pause, more or fewer users.
    pub orders: Arc<Notify>,
    /// Wakes the tasks that start users when a script stops some.
    pub told: Notify,
    /// The samplers' state of the worker.
    pub slot: Rc<dyn WorkerSlot>,
    /// The charset of bodies whose response names none (`sampleresult.default.encoding`); `None` is UTF-8.
    pub default_charset: Option<Rc<Charset>>,
    pub alarms: Rc<Alarms>,
    pub room: Room,
    /// The plan's samplers, for elements and scripts that inspect them.
    pub samplers: Rc<dyn Samplers>,
    /// How samples spend their time.
    pub stages: Stages,
    /// The users' tasks. All are woken when the run is told to stop, so the futures that they wait for need not watch for that.
    tasks: RefCell<Tasks>,
    /// The variables that users begin with. Users share the values.
    initial_vars: OnceCell<Vars>,
    seeds: RefCell<Random>,
    /// How many users are to end, by thread group.
    surplus: RefCell<HashMap<usize, usize>>,
    has_surplus: Cell<bool>,
    /// The users that other machines have taken over, in the order of the takeovers.
    released: RefCell<Vec<(Slots, MoveKind)>>,
    releases: Cell<u32>,
    /// The counts of this worker's connections, for the run's numbers.
    connections: Cell<Connections>,
    /// The counts of their TCP segments, for the verdict.
    segments: Cell<Segments>,
    /// How long users were in Java code, as far as the run's numbers do not include it yet.
    in_scripts: Cell<Duration>,
    /// Whether the thread was set up so that the system wakes it without delay.
    is_prompt: Cell<bool>,
}

#[derive(Default)]
struct Tasks {
    places: Vec<Option<Waker>>,
    free: Vec<u32>,
}

/// The entry of a user's task among those of its worker.
pub struct TaskPlace {
    worker: Rc<Worker>,
    place: Option<u32>,
}

impl TaskPlace {
    /// A place for a task that is not enlisted yet.
    pub fn new(worker: Rc<Worker>) -> TaskPlace {
        TaskPlace {
            worker,
            place: None,
        }
    }

    pub fn worker(&self) -> &Rc<Worker> {
        &self.worker
    }

    /// Enlists the task that awaits this.
    pub async fn enlist(&mut self) {
        let waker = std::future::poll_fn(|cx| std::task::Poll::Ready(cx.waker().clone())).await;
        let mut tasks = self.worker.tasks.borrow_mut();
        let place = match tasks.free.pop() {
            Some(place) => {
                tasks.places[place as usize] = Some(waker);
                place
            }
            None => {
                tasks.places.push(Some(waker));
                (tasks.places.len() - 1) as u32
            }
        };
        self.place = Some(place);
    }
}

impl Drop for TaskPlace {
    fn drop(&mut self) {
        let Some(place) = self.place else { return };
        let mut tasks = self.worker.tasks.borrow_mut();
        let waker = tasks.places[place as usize].take();
        tasks.free.push(place);
        drop(tasks);
        drop(waker);
    }
}

impl Worker {
    pub fn new(shared: &Shared, recorder: Recorder, samplers: Rc<dyn Samplers>) -> Worker {
        let bell = shared.control.join();
        Worker {
            program: shared.program.clone(),
            recorder: RefCell::new(recorder),
            stop: bell.stop,
            orders: bell.orders,
            surplus: RefCell::default(),
            has_surplus: Cell::new(false),
            released: RefCell::default(),
            releases: Cell::new(0),
            slot: shared.slot.clone().worker(),
            default_charset: shared
                .properties
                .get("sampleresult.default.encoding")
                .and_then(|name| Charset::find(&name))
                .map(Rc::new),
            alarms: Alarms::new(),
            room: Room::default(),
            samplers,
            stages: Stages::default(),
            tasks: RefCell::default(),
            initial_vars: OnceCell::new(),
            seeds: RefCell::new(Random::from_entropy()),
            told: Notify::new(),
            connections: Cell::default(),
            segments: Cell::default(),
            in_scripts: Cell::default(),
            is_prompt: Cell::new(false),
        }
    }

    /// The variables a new user starts with.
    pub fn initial_vars(&self, shared: &Shared) -> Vars {
        if !shared.knows_initial_vars() {
            return shared.initial_vars();
        }
        let initial = self.initial_vars.get_or_init(|| shared.initial_vars());
        initial.clone()
    }

    /// Records how late a wait ended that was to end at `due`: the generator's own delay.
    pub fn record_lateness(&self, due: Instant) {
        let late_us = due.elapsed().as_micros() as u64;
        self.recorder.borrow_mut().record_lateness(late_us);
    }

    /// Called when users of this worker follow a schedule: from now on the system should run the worker without delay when
    /// something is due. For users that only send as fast as they can, that would cost throughput.
    pub fn keep_schedules(&self) {
        if !self.is_prompt.replace(true) {
            drumfire_http::take_short_turns();
        }
    }

    /// Adds the time of a call of Java code.
    pub fn note_script(&self, took: Duration) {
        self.in_scripts.set(self.in_scripts.get() + took);
    }

    /// Sets how many users of a group are to end after their samples at hand. Those that sleep end now.
    pub fn set_surplus(&self, group: usize, users: usize) {
        let mut surplus = self.surplus.borrow_mut();
        surplus.insert(group, users);
        let any = surplus.values().any(|users| *users > 0);
        drop(surplus);
        self.has_surplus.set(any);
        if users > 0 {
            self.wake_tasks();
        }
    }

    /// Whether a user of the group is to end. If so, one fewer remains to end.
    pub fn take_surplus(&self, group: usize) -> bool {
        if !self.has_surplus.get() {
            return false;
        }
        match self.surplus.borrow_mut().get_mut(&group) {
            Some(users) if *users > 0 => {
                *users -= 1;
                true
            }
            _ => false,
        }
    }

    /// Ends users that run here until another machine has them, after their samples at hand.
    pub fn release(&self, slots: Slots, kind: MoveKind) {
        let mut released = self.released.borrow_mut();
        released.push((slots, kind));
        self.releases.set(released.len() as u32);
        drop(released);
        self.orders.notify_waiters();
        self.wake_tasks();
    }

    /// How often users were taken over.
    pub fn releases(&self) -> u32 {
        self.releases.get()
    }

    /// How another machine has taken the user with this number over, if one has since the first `releases` times.
    pub fn released(&self, number: u32, releases: u32) -> Option<MoveKind> {
        if self.releases.get() <= releases {
            return None;
        }
        let released = self.released.borrow();
        let mut since = released[releases as usize..].iter();
        let first = since.find(|(slots, _)| slots.rank(number.into()).is_some());
        first.map(|(_, kind)| *kind)
    }

    /// Hands over the samples and connection counts since the last call. Without a time, includes those of the current second.
    pub fn publish(&self, counts: &Counts, now_ms: Option<i64>) {
        counts.script(self.in_scripts.take());
        let mut recorder = self.recorder.borrow_mut();
        match now_ms {
            Some(now_ms) => recorder.flush(now_ms),
            None => recorder.flush_all(),
        }
        let Traffic {
            connections: now,
            segments,
        } = self.slot.traffic();
        let counted = self.segments.replace(segments);
        counts.segments_sent(Segments {
            sent: segments.sent - counted.sent,
            sent_again: segments.sent_again - counted.sent_again,
        });
        let then = self.connections.replace(now);
        if now != then {
            counts.asked(self.slot.targets(), &self.slot.local_ports());
            recorder.add_connections(now.since(then));
        }
    }

    pub fn wake_tasks(&self) {
        for waker in self.tasks.borrow().places.iter().flatten() {
            waker.wake_by_ref();
        }
    }

    pub fn new_random(&self) -> Random {
        Random::from_seed(self.seeds.borrow_mut().next_u64())
    }
}
