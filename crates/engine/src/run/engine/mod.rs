//! A run: its workers, its thread groups in their order, and the numbers that it reports (`StandardJMeterEngine#run`).

mod ending;
mod moves;
mod planned;
mod start_error;
mod start_workers;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use drumfire_health::{
    Delay, EngineCounters, Failures, Machine, Opened, Second, Shortages, Verdict, Watch, judge,
};
use drumfire_results::{ExistingFile, Histogram, Recording, ResultFolder, ResultWriter};

use crate::base::clock::Clock;
use crate::run::control::{Control, Mark, Stopping};
use crate::run::crew::StartGroup;
use crate::run::events::{Event, Subscriber, Tick};
use crate::run::fleet::{Fleet, GroupPhase, MachinePart, Move, StartGate};
use crate::run::java::host::Java;
use crate::run::journey::BoundPlan;
use crate::run::ledger::Ledger;
use crate::run::outcome::Outcome;
use crate::run::program::{GroupKind, Program};
use crate::run::share::Slots;
use crate::run::shared::Shared;
use crate::run::workers;
use crate::run::workers::{Command, Done, JavaMoment};

use planned::started;
pub use start_error::StartError;
use start_workers::start_workers;

/// How long the main groups wait for work that scripts of setUp groups have started in Java.
const AFTER_SET_UP: Duration = Duration::from_millis(200);
/// How often the run collects its numbers and notifies its subscribers.
const TICK: Duration = Duration::from_millis(100);
/// How often the verdict so far is computed.
const JUDGE_PAUSE: Duration = Duration::from_secs(5);
/// How long samples may take to end after the plan's Java code was ended by force.
const GIVE_UP_WAIT: Duration = Duration::from_secs(3);

/// The number of worker threads of a plan whose functions block, or may run for long.
const BLOCKING_WORKERS: usize = 256;
/// `jmeterengine.threadstop.wait`, in milliseconds: how long after 'stop now' Java code has to heed its interruption.
const THREAD_STOP_WAIT_MS: i64 = 5000;

/// The property for the port of a BeanShell that reads commands.
const SHELL_PORT: &str = "beanshell.server.port";
/// The property for the length of labels in statistics.
const LABEL_BYTES: &str = "drumfire.max_label_bytes";

/// The options of a run.
#[derive(Clone, Debug, Default)]
pub struct EngineOptions {
    /// Delete result files before the start (`-f`).
    pub delete_results: bool,
    /// Worker threads; 0 is one per core, and never more than users.
    pub workers: usize,
    /// The other machines of the run, if the program is run by several.
    pub fleet: Option<Arc<dyn Fleet>>,
    /// How far the run's clock is ahead of the system's, in nanoseconds.
    pub clock_offset_ns: i64,
}

