//! Steering a run from any thread: Ctrl-C, JMeter's message port, samplers and pages all use one [`Control`]. Each use
//! becomes an [`Event::Mark`](crate::Event).

use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};

use drumfire_platform::secrets;
use serde::{Deserialize, Serialize};
use tokio::sync::Notify;

use crate::base::clock::Clock;

const RUNNING: u8 = 0;
const SHUTDOWN: u8 = 1;
const NOW: u8 = 2;

/// The rate factor until it is changed.
const PLANNED_RATE: f64 = 1.0;
/// The highest rate factor.
const HIGHEST_RATE: f64 = 1_000.0;
/// How many marks may wait for the run. Further ones are dropped.
const MOST_MARKS: usize = 10_000;
/// An order for more than this many times the plan's users has to be confirmed.
const MANY_TIMES: u32 = 10;

/// A handle that steers a run. Its copies steer the same one.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<ControlState>);

struct ControlState {
    stopping: AtomicU8,
    /// A shutdown also ends waits.
    is_hurried: AtomicBool,
    is_paused: AtomicBool,
    /// The bits of the rate factor.
    rate: AtomicU64,
    /// Signals that wake the waiting tasks of each worker.
    workers: Mutex<Vec<WorkerSignals>>,
    marks: Mutex<Vec<Mark>>,
    /// The users that the last order for each group asked for, by the group's place in the plan.
    ordered: Mutex<BTreeMap<usize, u32>>,
    run: OnceLock<Weak<dyn Steered>>,
}

/// The run, as far as it can be steered.
pub trait Steered: Send + Sync {
    fn clock(&self) -> Clock;
    /// Names of the thread groups, in the order of the plan.
    fn groups(&self) -> Vec<&str>;
    /// The number of users of a group according to the plan.
    fn planned_users(&self, group: usize) -> u32;
    /// Whether arrivals determine the number of users of a group.
    fn has_arrivals(&self, group: usize) -> bool;
    /// Whether the plan has arrivals or throughput timers, which a rate factor changes.
    fn has_rates(&self) -> bool;
    fn order_users(&self, group: usize, users: u32);
    fn set_property(&self, name: &str, value: &str);
}

/// Something that happened at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// The note, or the order that was carried out.
    pub text: String,
}

impl fmt::Debug for ControlState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ControlState")
            .field("stopping", &self.stopping)
            .field("is_paused", &self.is_paused)
            .finish_non_exhaustive()
    }
}

/// Signals that wake the waiting tasks of one worker.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerSignals {
    /// The run is to stop.
    pub stop: Arc<Notify>,
    /// Anything else was ordered.
    pub orders: Arc<Notify>,
}

impl Default for ControlState {
    fn default() -> ControlState {
        ControlState {
            stopping: AtomicU8::new(RUNNING),
            is_hurried: AtomicBool::new(false),
            is_paused: AtomicBool::new(false),
            rate: AtomicU64::new(PLANNED_RATE.to_bits()),
            workers: Mutex::default(),
            marks: Mutex::default(),
            ordered: Mutex::default(),
            run: OnceLock::new(),
        }
    }
}

/// A thread group, as far as orders are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SteeredGroup {
    /// The number of users in the plan.
    pub planned: u32,
    /// The number of users that the last order asked for.
    pub ordered: Option<u32>,
    /// Whether arrivals determine the number of users, so that no order can.
    pub has_arrivals: bool,
}

/// How a run was told to end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Stopping {
    /// The run goes on.
    #[default]
    No,
    /// Users finish the sample at hand.
    Shutdown,
    /// Samples are interrupted.
    Now,
}

/// Why an order was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ControlError {
    /// The run has not started, or has ended.
    NoRun,
    /// No thread group has this name. The second field holds the names of all groups.
    UnknownGroup(String, Vec<String>),
    /// Arrivals determine the number of users of the thread group.
    ArrivalsGroup(String),
    /// A number of users that is many times the plan's. The fields are the group, the plan's number and the order's.
    ManyUsers(String, u32, u32),
    /// The value is not a rate factor.
    BadRate(String),
    /// The plan has nothing that a rate factor would change.
    NoRates,
}

