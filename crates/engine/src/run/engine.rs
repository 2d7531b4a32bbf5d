//! A run: workers, thread groups in their order, and what is known while it goes on (`StandardJMeterEngine#run`).

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use drumfire_health::{
    Delay, Failures, Lacking, Machine, Moment, Opened, Second, StageTimes, Verdict, Watch, judge,
};
use drumfire_results::{
    ErrorKind, ExistingFile, FileReport, Histogram, Live, OpenError, Place, ResultWriter,
    Summariser, SummariserSettings, ThreadCounts, WriterGauge,
};

use crate::base::clock::Clock;
use crate::run::control::{Control, Stopping};
use crate::run::java::Java;
use crate::run::program::{GroupKind, Program};
use crate::run::shared::Shared;
use crate::run::worker;
use crate::run::worker::{Command, Done, JavaMoment, Ledger, StartGroup};

/// How long the main groups wait for what scripts of setUp groups have begun in Java.
const AFTER_SET_UP: Duration = Duration::from_millis(200);
/// How often the run looks at itself.
const TICK: Duration = Duration::from_millis(100);
/// How long samples may take to break off after 'stop now' (`jmeterengine.threadstop.wait`).
const STOP_NOW_WAIT: Duration = Duration::from_secs(5);

/// Worker threads of a plan whose functions wait for something.
const BLOCKING_WORKERS: usize = 256;
/// How long after 'stop now' Java code has to heed its interruption.
const BREAK_OFF_WAIT: Duration = Duration::from_secs(2);
/// How long a worker may take to end when some users did not stop.
const WORKER_END_WAIT: Duration = Duration::from_secs(3);

/// How to run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Delete result files before the start (`-f`).
    pub delete_results: bool,
    /// Worker threads; 0 is one per core, and never more than users.
    pub workers: usize,
}

/// What is known while the run goes on.
pub struct Progress<'a> {
    pub elapsed: Duration,
    pub users: ThreadCounts,
    pub live: &'a Live,
    pub writer: WriterGauge,
    pub stopping: Stopping,
}

/// Told how a run goes on, on the thread that runs it.
pub trait Observer {
    /// Called several times a second.
    fn tick(&mut self, progress: &Progress<'_>);
    /// A line of a summariser.
    fn summary_line(&mut self, line: &str);
    /// Something is wrong that the user can mend while the run goes on, such as a full disk.
    fn warning(&mut self, text: &str);
    /// The last user has ended; results are still being written.
    fn ending(&mut self);
}

/// How a run went.
pub struct Outcome {
    pub live: Arc<Live>,
    pub elapsed: Duration,
    /// Start and end, in milliseconds since the Unix epoch.
    pub started_ms: i64,
    pub ended_ms: i64,
    pub users: ThreadCounts,
    pub files: Vec<FileReport>,
    /// What went wrong with the results.
    pub faults: Vec<String>,
    /// Why the run sent nothing, if it did not.
    pub nothing_sent: Option<String>,
    pub stopped: Stopping,
    /// What the machine and the generator did, second by second.
    pub seconds: Vec<Second>,
    /// Where the time of samples went, of those that were timed.
    pub stages: StageTimes,
    /// Whether the numbers can be trusted.
    pub verdict: Verdict,
    /// What happened meanwhile, with when, in milliseconds since the Unix epoch.
    pub marks: Vec<(i64, String)>,
}

/// Why a run did not start.
#[derive(Debug)]
pub enum StartError {
    /// A result file that is to be deleted cannot be.
    Results(OpenError),
    /// Java, or one of the elements that it is to run.
    Java(String),
    /// The certificates to verify servers with cannot be had.
    Tls(String),
    /// Not even one worker.
    Workers(std::io::Error),
}

impl std::fmt::Display for StartError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StartError::Results(error) => error.fmt(f),
            StartError::Java(message) | StartError::Tls(message) => f.write_str(message),
            StartError::Workers(error) => write!(f, "no worker can start: {error}"),
        }
    }
}

impl std::error::Error for StartError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            StartError::Results(error) => std::error::Error::source(error),
            StartError::Java(_) | StartError::Tls(_) => None,
            StartError::Workers(error) => Some(error),
        }
    }
}