/// Runs a plan to its end, on this thread. Each event goes to the subscribers in the order of the slice.
///
/// # Errors
/// [`StartError`]; nothing has been sent then.
pub fn run(
    plan: Arc<BoundPlan>,
    options: &EngineOptions,
    control: &Control,
    subscribers: &mut [&mut dyn Subscriber],
) -> Result<Outcome, StartError> {
    let program = plan.program.clone();
    let has_shell = program.settings.properties.get_long(SHELL_PORT, 0) > 0;
    if (has_shell || !program.java.is_empty())
        && let Java::Host(host) = &program.settings.java
    {
        host.start(&program, control).map_err(StartError::Java)?;
    }
    let writer = ResultWriter::open(program.outputs.clone(), &result_folder(&program, options))
        .map_err(StartError::Results)?;
    let clock = Clock::start_ahead(options.clock_offset_ns);
    let part = MachinePart::new(program.settings.share.clone(), options.fleet.clone());
    let shared = Shared::new(&program, clock, control, part).map_err(StartError::Tls)?;
    let shared = Arc::new(shared);
    let steered: Arc<dyn crate::run::control::Steered> = shared.clone();
    control.attach(Arc::downgrade(&steered));
    drop(steered);
    let ledger = Ledger::new(worker_count(&program, options), &program);
    let (workers, too_few) =
        start_workers(&shared, &plan, &writer, &ledger).map_err(StartError::Workers)?;
    let (done, finished) = channel();
    let machine = Machine::default();
    let mut run = Run {
        watch: Watch::start(machine.clone(), TICK),
        machine,
        marks: Vec::new(),
        second: None,
        verdict: None,
        judged: Duration::ZERO,
        beside: Default::default(),
        plan,
        shared,
        ledger,
        writer,
        workers,
        done,
        finished,
        subscribers,
        problem_told: false,
        memory_told: false,
        used_force: false,
        gave_up: false,
        started: Instant::now(),
        running: Vec::new(),
        moves: Vec::new(),
        quiet_until: None,
    };
    run.tell(&Event::Started(Arc::new(started(&program, &clock))));
    if let Some(warning) = too_few {
        run.tell(&Event::Warning(warning.into()));
    }
    for problem in run.writer.problems().to_vec() {
        run.tell(&Event::Warning(problem.into()));
    }
    run.all_groups();
    let outcome = run.end();
    if let Java::Host(host) = &program.settings.java {
        host.run_ended();
    }
    Ok(outcome)
}

/// The result files that a run of the program writes.
pub fn result_files(program: &Program) -> Vec<PathBuf> {
    let place = result_folder(program, &EngineOptions::default());
    let names = program.outputs.iter().map(|output| &output.file_name);
    names
        .filter(|name| !name.is_empty())
        .map(|name| place.resolve(name))
        .collect()
}

/// Where result files go, and whether existing ones are deleted.
fn result_folder(program: &Program, options: &EngineOptions) -> ResultFolder {
    let prefix = program
        .settings
        .properties
        .get("jmeter.save.saveservice.base_prefix");
    ResultFolder {
        base_dir: program.base_dir.clone(),
        base_prefix: prefix.map_or_else(|| "~/".to_owned(), |prefix| prefix.to_string()),
        existing: match options.delete_results {
            true => ExistingFile::Delete,
            false if program.settings.share.count > 1 => ExistingFile::Share,
            false => ExistingFile::Append,
        },
    }
}

/// How many worker threads a run has.
fn worker_count(program: &Program, options: &EngineOptions) -> usize {
    let cores = drumfire_platform::processes::cores();
    let users = program.groups.iter().map(|group| match group.late {
        // The number of its users is known only when it starts.
        Some(_) => cores,
        // It will take over users of others.
        None if program.settings.share.slots.is_empty() => cores,
        None => program.settings.share.slots.users_of(group.shape.users()) as usize,
    });
    let users = users.sum::<usize>();
    let wanted = match options.workers {
        // A function that blocks holds up all users of its worker. More workers keep these few.
        0 if program.java.has_blocking_functions => BLOCKING_WORKERS.max(cores),
        0 => cores,
        workers => workers,
    };
    wanted.min(users.max(1)).max(1)
}

struct Run<'s, 'o> {
    shared: Arc<Shared>,
    plan: Arc<BoundPlan>,
    /// How long the setUp and the tearDown thread groups took.
    beside: (Duration, Duration),
    ledger: Ledger,
    writer: ResultWriter,
    workers: Vec<workers::Handle>,
    done: Sender<()>,
    /// Receives a message each time all users of a group on one worker have ended.
    finished: Receiver<()>,
    subscribers: &'s mut [&'o mut dyn Subscriber],
    /// Subscribers have been told of the writer's problem.
    problem_told: bool,
    /// They have been told that the control group's memory is scarce.
    memory_told: bool,
    /// Some users did not heed 'stop now' in time (`StandardJMeterEngine.StopTest`).
    used_force: bool,
    /// Some users did not stop even then, and the run no longer waits for them.
    gave_up: bool,
    started: Instant,
    /// The groups that run.
    running: Vec<StartGroup>,
    /// Moves of slots between machines that are not due yet.
    moves: Vec<Move>,
    /// Until then this thread leaves the cores to the workers, whose users must start together with those of other machines.
    quiet_until: Option<Instant>,
    machine: Machine,
    watch: Watch,
    marks: Vec<Mark>,
    /// The last second of the generator, until a tick has reported it.
    second: Option<Arc<Second>>,
    /// The verdict so far, and when it was computed.
    verdict: Option<Arc<Verdict>>,
    judged: Duration,
}

