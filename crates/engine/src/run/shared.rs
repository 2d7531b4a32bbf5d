//! State that all users of a run share, on whichever worker they are.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use drumfire_expr::{Properties, Slot, Vars};
use drumfire_health::{Arrivals, Segments};
use drumfire_results::ThreadCounts;

use crate::base::clock::Clock;
use crate::run::control::{Control, Steered};
use crate::run::defects::Defects;
use crate::run::failures::Failures;
use crate::run::fleet::MachinePart;
use crate::run::held::EarlyEnds;
use crate::run::held::Overruns;
use crate::run::named_locks::NamedLocks;
use crate::run::orders::Orders;
use crate::run::own_variables::LAST_SAMPLE_OK;
use crate::run::pops::PopTurns;
use crate::run::program::Program;
use crate::run::schedule::Shape;
use crate::run::slots::{RunSlot, TrustError};
use crate::run::stages::StageSums;
use crate::run::statics::Statics;
use crate::run::supply::Supply;

/// State that all users of a run share.
pub struct Shared {
    pub program: Arc<Program>,
    pub properties: Properties,
    pub clock: Clock,
    /// When schedules of the whole test begin, in milliseconds since the epoch.
    pub(crate) origin_ms: AtomicI64,
    /// When each thread group started.
    pub(crate) group_starts_ms: Box<[AtomicI64]>,
    /// This machine's part of the plan, and the others that run the rest.
    pub part: MachinePart,
    pub control: Control,
    /// A shutdown ends timers and pauses (`drumfire.shutdown=fast`); in JMeter they run to their end.
    pub shutdown_is_fast: bool,
    pub counts: Counts,
    /// The orders of scripts to stop users and thread groups.
    pub orders: Orders,
    pub timer_factor: f32,
    /// `httpclient.reset_state_on_thread_group_iteration`.
    pub reset_state: bool,
    /// The slot of the variable `JMeterThread.last_sample_ok`, if the plan names it.
    pub last_sample_ok: Option<Slot>,
    /// Variables that Java elements gave to all users when the test started, or why the run cannot go on.
    pub java_start: OnceLock<Result<Vec<(String, String)>, String>>,
    pub statics: Statics,
    /// Locks of Critical Section Controllers.
    pub locks: NamedLocks,
    /// The turns of users in calls of `__fifoPop`.
    pub pop_turns: PopTurns,
    /// How many children Parallel Controllers have run.
    pub branches: AtomicU32,
    pub defects: Defects,
    pub early: EarlyEnds,
    pub overruns: Overruns,
    pub failures: Failures,
    /// `function.cache.per.iteration`.
    pub caches_functions: bool,
    /// Lines for the terminal that the run has not passed on yet.
    pub announcements: Mutex<Vec<String>>,
    /// One for each thread group.
    pub supplies: Box<[Supply]>,
    /// The samplers' state of the run.
    pub slot: Arc<dyn RunSlot>,
    /// How samples spent their time, for the workers that have ended.
    pub stages: StageSums,
    /// The greatest delay of a worker's event loop since the run last read this, in microseconds.
    pub loop_late_us: AtomicU64,
}

