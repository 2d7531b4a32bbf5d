//! The state of the run that a page shows: the sum of its increments, and its phase.

use std::collections::{HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use drumfire_report::{
    HealthGroup, LiveSecond, Mark, RunAgent, RunFile, RunVerdict, ThresholdResult, live_errors,
    live_label, live_state,
};
use drumfire_results::{ErrorKind, Increment, LabelStatistics, Recording};
use hyper::body::Bytes;
use serde::{Deserialize, Serialize};

use crate::viewers::{EventStream, Viewers, event, event_of};

/// The most kinds of errors that are sent during the run; the report has all of them.
const MOST_KINDS: usize = 100;
/// The most labels whose numbers are sent in a second. With more, labels take turns.
const MOST_ROWS: usize = 70;
/// How often the kinds of errors are sent.
const ERRORS_PAUSE: Duration = Duration::from_secs(5);
/// The generator's health grows with the run. It is sent as often as this many bytes a second allow.
const HEALTH_BYTES_PER_S: usize = 4_000;

/// The phase of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunPhase {
    /// The plan is being prepared.
    #[default]
    Starting,
    /// Users run.
    Running,
    /// Users wait.
    Paused,
    /// It was told to end.
    Stopping,
    /// The last user has ended.
    Ended,
}

/// The state of a run at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunStanding {
    /// The phase.
    pub phase: RunPhase,
    /// Time since the start, in milliseconds.
    pub elapsed_ms: u64,
    /// How long the run takes according to the plan, in milliseconds; `None` if that depends on the target.
    pub planned_ms: Option<u64>,
    /// The number of users in the plan, as far as it is known.
    pub planned_users: u64,
    /// Users that run.
    pub active: u64,
    /// Users that have started.
    pub started: u64,
    /// Users that have ended.
    pub finished: u64,
    /// The factor by which all rates are multiplied.
    pub rate: f64,
    /// Whether the plan has rates that the factor changes.
    pub has_rates: bool,
}

/// A thread group and its users.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupStanding {
    /// Its name.
    pub name: String,
    /// Users that run.
    pub active: u64,
    /// What orders can do to it.
    #[serde(flatten)]
    pub orders: GroupOrders,
}

/// The users of a thread group, as far as orders are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct GroupOrders {
    /// The number of users in the plan.
    pub planned: u64,
    /// The number of users that the last order asked for.
    pub ordered: Option<u64>,
    /// Whether arrivals determine the number of users, so that no order can.
    pub has_arrivals: bool,
}

/// Facts that are updated every few seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    /// The verdict on the numbers so far.
    pub verdict: Option<RunVerdict>,
    /// The state of the thresholds so far.
    pub thresholds: Vec<ThresholdResult>,
    /// The generator's health, and the target's own metrics.
    pub health: Vec<HealthGroup>,
    /// The agents of a run on several machines.
    pub agents: Vec<RunAgent>,
}

/// The answer to `GET /api/status`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Status {
    /// The name of the run.
    pub name: String,
    /// Start of the run, in milliseconds since the Unix epoch.
    pub started_ms: i64,
    /// The state of the run.
    pub standing: RunStanding,
    /// The thread groups in the order of the plan.
    pub groups: Vec<GroupStanding>,
    /// Samples so far, without those of transaction controllers.
    pub samples: u64,
    /// Failed samples so far.
    pub errors: u64,
    /// Samples in the last second.
    pub rate_per_s: f64,
    /// Median of the elapsed times, in milliseconds.
    pub p50_ms: f64,
    /// 95th percentile of the elapsed times, in milliseconds.
    pub p95_ms: f64,
    /// 99th percentile of the elapsed times, in milliseconds.
    pub p99_ms: f64,
    /// VALID, DEGRADED, INVALID or `too short to judge`; `None` until it is known.
    pub verdict: Option<String>,
    /// Whether the page accepts no orders.
    pub readonly: bool,
}

/// The options of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiveOptions {
    /// It accepts no orders.
    pub readonly: bool,
    /// It shows the first failed request and response of each kind.
    pub keeps_failures: bool,
    /// It stays after the end of the run, until it is closed.
    pub stays: bool,
}

/// The run that a page shows. Clones share it.
#[derive(Clone, Debug)]
pub struct Live(Arc<Mutex<LiveState>>);