impl Run<'_, '_> {
    fn all_groups(&mut self) {
        if !self.java_state(JavaMoment::TestStarted) {
            return;
        }
        let begun = Instant::now();
        self.phase(GroupKind::SetUp);
        self.beside.0 = begun.elapsed();
        let main_began = !self.shared.control.stopping();
        if main_began {
            self.settle_java();
        }
        self.pass_gate(GroupPhase::Main);
        self.phase(GroupKind::Main);
        // In JMeter an exit of the JVM skips tearDown groups. Here they run, whatever the plan says of shutdowns.
        let tears_down = self.shared.program.tear_down_on_shutdown || self.exit_request().is_some();
        // Users of a worker that hangs would never start.
        if main_began && self.shared.control.stopping() && tears_down && !self.gave_up {
            self.shared.control.rearm();
        }
        self.pass_gate(GroupPhase::TearDown);
        let begun = Instant::now();
        self.phase(GroupKind::TearDown);
        self.beside.1 = begun.elapsed();
        self.java_state(JavaMoment::TestEnded);
        self.tell_lost();
    }

    /// Warns of samples that Java code could not send.
    fn tell_lost(&mut self) {
        let lost = match &self.shared.program.settings.java {
            Java::Host(host) => host.take_lost(),
            Java::Absent(_) => Vec::new(),
        };
        for line in lost {
            self.tell(&Event::Warning(line.into()));
        }
    }

    /// Notifies the elements that Java runs of the start or end of the test; false if the run cannot go on.
    fn java_state(&mut self, moment: JavaMoment) -> bool {
        let program = &self.shared.program;
        if program.java.elements.is_empty() || program.groups.is_empty() || self.crash().is_some() {
            return true;
        }
        self.workers[0].send(Command::Java(moment, Done::new(self.done.clone())));
        self.wait_for(1, GroupKind::SetUp);
        !matches!(self.shared.java_start.get(), Some(Err(_)))
    }

    /// Does the work of `StandardJMeterEngine#run` between setUp groups and main groups: collects garbage, and waits. Plans
    /// rely on the time that JMeter takes for this and for its first request. For example, a server that a script of a setUp
    /// group has started may bind its port on another thread.
    fn settle_java(&self) {
        let program = &self.shared.program;
        let Java::Host(host) = &program.settings.java else {
            return;
        };
        let mut groups = program.groups.iter();
        let has_set_up = groups.any(|group| group.kind == GroupKind::SetUp);
        if has_set_up && !program.java.elements.is_empty() {
            host.collect_garbage();
            std::thread::sleep(AFTER_SET_UP);
        }
    }

    /// Waits until shortly before the groups start on all machines of the run. Workers wait for the exact moment with their
    /// own precise timers. A stop ends the wait.
    fn pass_gate(&mut self, phase: GroupPhase) {
        let Some(fleet) = self.shared.part.fleet.clone() else {
            return;
        };
        loop {
            let properties = &self.shared.properties;
            let gate = fleet.gate(phase, properties);
            if let StartGate::OpensAt(at_ms) = gate {
                let opens = self.shared.clock.instant(at_ms);
                let left = opens.saturating_duration_since(Instant::now());
                if phase == GroupPhase::Main {
                    self.shared.set_origin_ms(at_ms);
                }
                if left <= TICK {
                    self.quiet_until = Some(opens + TICK / 2);
                    return;
                }
            }
            match (phase, self.shared.control.state()) {
                (_, Stopping::Now) | (GroupPhase::Main, Stopping::Shutdown) => return,
                _ => {}
            }
            std::thread::sleep(TICK / 4);
            self.tick();
        }
    }