/// Runs a program to its end.
///
/// # Errors
/// [`StartError`]; nothing has been sent then.
pub fn run(
    program: Arc<Program>,
    options: &Options,
    control: &Control,
    observer: &mut dyn Observer,
) -> Result<Outcome, StartError> {
    if !program.java.is_empty()
        && let Java::Host(host) = &program.settings.java
    {
        host.start(&program, control).map_err(StartError::Java)?;
    }
    let writer = ResultWriter::open(program.outputs.clone(), &place(&program, options))
        .map_err(StartError::Results)?;
    let clock = Clock::start();
    let properties = &program.settings.properties;
    let settings = SummariserSettings::from_properties(&crate::bind::lookup(properties));
    let live = Arc::new(Live::new(program.summarisers.len()));
    let shared = Shared::new(&program, clock, control).map_err(StartError::Tls)?;
    let shared = Arc::new(shared);
    let summarisers = program
        .summarisers
        .iter()
        .map(|name| Summariser::new(name.as_str(), settings.interval_s, clock.now_ms()))
        .collect();
    let (done, finished) = channel();
    let (workers, too_few) = start_workers(
        &shared,
        &writer,
        &live,
        settings.ignore_transactions,
        options,
    )
    .map_err(StartError::Workers)?;
    let machine = Machine::default();
    let mut run = Run {
        watch: Watch::start(machine.clone(), TICK),
        machine,
        lateness: Histogram::new(),
        marks: Vec::new(),
        stopping: Stopping::No,
        shared,
        live,
        writer,
        workers,
        done,
        finished,
        summarisers,
        settings,
        observer,
        problem_told: false,
        gave_up: false,
        started: Instant::now(),
    };
    if let Some(warning) = too_few {
        run.observer.warning(&warning);
    }
    for problem in run.writer.problems() {
        run.observer.warning(problem);
    }
    run.all_groups();
    Ok(run.end())
}

/// The result files that a run of the program writes.
pub fn result_files(program: &Program) -> Vec<PathBuf> {
    let place = place(program, &Options::default());
    let names = program.outputs.iter().map(|output| &output.file_name);
    names
        .filter(|name| !name.is_empty())
        .map(|name| place.resolve(name))
        .collect()
}

/// Where result files are, and what becomes of those that are there.
fn place(program: &Program, options: &Options) -> Place {
    let prefix = program
        .settings
        .properties
        .get("jmeter.save.saveservice.base_prefix");
    Place {
        base_dir: program.base_dir.clone(),
        base_prefix: prefix.map_or_else(|| "~/".to_owned(), |prefix| prefix.to_string()),
        existing: if options.delete_results {
            ExistingFile::Delete
        } else {
            ExistingFile::Append
        },
    }
}

fn start_workers(
    shared: &Arc<Shared>,
    writer: &ResultWriter,
    live: &Arc<Live>,
    ignore_transactions: bool,
    options: &Options,
) -> std::io::Result<(Vec<worker::Handle>, Option<String>)> {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let users = shared
        .program
        .groups
        .iter()
        .map(|group| match group.late {
            // Only its start tells how many there are.
            Some(_) => cores,
            None => group.shape.users() as usize,
        })
        .sum::<usize>()
        .max(1);
    let wanted = match options.workers {
        // Functions run where their user does: while one waits, few others should have to.
        0 if shared.program.java.has_blocking_functions => BLOCKING_WORKERS.max(cores),
        0 => cores,
        workers => workers,
    };
    let wanted = wanted.min(users).max(1);
    let (runtimes, refused) = worker::runtimes(wanted)?;
    let count = runtimes.len();
    let warning = refused.map(|error| {
        format!("{count} of {wanted} workers run, there is nothing for more: {error}")
    });
    let workers = runtimes.into_iter().enumerate();
    let workers = workers.filter_map(|(index, runtime)| {
        let ledger = Ledger {
            inlet: writer.inlet(),
            live: live.clone(),
            ignore_transactions,
        };
        worker::start((index, count), runtime, shared.clone(), ledger)
    });
    let workers: Vec<_> = workers.collect();
    match workers.is_empty() {
        true => Err(std::io::Error::other("the system has no thread for it")),
        false => Ok((workers, warning)),
    }
}

struct Run<'o> {
    shared: Arc<Shared>,
    live: Arc<Live>,
    writer: ResultWriter,
    workers: Vec<worker::Handle>,
    done: Sender<()>,
    /// Each time a group's users on one worker have all ended.
    finished: Receiver<()>,
    summarisers: Vec<Summariser>,
    settings: SummariserSettings,
    observer: &'o mut dyn Observer,
    /// The writer's problem has been told.
    problem_told: bool,
    /// Some users did not stop.
    gave_up: bool,
    started: Instant,
    machine: Machine,
    watch: Watch,
    /// How late users were until the second at hand.
    lateness: Histogram,
    /// What happened, with when, in milliseconds since the Unix epoch.
    marks: Vec<(i64, String)>,
    /// What was last known of the end.
    stopping: Stopping,
}