impl Shared {
    /// The state of the users of this program before any of them has started.
    ///
    /// # Errors
    /// If servers are to be verified and no certificates can be loaded to verify them with.
    pub(crate) fn new(
        program: &Arc<Program>,
        clock: Clock,
        control: &Control,
        part: MachinePart,
    ) -> Result<Shared, TrustError> {
        let properties = program.settings.properties.clone();
        Ok(Shared {
            counts: Counts::new(program.groups.len()),
            orders: Orders::default(),
            shutdown_is_fast: properties
                .get("drumfire.shutdown")
                .is_some_and(|how| how.trim() == "fast"),
            supplies: (0..)
                .zip(&program.groups)
                .map(|(index, group)| Supply::new(group, &part.share, index))
                .collect(),
            origin_ms: AtomicI64::new(clock.start_ms()),
            group_starts_ms: program
                .groups
                .iter()
                .map(|_| AtomicI64::new(clock.start_ms()))
                .collect(),
            part,
            statics: Statics::default(),
            locks: NamedLocks::default(),
            pop_turns: PopTurns::default(),
            branches: AtomicU32::new(0),
            slot: (program.open_slot)(&properties)?,
            last_sample_ok: program.names.slot(LAST_SAMPLE_OK),
            java_start: OnceLock::new(),
            defects: Defects::default(),
            early: EarlyEnds::default(),
            overruns: Overruns::new(program.groups.len()),
            failures: Failures::default(),
            caches_functions: properties.get_bool("function.cache.per.iteration", false),
            timer_factor: properties.get_float("timer.factor", 1.0),
            reset_state: properties
                .get_bool("httpclient.reset_state_on_thread_group_iteration", true),
            properties,
            clock,
            control: control.clone(),
            program: program.clone(),
            announcements: Mutex::default(),
            loop_late_us: AtomicU64::new(0),
            stages: StageSums::default(),
        })
    }

    /// Fixes the settings of a thread group that starts.
    pub(crate) fn start_group(&self, group: usize) {
        let late = self.program.groups[group].late.as_ref();
        if let Some(start) = late.and_then(|late| late.read(&self.program)) {
            self.supplies[group].start(start, &self.part.share.slots);
        }
    }

    /// The shape of a thread group's load.
    pub fn shape(&self, group: usize) -> &Shape {
        match self.supplies[group].started() {
            Some(start) => &start.shape,
            None => &self.program.groups[group].shape,
        }
    }

    /// The name of a thread group.
    pub fn group_name(&self, group: usize) -> &str {
        match self.supplies[group].started() {
            Some(start) => &start.name,
            None => &self.program.groups[group].name,
        }
    }

    /// Whether the variables of new users are known: Java elements may add some when the test starts.
    pub fn knows_initial_vars(&self) -> bool {
        self.program.java.elements.is_empty() || self.java_start.get().is_some()
    }

    /// The variables a new user starts with.
    pub fn initial_vars(&self) -> Vars {
        let mut vars = self.program.initial_vars();
        for (name, value) in self.java_start.get().into_iter().flatten().flatten() {
            vars.set_named(name, value.as_str().into());
        }
        vars
    }

    /// When schedules of the whole test begin, in milliseconds since the epoch: with the run, or where several machines run
    /// it, with the main thread groups.
    pub fn origin_ms(&self) -> i64 {
        self.origin_ms.load(Ordering::Relaxed)
    }

    /// When the schedules of a thread group's arrivals start: with the run, or with the group in JMeter 6
    /// (`OpenModelThreadGroup`, `PreciseThroughputTimer`).
    pub fn schedule_origin_ms(&self, group: usize) -> i64 {
        let group_start = self.group_starts_ms.get(group);
        match group_start.filter(|_| self.program.follows_jmeter6) {
            Some(start_ms) => start_ms.load(Ordering::Relaxed),
            None => self.origin_ms(),
        }
    }

    pub(crate) fn set_group_start_ms(&self, group: usize, start_ms: i64) {
        self.group_starts_ms[group].store(start_ms, Ordering::Relaxed);
    }

    pub(crate) fn set_origin_ms(&self, origin_ms: i64) {
        self.origin_ms.store(origin_ms, Ordering::Relaxed);
    }

    /// Users running now on all machines, as far as it is known: in one thread group, and in all.
    pub fn active_users(&self, group: usize) -> (u32, u32) {
        let (in_group, in_all) = self.counts.active(group);
        // Until the numbers of the other machines are known, they are estimated from this machine's.
        let everywhere = |group, here: u32| {
            self.part
                .active_users(group)
                .unwrap_or_else(|| (f64::from(here) / self.part.fraction()).round() as u32)
        };
        (everywhere(Some(group), in_group), everywhere(None, in_all))
    }

    /// Shows the user a line, within a tenth of a second.
    pub fn announce(&self, line: String) {
        self.announced().push(line);
    }