    /// Has all workers start users of a group. Returns the number of crews that do so.
    fn send_start(&self, start: &StartGroup) -> usize {
        self.shared.supplies[start.group].expect_crews(self.workers.len());
        for worker in &self.workers {
            let done = Done::new(self.done.clone());
            worker.send(Command::Start(start.clone(), done));
        }
        self.workers.len()
    }

    /// Runs all thread groups of a kind, one after the other if the plan says so.
    fn phase(&mut self, kind: GroupKind) {
        let shared = self.shared.clone();
        let share = &shared.part.share;
        let is_here = match (kind, &shared.part.fleet) {
            (GroupKind::Main, _) => true,
            (GroupKind::TearDown, Some(fleet)) => fleet.tears_down(share.leads()),
            _ => share.leads(),
        };
        if !is_here {
            return;
        }
        self.running.clear();
        let program = &shared.program;
        let groups = program
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.kind == kind);
        let kinds = program.groups.iter().filter(|group| group.kind != kind);
        let is_one_of_several = kinds.count() > 0;
        shared.counts.begin_phase();
        let mut pending = 0;
        for (position, (index, _)) in groups.enumerate() {
            if self.shared.control.stopping() {
                break;
            }
            shared.start_group(index);
            let (shape, name) = (shared.shape(index), shared.group_name(index));
            shared.counts.plan(shape.users());
            if let Err(fault) = shape.check() {
                tracing::error!(
                    "Error occurred starting thread group :{name}, error message:{fault} set in Thread Group:{name}"
                );
                continue;
            }
            tracing::info!("Starting {} threads for group {name}.", shape.users());
            let start = StartGroup {
                group: index,
                number: position + 1,
                at_ms: self.start_ms(kind),
                slots: match kind {
                    GroupKind::Main => shared.part.slots(),
                    _ => Slots::default(),
                },
                moved: None,
            };
            shared.set_group_start_ms(index, start.at_ms);
            if program.serialized && program.groups.len() > 1 {
                self.mark(start.at_ms, name.to_owned());
            } else if position == 0 && is_one_of_several {
                self.mark(start.at_ms, kind.title().to_owned());
            }
            pending += self.send_start(&start);
            self.running.push(start);
            if program.serialized {
                self.wait_for(std::mem::take(&mut pending), kind);
                self.running.clear();
            }
        }
        self.wait_for(pending, kind);
        self.running.clear();
    }

    /// The start time of a group that is to start now. If there are several machines, all use the same time.
    fn start_ms(&self, kind: GroupKind) -> i64 {
        match kind {
            GroupKind::Main
                if self.shared.part.fleet.is_some() && !self.shared.program.serialized =>
            {
                self.shared.origin_ms()
            }
            _ => self.shared.clock.now_ms(),
        }
    }

    /// Waits until `pending` crews have reported that their users have ended.
    fn wait_for(&mut self, mut pending: usize, kind: GroupKind) {
        let mut stop_now_since = None;
        while pending > 0 {
            pending += self.adopt(kind);
            let quiet = self.quiet_until.take().map(rest).unwrap_or(TICK);
            match self.finished.recv_timeout(quiet.max(TICK)) {
                Ok(_) => pending -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            self.tick();
            if self.shared.control.state() == Stopping::Now {
                let since = *stop_now_since.get_or_insert_with(|| {
                    self.break_off(false);
                    Instant::now()
                });
                if since.elapsed() > self.thread_stop_wait() {
                    self.break_off(true);
                    self.used_force = true;
                }
                let patience = match self.crash() {
                    Some(_) => GIVE_UP_WAIT,
                    None => self.thread_stop_wait() + GIVE_UP_WAIT,
                };
                if since.elapsed() > patience {
                    tracing::error!("some users did not stop; their samples are lost");
                    self.gave_up = true;
                    return;
                }
            }
        }
    }

    fn thread_stop_wait(&self) -> Duration {
        let properties = &self.shared.program.settings.properties;
        let millis = properties.get_long("jmeterengine.threadstop.wait", THREAD_STOP_WAIT_MS);
        Duration::from_millis(u64::try_from(millis).unwrap_or(0))
    }

    /// Interrupts Java code, or ends it by force, because it does not notice that the run ends.
    fn break_off(&self, by_force: bool) {
        if let Java::Host(host) = &self.shared.program.settings.java {
            host.break_off(by_force);
        }
    }

    fn exit_request(&self) -> Option<String> {
        match &self.shared.program.settings.java {
            Java::Host(host) => host.exit_request(),
            Java::Absent(_) => None,
        }
    }

    fn tell(&mut self, event: &Event) {
        for subscriber in self.subscribers.iter_mut() {
            subscriber.receive(event, self.ledger.recording());
        }
    }

    fn mark(&mut self, at_ms: i64, text: String) {
        let mark = Mark { at_ms, text };
        self.marks.push(mark.clone());
        self.tell(&Event::Mark(mark));
    }

    fn tell_announcements(&mut self) {
        let lines = std::mem::take(&mut *self.shared.announced());
        for line in lines {
            self.tell(&Event::Line(line.into()));
        }
    }

    fn tick(&mut self) {
        self.tell_announcements();
        for Mark { at_ms, text } in self.shared.control.take_marks() {
            self.mark(at_ms, text);
        }
        let now_ms = self.shared.clock.now_ms();
        self.ledger.collect(now_ms, &self.shared.counts);
        let moment = self.moment();
        if let Some(second) = self.watch.observe(&moment) {
            self.second = Some(Arc::new(second.clone()));
            self.judge_so_far(&moment);
            self.warn_of_memory();
        }
        for hint in self.shared.slot.take_news() {
            self.tell(&Event::Warning(hint.into()));
        }
        let problem = self.writer.gauge().problem;
        if let Some(problem) = problem.filter(|_| !self.problem_told) {
            self.tell(&Event::Warning(problem.into()));
            self.problem_told = true;
        }
        self.tell_increments(Some(now_ms));
        self.tell_tick(now_ms);
    }

    /// Warns once that the control group has little memory left: at its limit the system kills the run without a word.
    fn warn_of_memory(&mut self) {
        if self.memory_told {
            return;
        }
        let memory = self.machine.group_memory();
        if let Some(warning) = memory.and_then(|memory| memory.warning()) {
            self.memory_told = true;
            self.tell(&Event::Warning(warning.into()));
        }
    }

    /// Sends the increments of finished seconds, or of all seconds without a time, and the samples of backend listeners.
    fn tell_increments(&mut self, now_ms: Option<i64>) {
        while let Some(increment) = self.ledger.post(now_ms) {
            self.tell(&Event::Increment(increment));
        }
        for (backend, heard) in self.ledger.take_heard() {
            self.tell(&Event::Heard(backend, Arc::new(heard)));
        }
    }

    fn judge_so_far(&mut self, moment: &EngineCounters) {
        if self.verdict.is_some() && moment.elapsed < self.judged + JUDGE_PAUSE {
            return;
        }
        self.judged = moment.elapsed;
        let failures = self.failures(moment.lacking);
        let verdict = judge(self.watch.seconds(), &failures, self.watch.limits());
        self.verdict = Some(Arc::new(verdict));
    }

    /// The failures so far, without what only the end of a run tells.
    fn failures(&self, lacking: Shortages) -> Failures {
        Failures {
            samples: self.ledger.samples(),
            lacking,
            lost_rows: 0,
            lost_samples: 0,
            surplus_samples: 0,
            behind_schedule_us: behind_schedule_us(self.ledger.recording()),
        }
    }

    fn tell_tick(&mut self, at_ms: i64) {
        let (summaries, recent_errors) = self.ledger.take_news();
        let tick = Tick {
            at_ms,
            elapsed: self.started.elapsed(),
            users: self.shared.counts.totals(),
            labels: self.ledger.labels(),
            summaries,
            recent_errors,
            connections: self.ledger.connections(),
            writer: self.writer.gauge(),
            stopping: self.shared.control.state(),
            paused: self.shared.control.is_paused(),
            rate: self.shared.control.rate(),
            second: self.second.take(),
            verdict: self.verdict.clone(),
            agents: Vec::new(),
        };
        self.tell(&Event::Tick(Arc::new(tick)));
    }

    fn moment(&mut self) -> EngineCounters {
        let elapsed = self.started.elapsed();
        // Facts that are expensive to find out are queried once a second.
        let (delay, lacking, garbage) = if self.watch.is_due(elapsed) {
            (self.delay(), self.lacking(), self.garbage())
        } else {
            Default::default()
        };
        self.watch.note_targets(&self.shared.counts.local_ports());
        let connections = self.ledger.connections();
        let writer = self.writer.gauge();
        let late_us = self.shared.loop_late_us.swap(0, Ordering::Relaxed);
        EngineCounters {
            elapsed,
            delay,
            samples: self.ledger.samples(),
            users: self.shared.counts.totals().active,
            is_held: self.shared.control.is_paused() || self.shared.control.rate() == 0.0,
            loop_late: Duration::from_micros(late_us),
            backlog_bytes: writer.backlog_bytes,
            disk_stalled: writer.stalled,
            connections: Opened {
                opened: connections.opened,
                reused: connections.reused,
                handshakes_full: connections.handshakes_full,
                handshakes_resumed: connections.handshakes_resumed,
            },
            lacking,
            garbage,
            scripts: self.shared.counts.scripts(),
            arrivals: self.shared.counts.arrivals(),
            segments: self.shared.counts.segments(),
            start_by_clock_ms: start_by_clock_ms(self.started),
        }
    }

    fn garbage(&self) -> Duration {
        match &self.shared.program.settings.java {
            Java::Host(host) if !self.shared.program.java.is_empty() => host.garbage_time(),
            _ => Duration::ZERO,
        }
    }

    /// Samples that have failed so far because this machine lacked a resource.
    fn lacking(&self) -> Shortages {
        let mut lacking = self.ledger.lacking();
        // A source address that this machine does not have fails with the same message as exhausted ports.
        if !self.shared.slot.ports_ran_out() {
            lacking.port = 0;
        }
        lacking
    }

    /// The lateness of users since the last call.
    fn delay(&mut self) -> Delay {
        let lateness = self.ledger.take_lateness();
        let times = lateness.histogram();
        Delay {
            count: times.count(),
            p50_us: times.percentile(50.0) as u64,
            p99_us: times.percentile(99.0) as u64,
            max_us: times.max(),
        }
    }
}

fn rest(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
}

/// The run's start by the system's clock as it is now. `None` if this thread lost its core between reading the two clocks.
fn start_by_clock_ms(started: Instant) -> Option<i64> {
    const AT_ONCE: Duration = Duration::from_millis(20);
    let before = started.elapsed();
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let is_at_once = started.elapsed() - before < AT_ONCE;
    is_at_once.then(|| since_epoch.as_millis() as i64 - before.as_millis() as i64)
}

/// How late scheduled samples began, in microseconds: the median time from the intended start to the end, minus the median of
/// the exchange itself.
fn behind_schedule_us(recording: &Recording) -> u64 {
    let mut response = Histogram::new();
    let mut service = Histogram::new();
    for label in &recording.labels {
        response.merge(&label.response);
        service.merge(&label.scheduled);
    }
    (median(&response) - median(&service)).max(0.0) as u64
}

fn median(times: &Histogram) -> f64 {
    times.percentile(50.0)
}

#[cfg(test)]
mod tests;