impl fmt::Display for ControlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ControlError::NoRun => f.write_str("No run is in progress"),
            ControlError::UnknownGroup(name, known) => {
                write!(f, "No thread group is called `{name}`; the plan has ")?;
                for (place, known) in known.iter().enumerate() {
                    let separator = if place == 0 { "" } else { ", " };
                    write!(f, "{separator}`{known}`")?;
                }
                Ok(())
            }
            ControlError::ArrivalsGroup(name) => write!(
                f,
                "The arrivals of `{name}` determine its users; change the rate factor instead"
            ),
            ControlError::ManyUsers(group, planned, users) => write!(
                f,
                "{users} users are more than {MANY_TIMES} times the {planned} that the plan has for `{group}`; confirm the order with `anyway`"
            ),
            ControlError::NoRates => f.write_str(
                "The plan has no rate to change: neither arrivals nor a throughput timer; change the users of a group instead",
            ),
            ControlError::BadRate(rate) => write!(
                f,
                "`{rate}` is not a rate factor; give a number from 0 to {HIGHEST_RATE}"
            ),
        }
    }
}

impl std::error::Error for ControlError {}

impl Control {
    /// Ends the run after users have finished the sample at hand (`StandardJMeterEngine#stopTest(false)`).
    pub fn shutdown(&self) {
        self.raise(SHUTDOWN, "asked to end");
    }

    /// Shuts down fast, for a caller that waits for the end: users also end their waits between samples.
    pub fn shutdown_soon(&self) {
        self.0.is_hurried.store(true, Ordering::Release);
        self.shutdown();
    }

    /// Whether users that wait between samples are woken by a shutdown.
    pub fn is_hurried(&self) -> bool {
        self.0.is_hurried.load(Ordering::Acquire)
    }

    /// Interrupts samples and ends the run (`StandardJMeterEngine#stopTest(true)`).
    pub fn stop_now(&self) {
        self.raise(NOW, "told to stop now");
    }

    /// Whether the run was told to stop.
    pub fn stopping(&self) -> bool {
        self.0.stopping.load(Ordering::Acquire) != RUNNING
    }

    /// Whether and how the run was told to stop.
    pub fn state(&self) -> Stopping {
        match self.0.stopping.load(Ordering::Acquire) {
            RUNNING => Stopping::No,
            SHUTDOWN => Stopping::Shutdown,
            _ => Stopping::Now,
        }
    }

    /// Pauses users after the sample at hand. Schedules go on: durations end, and arrivals that come due are left out.
    pub fn pause(&self) {
        if !self.0.is_paused.swap(true, Ordering::AcqRel) {
            self.mark("paused");
        }
    }

    /// Lets paused users go on.
    pub fn resume(&self) {
        if self.0.is_paused.swap(false, Ordering::AcqRel) {
            self.mark("resumed");
            self.ring();
        }
    }

    /// Whether the run is paused.
    pub fn is_paused(&self) -> bool {
        self.0.is_paused.load(Ordering::Acquire)
    }

    /// Sets the number of users of a thread group from now on, whatever its ramp-up says. Surplus users end after the sample
    /// at hand; new ones start within a second, and end when the group's time is over.
    ///
    /// # Errors
    /// If there is no such group, or its users cannot be set.
    pub fn set_users(&self, group: &str, users: u32) -> Result<(), ControlError> {
        let (run, place) = self.group_with_users(group)?;
        run.order_users(place, users);
        self.ordered().insert(place, users);
        self.mark(&format!("users of `{group}` set to {users}"));
        self.ring();
        Ok(())
    }

    /// Asks whether a number of users needs a confirmation: a slip of the keyboard can take the target down.
    ///
    /// # Errors
    /// If it is more than ten times the plan's number, or if [`set_users`](Control::set_users) would refuse it.
    pub fn check_users(&self, group: &str, users: u32) -> Result<(), ControlError> {
        let (run, place) = self.group_with_users(group)?;
        let planned = run.planned_users(place).max(1);
        if users > planned.saturating_mul(MANY_TIMES) {
            Err(ControlError::ManyUsers(group.to_owned(), planned, users))
        } else {
            Ok(())
        }
    }

    /// The thread groups in the order of the plan; none before the run has begun.
    pub fn groups(&self) -> Vec<SteeredGroup> {
        let Ok(run) = self.run() else {
            return Vec::new();
        };
        let ordered = self.ordered();
        let groups = (0..run.groups().len()).map(|place| SteeredGroup {
            planned: run.planned_users(place),
            ordered: ordered.get(&place).copied(),
            has_arrivals: run.has_arrivals(place),
        });
        groups.collect()
    }