impl Run<'_> {
    fn all_groups(&mut self) {
        if !self.java_state(JavaMoment::TestStarted) {
            return;
        }
        self.phase(GroupKind::SetUp);
        let main_began = !self.shared.control.stopping();
        if main_began {
            self.settle_java();
        }
        self.phase(GroupKind::Main);
        if main_began && self.shared.control.stopping() && self.shared.program.tear_down_on_shutdown
        {
            self.shared.control.rearm();
        }
        self.phase(GroupKind::TearDown);
        self.java_state(JavaMoment::TestEnded);
    }

    /// Tells the elements that Java runs that the test starts or ends; false if it cannot go on.
    fn java_state(&mut self, moment: JavaMoment) -> bool {
        let program = &self.shared.program;
        if program.java.elements.is_empty() || program.groups.is_empty() {
            return true;
        }
        self.workers[0].send(Command::Java(moment, Done::new(self.done.clone())));
        self.wait_for(1);
        !matches!(self.shared.java_start.get(), Some(Err(_)))
    }

    /// What `StandardJMeterEngine#run` does before the main groups, if something has run by then. Plans rely on the time that
    /// JMeter takes then and for its first request: a server that a script of a setUp group started binds its port on a thread
    /// of its own.
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

    /// All thread groups of a kind; one after the other if the plan says so.
    fn phase(&mut self, kind: GroupKind) {
        let shared = self.shared.clone();
        let program = &shared.program;
        let groups = program
            .groups
            .iter()
            .enumerate()
            .filter(|(_, group)| group.kind == kind);
        let kinds = program.groups.iter().filter(|group| group.kind != kind);
        let is_one_of_several = kinds.count() > 0;
        let mut pending = 0;
        for (position, (index, _)) in groups.enumerate() {
            if self.shared.control.stopping() {
                break;
            }
            shared.start_group(index);
            let (shape, name) = (shared.shape(index), shared.group_name(index));
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
                at_ms: self.shared.clock.now_ms(),
            };
            if program.serialized && program.groups.len() > 1 {
                self.marks.push((start.at_ms, name.to_owned()));
            } else if position == 0 && is_one_of_several {
                self.marks.push((start.at_ms, kind.title().to_owned()));
            }
            for worker in &self.workers {
                let done = Done::new(self.done.clone());
                worker.send(Command::Start(start.clone(), done));
            }
            pending += self.workers.len();
            if program.serialized {
                self.wait_for(std::mem::take(&mut pending));
            }
        }
        self.wait_for(pending);
    }

    /// Waits until so many workers have said that a group's users have ended.
    fn wait_for(&mut self, mut pending: usize) {
        let mut stop_now_since = None;
        while pending > 0 {
            match self.finished.recv_timeout(TICK) {
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
                if since.elapsed() > BREAK_OFF_WAIT {
                    self.break_off(true);
                }
                if since.elapsed() > STOP_NOW_WAIT {
                    tracing::error!("some users did not stop; their samples are lost");
                    self.gave_up = true;
                    return;
                }
            }
        }
    }

    /// Java code does not see that the run ends: it is interrupted, or ended by force.
    fn break_off(&self, by_force: bool) {
        if let Java::Host(host) = &self.shared.program.settings.java {
            host.break_off(by_force);
        }
    }

    fn tell_announcements(&mut self) {
        let lines = std::mem::take(&mut *self.shared.announced());
        for line in lines {
            self.observer.summary_line(&line);
        }
    }

    fn tick(&mut self) {
        self.tell_announcements();
        let now_ms = self.shared.clock.now_ms();
        let users = self.shared.counts.totals();
        self.live.note_users(now_ms, users.active);
        for (index, summariser) in self.summarisers.iter_mut().enumerate() {
            let samples = self.live.take_summary(index);
            summariser.tick(now_ms, &samples, users, |line| {
                say(self.settings, self.observer, line)
            });
        }
        let moment = self.moment();
        self.watch.observe(&moment);
        self.mark_stop(now_ms);
        for hint in self.shared.statics.hints.take_news() {
            self.observer.warning(&hint);
        }
        let writer = self.writer.gauge();
        if let Some(problem) = writer.problem.as_ref().filter(|_| !self.problem_told) {
            self.observer.warning(problem);
            self.problem_told = true;
        }
        self.observer.tick(&Progress {
            elapsed: self.started.elapsed(),
            users,
            live: &self.live,
            writer,
            stopping: self.shared.control.state(),
        });
    }

    /// Notes that somebody, or something in the plan, ended the run.
    fn mark_stop(&mut self, now_ms: i64) {
        let stopping = self.shared.control.state();
        if stopping != self.stopping {
            self.stopping = stopping;
            let text = match stopping {
                Stopping::No => return,
                Stopping::Shutdown => "asked to end",
                Stopping::Now => "told to stop now",
            };
            self.marks.push((now_ms, text.to_owned()));
        }
    }

    fn moment(&mut self) -> Moment {
        let elapsed = self.started.elapsed();
        // What costs something to find out is asked once a second.
        let (delay, lacking, garbage) = if self.watch.is_due(elapsed) {
            (self.delay(), self.lacking(), self.garbage())
        } else {
            Default::default()
        };
        let connections = self.live.connections();
        let writer = self.writer.gauge();
        let late_us = self.shared.loop_late_us.swap(0, Ordering::Relaxed);
        Moment {
            elapsed,
            delay,
            samples: samples(&self.live),
            users: self.shared.counts.totals().active,
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
        }
    }

    fn garbage(&self) -> Duration {
        match &self.shared.program.settings.java {
            Java::Host(host) if !self.shared.program.java.is_empty() => host.garbage_time(),
            _ => Duration::ZERO,
        }
    }

    /// Samples that failed so far for want of something on this machine.
    fn lacking(&self) -> Lacking {
        let no_port = self.shared.statics.hints.ports_ran_out();
        self.live
            .read(|recording| lacking(&recording.errors.list(), no_port))
    }

    /// How late users were since the last call.
    fn delay(&mut self) -> Delay {
        let now = self.live.read(|recording| recording.lateness.clone());
        let added = now.since(&self.lateness);
        self.lateness = now;
        Delay {
            count: added.count(),
            p50_us: added.percentile(50.0),
            p99_us: added.percentile(99.0),
            max_us: added.max(),
        }
    }

    fn end(mut self) -> Outcome {
        self.observer.ending();
        let mut faults = Vec::new();
        let deadline = self.gave_up.then(|| Instant::now() + WORKER_END_WAIT);
        for worker in std::mem::take(&mut self.workers) {
            match worker.end(deadline) {
                Some(Err(panic)) => self.shared.defects.note_worker(&*panic),
                Some(Ok(())) => {}
                None => faults.push(
                    "a script does not end: its worker's last results and connections are not counted"
                        .to_owned(),
                ),
            }
        }
        self.tell_announcements();
        let elapsed = self.started.elapsed();
        let users = self.shared.counts.totals();
        let now_ms = self.shared.clock.now_ms();
        for (index, summariser) in std::mem::take(&mut self.summarisers)
            .into_iter()
            .enumerate()
        {
            let samples = self.live.take_summary(index);
            summariser.finish(now_ms, &samples, users, |line| {
                say(self.settings, self.observer, line)
            });
        }
        let last = Moment {
            delay: self.delay(),
            lacking: self.lacking(),
            garbage: self.garbage(),
            ..self.moment()
        };
        let seconds = self.watch.end(&last);
        faults.extend(self.writer.problems().iter().cloned());
        let report = self.writer.finish();
        faults.extend(report.gauge.problem);
        let verdict = judge(
            &seconds,
            &Failures {
                samples: samples(&self.live),
                lacking: last.lacking,
                lost_rows: report.files.iter().map(|file| file.lost_rows).sum(),
            },
            &self.machine.limits(),
        );
        faults.extend(self.shared.defects.fault());
        if let Some(Err(why)) = self.shared.java_start.get() {
            faults.push(why.clone());
        }
        let nothing_sent = self.shared.early.nothing_sent(
            samples(&self.live),
            &self.shared.program,
            self.shared.control.state(),
        );
        Outcome {
            nothing_sent,
            seconds,
            stages: self.shared.stages.sum(),
            verdict,
            marks: self.marks,
            live: self.live,
            elapsed,
            started_ms: self.shared.clock.start_ms(),
            ended_ms: now_ms,
            users,
            files: report.files,
            faults,
            stopped: self.shared.control.state(),
        }
    }
}