#[derive(Debug)]
struct LiveState {
    run: RunFile,
    /// The sum over all labels except those of transaction controllers.
    total: LabelStatistics,
    standing: RunStanding,
    groups: Vec<GroupStanding>,
    last_rate: f64,
    /// The run file that is being written.
    run_file: Option<String>,
    options: LiveOptions,
    viewers: Viewers,
    /// Kinds of errors whose first sample all viewers have already received.
    told_kinds: HashSet<(String, String, String)>,
    told_errors: u64,
    told_errors_at: Option<Instant>,
    /// The places of labels with numbers that were not sent yet, those that wait longest first.
    waiting_rows: VecDeque<usize>,
    is_waiting: HashSet<usize>,
    /// When the generator's health is sent next.
    health_due: Option<Instant>,
    /// The finished report.
    report: Option<Bytes>,
    /// The files of the finished run.
    files: Vec<PathBuf>,
    is_closed: bool,
}

/// The state that a page gets first and then from time to time.
#[derive(Serialize)]
struct Standings<'s> {
    standing: &'s RunStanding,
    groups: &'s [GroupStanding],
    readonly: bool,
    run_file: Option<&'s str>,
    stays: bool,
    /// The names of the files of the finished run, in the order of their numbers.
    files: Vec<String>,
}

#[derive(Serialize)]
struct FactsEvent<'f> {
    verdict: Option<&'f RunVerdict>,
    thresholds: &'f [ThresholdResult],
    /// Absent if it is not due.
    #[serde(skip_serializing_if = "Option::is_none")]
    health: Option<&'f [HealthGroup]>,
    agents: &'f [RunAgent],
}

impl Live {
    /// A run that has not begun; `begun` holds what is known before the first sample.
    pub fn new(begun: RunFile, options: LiveOptions) -> Live {
        Live(Arc::new(Mutex::new(LiveState {
            run: begun,
            total: LabelStatistics::new(String::new(), false),
            standing: RunStanding {
                rate: 1.0,
                ..RunStanding::default()
            },
            groups: Vec::new(),
            last_rate: 0.0,
            run_file: None,
            options,
            viewers: Viewers::default(),
            told_kinds: HashSet::new(),
            told_errors: 0,
            told_errors_at: None,
            waiting_rows: VecDeque::new(),
            is_waiting: HashSet::new(),
            health_due: None,
            report: None,
            files: Vec::new(),
            is_closed: false,
        })))
    }

    /// Notes that the first user is about to start, at `at_ms` milliseconds since the Unix epoch.
    pub fn begin(&self, at_ms: i64, groups: Vec<String>) {
        let mut state = self.lock();
        state.run.started_ms = at_ms;
        state.run.ended_ms = state.run.ended_ms.max(at_ms);
        let groups = groups.into_iter();
        state.groups = groups
            .map(|name| GroupStanding {
                name,
                ..GroupStanding::default()
            })
            .collect();
        state.tell_standing();
    }

    /// Adds the numbers of a span of time.
    pub fn add(&self, increment: &Increment) {
        let mut state = self.lock();
        let state = &mut *state;
        state.run.add(increment);
        if !state.options.keeps_failures {
            state.run.recording.errors.forget_samples();
        }
        let samples = increment.labels.iter().filter(|label| !label.transaction);
        for label in samples {
            state.total.absorb(label);
        }
        for users in &increment.users {
            if let Some(group) = state.groups.get_mut(users.group as usize) {
                group.active = (group.active + users.started).saturating_sub(users.ended);
            }
        }
        let seconds = increment.to_ms.saturating_sub(increment.from_ms).max(1) as f64 / 1000.0;
        state.last_rate = increment.totals().0 as f64 / seconds;
        if state.viewers.is_empty() {
            // A new viewer begins with all labels.
            state.waiting_rows.clear();
            state.is_waiting.clear();
        } else {
            let places = state.next_rows(increment);
            let second = LiveSecond::of(&state.run, &state.total, increment, &places);
            state.viewers.tell(&event("second", &second));
        }
    }

    /// Names the run file that is being written, from which the report can be made if the run is killed.
    pub fn note_run_file(&self, path: &str) {
        self.lock().run_file = Some(path.to_owned());
    }

    /// Sets the current state of the run and of its thread groups.
    pub fn stand(&self, standing: RunStanding, orders: &[GroupOrders]) {
        let mut state = self.lock();
        for (group, orders) in state.groups.iter_mut().zip(orders) {
            group.orders = *orders;
        }
        state.standing = standing;
        state.tell_standing();
    }

    /// Adds a mark: something happened at this time.
    pub fn mark(&self, mark: Mark) {
        let mut state = self.lock();
        state.viewers.tell(&event("mark", &mark));
        state.run.marks.push(mark);
    }