    /// Whether a rate factor changes anything in the plan that runs.
    pub fn has_rates(&self) -> bool {
        self.run().is_ok_and(|run| run.has_rates())
    }

    /// The run and the place of a group whose users can be set.
    fn group_with_users(&self, group: &str) -> Result<(Arc<dyn Steered>, usize), ControlError> {
        let run = self.run()?;
        let groups = run.groups();
        let Some(place) = groups.iter().position(|known| *known == group) else {
            let names = groups.into_iter().map(str::to_owned).collect();
            return Err(ControlError::UnknownGroup(group.to_owned(), names));
        };
        if run.has_arrivals(place) {
            return Err(ControlError::ArrivalsGroup(group.to_owned()));
        }
        Ok((run, place))
    }

    /// From now on, multiplies arrivals of open models and arrivals groups, and the rates of throughput timers, by this
    /// factor.
    ///
    /// # Errors
    /// If the factor is not from 0 to 1,000, or if it would change nothing in the plan that runs.
    pub fn set_rate(&self, factor: f64) -> Result<(), ControlError> {
        if !(0.0..=HIGHEST_RATE).contains(&factor) {
            return Err(ControlError::BadRate(factor.to_string()));
        }
        let changes = factor != self.rate();
        if changes && self.run().is_ok_and(|run| !run.has_rates()) {
            return Err(ControlError::NoRates);
        }
        self.0.rate.store(factor.to_bits(), Ordering::Release);
        self.mark(&format!("rate factor set to {factor}"));
        self.ring();
        Ok(())
    }

    /// The factor that rates are multiplied by.
    pub fn rate(&self) -> f64 {
        f64::from_bits(self.0.rate.load(Ordering::Acquire))
    }

    /// Sets a JMeter property for all users, as `__setProperty` does.
    ///
    /// # Errors
    /// If no run is under way.
    pub fn set_property(&self, name: &str, value: &str) -> Result<(), ControlError> {
        self.run()?.set_property(name, value);
        self.mark(&format!("property `{name}` set"));
        Ok(())
    }

    /// Records a mark with the current time.
    pub fn mark(&self, text: &str) {
        let at_ms = match self.0.run.get().and_then(Weak::upgrade) {
            Some(run) => run.clock().now_ms(),
            None => Clock::start().start_ms(),
        };
        let mut marks = self.marks();
        if marks.len() < MOST_MARKS {
            marks.push(Mark {
                at_ms,
                text: secrets::text(text).into_owned(),
            });
        }
    }

    fn raise(&self, level: u8, mark: &str) {
        if self.0.stopping.fetch_max(level, Ordering::AcqRel) < level {
            self.mark(mark);
        }
        for bell in self.workers().iter() {
            bell.stop.notify_waiters();
        }
        self.ring();
    }

    /// Wakes the tasks that wait for orders.
    pub(crate) fn ring(&self) {
        for bell in self.workers().iter() {
            bell.orders.notify_waiters();
        }
    }

    fn run(&self) -> Result<Arc<dyn Steered>, ControlError> {
        let run = self.0.run.get().and_then(Weak::upgrade);
        run.ok_or(ControlError::NoRun)
    }

    fn ordered(&self) -> MutexGuard<'_, BTreeMap<usize, u32>> {
        self.0
            .ordered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn marks(&self) -> MutexGuard<'_, Vec<Mark>> {
        self.0.marks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn workers(&self) -> MutexGuard<'_, Vec<WorkerSignals>> {
        self.0
            .workers
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the run that this control steers.
    pub fn attach(&self, run: Weak<dyn Steered>) {
        // A control steers the first run that it is attached to; it can only stop later ones.
        let _ = self.0.run.set(run);
    }

    /// Takes the marks that were recorded since the last call.
    pub fn take_marks(&self) -> Vec<Mark> {
        std::mem::take(&mut *self.marks())
    }

    /// Registers a worker, and returns the signals that wake it.
    pub(crate) fn join(&self) -> WorkerSignals {
        let bell = WorkerSignals::default();
        self.workers().push(bell.clone());
        bell
    }

    /// Lets the tearDown groups run after the others were stopped.
    pub(crate) fn rearm(&self) {
        self.0.stopping.store(RUNNING, Ordering::Release);
    }
}