    pub(crate) fn announced(&self) -> MutexGuard<'_, Vec<String>> {
        self.announcements
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the run early, from inside.
    pub fn stop(&self, now: bool) {
        if now {
            self.control.stop_now()
        } else {
            self.control.shutdown()
        }
    }
}

impl Steered for Shared {
    fn clock(&self) -> Clock {
        self.clock
    }

    fn groups(&self) -> Vec<&str> {
        let groups = 0..self.program.groups.len();
        groups.map(|group| self.group_name(group)).collect()
    }

    fn planned_users(&self, group: usize) -> u32 {
        self.shape(group).users()
    }

    fn has_arrivals(&self, group: usize) -> bool {
        matches!(self.shape(group), Shape::Arrivals(_) | Shape::Open(_))
    }

    fn has_rates(&self) -> bool {
        let mut groups = 0..self.program.groups.len();
        self.program.has_rates || groups.any(|group| self.has_arrivals(group))
    }

    fn order_users(&self, group: usize, users: u32) {
        self.supplies[group].order_users(users);
    }

    fn set_property(&self, name: &str, value: &str) {
        self.properties.set(name, value);
    }
}

/// The counters of a run: its users, arrivals, time in Java code, and network targets.
#[derive(Default)]
pub struct Counts {
    groups: Vec<AtomicU32>,
    /// Users of each group that have started, and those that have ended.
    group_totals: Vec<(AtomicU64, AtomicU64)>,
    all: AtomicU32,
    started: AtomicU64,
    finished: AtomicU64,
    /// Users planned since the phase began (`JMeterContextService#getTotalThreads`), and the counts at that time.
    planned: AtomicU64,
    started_before: AtomicU64,
    finished_before: AtomicU64,
    /// Arrivals that have come due, and those of them that were left out.
    arrivals: AtomicU64,
    arrivals_left_out: AtomicU64,
    /// How long users have been in Java code, in microseconds.
    scripts_us: AtomicU64,
    /// TCP segments that connections have sent, and the retransmitted ones among them.
    segments: AtomicU64,
    segments_again: AtomicU64,
    /// Ports of this machine that requests went to.
    local_ports: Mutex<BTreeSet<u16>>,
    /// Targets that requests went to, each with its port.
    targets: Mutex<BTreeSet<String>>,
}

impl Counts {
    pub(crate) fn new(groups: usize) -> Counts {
        Counts {
            groups: (0..groups).map(|_| AtomicU32::new(0)).collect(),
            group_totals: (0..groups).map(|_| Default::default()).collect(),
            ..Counts::default()
        }
    }

    /// Users running now: in one thread group, and in all.
    pub fn active(&self, group: usize) -> (u32, u32) {
        (
            self.groups[group].load(Ordering::Relaxed),
            self.all.load(Ordering::Relaxed),
        )
    }