    /// Sets the facts that are updated every few seconds. Errors are sent with them.
    pub fn learn(&self, facts: Facts) {
        let mut state = self.lock();
        let state = &mut *state;
        if !state.viewers.is_empty() {
            let is_due = state.health_due.is_none_or(|due| Instant::now() >= due);
            let facts_event = FactsEvent {
                verdict: facts.verdict.as_ref(),
                thresholds: &facts.thresholds,
                health: is_due.then_some(&facts.health),
                agents: &facts.agents,
            };
            let facts_event = event("facts", &facts_event);
            if is_due {
                let pause = Duration::from_secs((facts_event.len() / HEALTH_BYTES_PER_S) as u64);
                state.health_due = Some(Instant::now() + pause);
            }
            state.viewers.tell(&facts_event);
            if state
                .told_errors_at
                .is_none_or(|at| at.elapsed() >= ERRORS_PAUSE)
            {
                state.tell_errors();
            }
        }
        state.run.verdict = facts.verdict;
        state.run.thresholds = facts.thresholds;
        state.run.health = facts.health;
        state.run.agents = facts.agents;
    }

    /// Ends the run. The page is replaced with the report, as [`drumfire_report::report_payload`] makes it. Without a report
    /// the page stays.
    pub fn end(&self, report: Option<&str>) {
        let mut state = self.lock();
        state.standing.phase = RunPhase::Ended;
        state.tell_standing();
        let ended = event_of("ended", &format!("\"{}\"", report.unwrap_or_default()));
        state.viewers.tell(&ended);
        state.report = Some(ended);
        state.viewers.close();
    }

    /// Notes the files of the finished run, which the page offers while it stays.
    pub fn note_files(&self, files: Vec<PathBuf>) {
        self.lock().files = files;
    }

    /// Whether somebody has closed the page that stays after the run.
    pub fn is_closed(&self) -> bool {
        self.lock().is_closed
    }

    /// Closes the page that stays after the run. Returns whether it is one.
    pub(crate) fn close(&self) -> bool {
        let mut state = self.lock();
        let can_close = state.options.stays && state.standing.phase == RunPhase::Ended;
        state.is_closed |= can_close;
        can_close
    }

    /// The file of the finished run with this number.
    pub(crate) fn file(&self, number: usize) -> Option<PathBuf> {
        self.lock().files.get(number).cloned()
    }

    /// A label over time, as JSON.
    pub(crate) fn label(&self, label: &str, transaction: bool) -> Option<String> {
        live_label(&self.lock().run, label, transaction)
    }

    /// Sends an event of another kind to all pages.
    pub fn tell(&self, name: &str, content: &impl Serialize) {
        let mut state = self.lock();
        if !state.viewers.is_empty() {
            state.viewers.tell(&event(name, content));
        }
    }

    /// Passes the sum so far to `read`.
    pub fn read<T>(&self, read: impl FnOnce(&Recording) -> T) -> T {
        read(&self.lock().run.recording)
    }

    /// The state of the run, for programs.
    pub fn status(&self) -> Status {
        let state = self.lock();
        let service = &state.total.service;
        Status {
            name: state.run.name.clone(),
            started_ms: state.run.started_ms,
            standing: state.standing.clone(),
            groups: state.groups.clone(),
            samples: state.total.count,
            errors: state.total.errors,
            rate_per_s: state.last_rate,
            p50_ms: service.percentile_ms(50.0),
            p95_ms: service.percentile_ms(95.0),
            p99_ms: service.percentile_ms(99.0),
            verdict: state
                .run
                .verdict
                .as_ref()
                .map(|verdict| verdict.state.clone()),
            readonly: state.options.readonly,
        }
    }

    pub(crate) fn is_readonly(&self) -> bool {
        self.lock().options.readonly
    }

    pub(crate) fn name(&self) -> String {
        self.lock().run.name.clone()
    }

    /// A stream of everything so far and then each event; `None` if there are too many viewers.
    pub(crate) fn follow(&self) -> Option<EventStream> {
        let mut state = self.lock();
        let state = &mut *state;
        // The new viewer starts with the errors so far, so the others are brought up to date first.
        state.tell_errors();
        let run_state = event_of("state", &live_state(&state.run));
        let first = [run_state, event("standing", &state.standings())].concat();
        let stream = state.viewers.join(Bytes::from(first));
        if let Some(report) = &state.report {
            state.viewers.tell(&report.clone());
            state.viewers.close();
        }
        stream
    }