/// Samples that failed for want of something on this machine, by the words of the operating system that JMeter's messages
/// have. A source address that is not this machine's has the same words as ports that ran out.
fn lacking(kinds: &[ErrorKind], ports_ran_out: bool) -> Lacking {
    let of = |words: &str| -> u64 {
        let found = kinds.iter().filter(|kind| kind.message.contains(words));
        found.map(|kind| kind.count).sum()
    };
    Lacking {
        port: if ports_ran_out {
            of("Cannot assign requested address")
        } else {
            0
        },
        file: of("Too many open files"),
        memory: of("Cannot allocate memory"),
    }
}

fn samples(live: &Live) -> u64 {
    live.read(|recording| recording.labels.iter().map(|label| label.count).sum())
}

fn say(settings: SummariserSettings, observer: &mut dyn Observer, line: &str) {
    if settings.log {
        tracing::info!("{line}");
    }
    if settings.out {
        observer.summary_line(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::context::Context;
    use crate::run::roles::PreProcessor;
    use crate::{Compiled, Settings, compile};

    /// Panics for the first user.
    struct Broken;

    impl PreProcessor for Broken {
        fn process(&self, cx: &mut Context) {
            assert_ne!(cx.number, 0, "this user is broken");
        }
    }

    #[derive(Default)]
    struct Told(Vec<String>);

    impl Observer for Told {
        fn tick(&mut self, _: &Progress<'_>) {}
        fn summary_line(&mut self, _: &str) {}
        fn warning(&mut self, text: &str) {
            self.0.push(text.to_owned());
        }
        fn ending(&mut self) {}
    }

    fn program(results: &std::path::Path) -> Program {
        let plan = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
            <TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="p"/><hashTree>
            <ThreadGroup guiclass="ThreadGroupGui" testclass="ThreadGroup" testname="users">
            <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><boolProp name="LoopController.continue_forever">false</boolProp><stringProp name="LoopController.loops">2</stringProp></elementProp>
            <stringProp name="ThreadGroup.num_threads">3</stringProp></ThreadGroup><hashTree>
            <DebugSampler guiclass="TestBeanGUI" testclass="DebugSampler" testname="sample"/><hashTree/>
            </hashTree></hashTree></hashTree></jmeterTestPlan>"#;
        let read = drumfire_jmx::read(plan.as_bytes(), std::path::Path::new("p.jmx"))
            .expect("the plan is well-formed");
        let settings = Settings {
            results: Some(results.to_owned()),
            ..Settings::default()
        };
        match compile(read.tree, Arc::new(settings)) {
            Ok(Compiled { program, .. }) => program,
            Err(faults) => panic!("{faults:?}"),
        }
    }

    #[test]
    fn a_user_that_panics_takes_nobody_with_it() {
        let folder = tempfile::tempdir().expect("there is room");
        let results = folder.path().join("rows.jtl");
        let mut program = program(&results);
        program.groups[0].samplers[0].pre.push(Arc::new(Broken));
        let (control, mut told) = (Control::default(), Told::default());
        let options = Options::default();
        let outcome = run(Arc::new(program), &options, &control, &mut told).expect("it runs");
        assert_eq!((outcome.users.started, outcome.users.finished), (3, 3));
        let [fault] = outcome.faults.as_slice() else {
            panic!("{:?}", outcome.faults)
        };
        assert!(
            fault
                .starts_with("1 user ended early by a defect of the program, the others went on: ")
                && fault.contains("this user is broken"),
            "{fault}"
        );
        let rows = std::fs::read_to_string(&results).expect("the rows were written");
        assert_eq!(rows.lines().count(), 1 + 2 * 2, "{rows}");
        assert!(told.0.is_empty());
    }

    #[test]
    fn a_results_file_that_cannot_be_opened_is_told_at_once_and_in_the_end() {
        let folder = tempfile::tempdir().expect("there is room");
        let program = program(folder.path());
        let (control, mut told) = (Control::default(), Told::default());
        let options = Options::default();
        let outcome = run(Arc::new(program), &options, &control, &mut told).expect("it runs");
        assert_eq!(outcome.users.finished, 3);
        assert_eq!(told.0, outcome.faults);
        assert!(
            told.0[0].ends_with("Is a directory (os error 21)"),
            "{told:?}",
            told = told.0
        );
    }
}