    pub(crate) fn start(&self, group: usize) {
        self.groups[group].fetch_add(1, Ordering::Relaxed);
        self.all.fetch_add(1, Ordering::Relaxed);
        self.started.fetch_add(1, Ordering::Relaxed);
        self.group_totals[group].0.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn finish(&self, group: usize) {
        self.groups[group].fetch_sub(1, Ordering::Relaxed);
        self.all.fetch_sub(1, Ordering::Relaxed);
        self.finished.fetch_add(1, Ordering::Relaxed);
        self.group_totals[group].1.fetch_add(1, Ordering::Relaxed);
    }

    /// Begins another phase, for which JMeter counts anew (`JMeterContextService#clearTotalThreads`).
    pub(crate) fn begin_phase(&self) {
        self.planned.store(0, Ordering::Relaxed);
        let [started, finished] =
            [&self.started, &self.finished].map(|count| count.load(Ordering::Relaxed));
        self.started_before.store(started, Ordering::Relaxed);
        self.finished_before.store(finished, Ordering::Relaxed);
    }

    /// Adds the users of a thread group that starts (`JMeterContextService#addTotalThreads`).
    pub(crate) fn plan(&self, users: u32) {
        self.planned.fetch_add(u64::from(users), Ordering::Relaxed);
    }

    /// Users of the phase at hand: active, started, finished, and all that were to run.
    pub fn of_phase(&self) -> [u64; 4] {
        [
            u64::from(self.all.load(Ordering::Relaxed)),
            since(&self.started, &self.started_before),
            since(&self.finished, &self.finished_before),
            self.planned.load(Ordering::Relaxed),
        ]
    }

    /// Stops counting a user as running while it waits (`ThreadCountsAccessor`).
    pub(crate) fn rest(&self, group: usize) {
        self.groups[group].fetch_sub(1, Ordering::Relaxed);
        self.all.fetch_sub(1, Ordering::Relaxed);
    }

    /// Counts a user as running again when it has waited.
    pub(crate) fn wake(&self, group: usize) {
        self.groups[group].fetch_add(1, Ordering::Relaxed);
        self.all.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts an arrival that has come due.
    pub(crate) fn arrival(&self, is_left_out: bool) {
        self.arrivals.fetch_add(1, Ordering::Relaxed);
        if is_left_out {
            self.arrivals_left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Adds time that a user was in Java code.
    pub(crate) fn script(&self, took: Duration) {
        let us = took.as_micros() as u64;
        self.scripts_us.fetch_add(us, Ordering::Relaxed);
    }

    /// How long users have been in Java code.
    pub(crate) fn scripts(&self) -> Duration {
        Duration::from_micros(self.scripts_us.load(Ordering::Relaxed))
    }

    /// Adds TCP segments that connections have sent.
    pub(crate) fn segments_sent(&self, more: Segments) {
        self.segments.fetch_add(more.sent, Ordering::Relaxed);
        self.segments_again
            .fetch_add(more.sent_again, Ordering::Relaxed);
    }

    pub(crate) fn segments(&self) -> Segments {
        Segments {
            sent: self.segments.load(Ordering::Relaxed),
            sent_again: self.segments_again.load(Ordering::Relaxed),
        }
    }

    /// Records the targets that requests went to, and the ports of those on this machine.
    pub(crate) fn asked(&self, targets: Vec<String>, ports: &[u16]) {
        let ports_so_far = self.local_ports.lock();
        ports_so_far
            .unwrap_or_else(PoisonError::into_inner)
            .extend(ports);
        let ports_so_far = self.targets.lock();
        ports_so_far
            .unwrap_or_else(PoisonError::into_inner)
            .extend(targets);
    }

    /// The targets that requests went to, each with its port.
    pub fn targets(&self) -> Vec<String> {
        let all_targets = self.targets.lock();
        let all_targets = all_targets.unwrap_or_else(PoisonError::into_inner);
        all_targets.iter().cloned().collect()
    }

    pub(crate) fn local_ports(&self) -> Vec<u16> {
        let ports = self.local_ports.lock();
        let ports = ports.unwrap_or_else(PoisonError::into_inner);
        ports.iter().copied().collect()
    }

    pub(crate) fn arrivals(&self) -> Arrivals {
        Arrivals {
            due: self.arrivals.load(Ordering::Relaxed),
            left_out: self.arrivals_left_out.load(Ordering::Relaxed),
        }
    }

    /// Users of a group that have started and ended so far.
    pub(crate) fn of_group(&self, group: usize) -> (u64, u64) {
        let (started, ended) = &self.group_totals[group];
        // Read in this order, so that no more users have ended than have started.
        let ended = ended.load(Ordering::Acquire);
        (started.load(Ordering::Acquire), ended)
    }

    pub fn totals(&self) -> ThreadCounts {
        ThreadCounts {
            active: u64::from(self.all.load(Ordering::Relaxed)),
            started: self.started.load(Ordering::Relaxed),
            finished: self.finished.load(Ordering::Relaxed),
        }
    }
}

fn since(count: &AtomicU64, before: &AtomicU64) -> u64 {
    let count = count.load(Ordering::Relaxed);
    count.saturating_sub(before.load(Ordering::Relaxed))
}