    fn lock(&self) -> MutexGuard<'_, LiveState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl LiveState {
    fn standings(&self) -> Standings<'_> {
        Standings {
            standing: &self.standing,
            groups: &self.groups,
            readonly: self.options.readonly,
            run_file: self.run_file.as_deref(),
            stays: self.options.stays,
            files: self.files.iter().map(|file| file_name(file)).collect(),
        }
    }

    /// The places of the labels that are sent now: those of the increment, and those that still wait.
    fn next_rows(&mut self, increment: &Increment) -> Vec<usize> {
        for label in &increment.labels {
            let row = self.run.recording.place(&label.label, label.transaction);
            if self.is_waiting.insert(row) {
                self.waiting_rows.push_back(row);
            }
        }
        let most = self.waiting_rows.len().min(MOST_ROWS);
        let next: Vec<usize> = self.waiting_rows.drain(..most).collect();
        for place in &next {
            self.is_waiting.remove(place);
        }
        next
    }

    fn tell_standing(&mut self) {
        if !self.viewers.is_empty() {
            let message = event("standing", &self.standings());
            self.viewers.tell(&message);
        }
    }

    /// Sends the kinds of errors, if there are new errors. The first sample of each kind is sent only once.
    fn tell_errors(&mut self) {
        if self.total.errors == self.told_errors {
            return;
        }
        self.told_errors = self.total.errors;
        self.told_errors_at = Some(Instant::now());
        let mut kinds = self.run.recording.errors.by_label();
        kinds.truncate(MOST_KINDS);
        for kind in &mut kinds {
            if !self.told_kinds.insert(key(kind)) {
                kind.first = None;
            }
        }
        self.viewers.tell(&event("errors", &live_errors(kinds)));
    }
}

/// The name of a file, without its folder.
pub(crate) fn file_name(file: &std::path::Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

fn key(kind: &ErrorKind) -> (String, String, String) {
    (kind.label.clone(), kind.code.clone(), kind.message.clone())
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Collector, Sample};

    use super::*;

    /// A second with three samples of each of 20 labels; one fails.
    fn second(number: i64) -> Increment {
        let mut collector = Collector::default();
        for label in 0..20 {
            for turn in 0..3 {
                let mut sample = Sample::new(format!("label {label}").into(), "t 1-1".into());
                sample.set_ok();
                sample.success = turn + label > 0;
                sample.start_ms = number * 1_000;
                let elapsed_ms = 1 + (number * 7919 + label * 31 + turn) % 900;
                sample.set_end(number * 1_000 + elapsed_ms);
                collector.record(&sample);
            }
        }
        collector.take_all().remove(0)
    }

    fn live() -> Live {
        let options = LiveOptions {
            readonly: false,
            keeps_failures: true,
            stays: false,
        };
        Live::new(drumfire_report::begun("p.jmx", 0), options)
    }

    #[test]
    fn eight_hours_take_little_memory() {
        const MIB: usize = 1 << 20;
        let live = live();
        let mut after_an_hour = 0;
        let memory = allocation_counter::measure(|| {
            for number in 0..8 * 3_600 {
                live.add(&second(number));
                if number == 3_600 {
                    after_an_hour = live_state(&live.lock().run).len();
                }
            }
        });
        let held = usize::try_from(memory.bytes_current).expect("more was taken than given back");
        assert!(held < 64 * MIB, "{} MiB are held", held / MIB);
        let after_eight = live_state(&live.lock().run).len();
        assert!(
            after_eight < 4 * MIB,
            "a page begins with {after_eight} bytes"
        );
        assert!(
            after_eight < 3 * after_an_hour,
            "{after_eight} after {after_an_hour} bytes"
        );
        assert_eq!(live.status().samples, 60 * 8 * 3_600);
    }

    #[test]
    fn many_labels_take_turns_and_none_is_left_out() {
        let live = live();
        let mut collector = Collector::default();
        for label in 0..500 {
            let mut sample = Sample::new(format!("label {label}").into(), "t 1-1".into());
            sample.set_ok();
            sample.start_ms = 1_000;
            sample.set_end(1_500);
            collector.record(&sample);
        }
        let increment = collector.take_all().remove(0);
        let _viewer = live.follow().expect("there is room");
        let mut seen = HashSet::new();
        for second in 0..500 / MOST_ROWS + 1 {
            let mut state = live.lock();
            state.run.add(&increment);
            let places = state.next_rows(&increment);
            assert!(places.len() <= MOST_ROWS, "second {second}");
            seen.extend(places);
        }
        assert_eq!(seen.len(), 500);
        let quiet = Increment::of_second(9);
        let mut state = live.lock();
        assert_eq!(state.next_rows(&quiet).len(), MOST_ROWS);
        while !state.next_rows(&quiet).is_empty() {}
        assert!(state.is_waiting.is_empty());
    }

    #[test]
    fn the_numbers_are_those_of_the_increments() {
        let live = live();
        live.begin(0, vec!["Buyers".to_owned()]);
        let mut increment = second(5);
        increment.add_users(vec![drumfire_results::GroupUsers {
            group: 0,
            started: 4,
            ended: 1,
        }]);
        live.add(&increment);
        let status = live.status();
        assert_eq!(
            (status.samples, status.errors, status.rate_per_s),
            (60, 1, 60.0)
        );
        assert_eq!(status.groups[0].active, 3);
        let recorded = live.read(Recording::total);
        assert_eq!(status.p95_ms, recorded.service.percentile_ms(95.0));
    }
}
