//! The end of a run: its workers are ended, and its last numbers, faults and verdict become the outcome.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_health::{EngineCounters, judge};
use drumfire_platform::words::counted;
use drumfire_results::FileReport;

use crate::run::control::{Mark, Stopping};
use crate::run::events::Event;
use crate::run::java::host::Java;
use crate::run::outcome::Outcome;

use super::Run;
use super::planned::planned_ms;

/// How long a worker may take to end when some users did not stop.
const WORKER_END_WAIT: Duration = Duration::from_secs(3);

impl Run<'_, '_> {
    pub(super) fn end(mut self) -> Outcome {
        let mut faults = self.end_workers();
        self.tell_announcements();
        let elapsed = self.started.elapsed();
        let now_ms = self.shared.clock.now_ms();
        for Mark { at_ms, text } in self.shared.control.take_marks() {
            self.mark(at_ms, text);
        }
        self.ledger.collect(now_ms, &self.shared.counts);
        self.tell_increments(None);
        self.tell_tick(now_ms);
        let last = EngineCounters {
            delay: self.delay(),
            lacking: self.lacking(),
            garbage: self.garbage(),
            ..self.moment()
        };
        let seconds = self.watch.end(&last);
        faults.extend(self.crash());
        faults.extend(self.exit_request());
        faults.extend(self.stop_fault());
        faults.extend(self.writer.problems().iter().cloned());
        faults.extend(self.java_faults());
        let stopped = self.shared.control.state();
        let overrun = self.overrun(stopped, elapsed);
        let mut failures = self.failures(last.lacking);
        let report = self.writer.finish();
        failures.lost_rows = report.files.iter().map(|file| file.lost_rows).sum();
        let balance = self.ledger.balance();
        failures.lost_samples = balance.lost();
        failures.surplus_samples = balance.surplus();
        // A cause that was told while the run went on is not repeated; the lost rows are counted below.
        let is_known = self.problem_told && failures.lost_rows > 0;
        faults.extend(report.gauge.problem.filter(|_| !is_known));
        let verdict = judge(&seconds, &failures, self.watch.limits());
        faults.extend(self.shared.defects.fault());
        let samples = self.ledger.samples();
        let nothing_sent = self.shared.early.nothing_sent(samples, &self.plan, stopped);
        let mut warnings = Vec::from_iter(overrun);
        warnings.extend(self.shared.failures.told());
        faults.extend(report.files.iter().filter_map(lost_rows));
        let connections = self.ledger.connections();
        let outcome = Arc::new(Outcome {
            recording: self.ledger.take_recording(),
            connections,
            balance: Some(balance),
            nothing_sent,
            warnings,
            elapsed,
            started_ms: self.shared.clock.start_ms(),
            ended_ms: now_ms,
            users: self.shared.counts.totals(),
            files: report.files,
            faults,
            stopped,
            seconds,
            stages: self.shared.stages.sum(),
            verdict: Some(verdict),
            marks: self.marks,
            targets: self.shared.counts.targets(),
        });
        let ended = Event::Ended(outcome.clone());
        for subscriber in self.subscribers.iter_mut() {
            subscriber.receive(&ended, &outcome.recording);
        }
        drop(ended);
        Arc::unwrap_or_clone(outcome)
    }

    /// Ends all workers, which hand over their last numbers. Returns what went wrong.
    fn end_workers(&mut self) -> Vec<String> {
        let mut faults = Vec::new();
        let has_crashed = self.crash().is_some();
        let deadline = (self.gave_up || has_crashed).then(|| Instant::now() + WORKER_END_WAIT);
        for worker in std::mem::take(&mut self.workers) {
            match worker.end(deadline, has_crashed) {
                Some(Err(panic)) => self.shared.defects.note_worker(&*panic),
                Some(Ok(())) => {}
                None => faults.push(
                    "a script does not end, so the last results and connections of its worker are not counted"
                        .to_owned(),
                ),
            }
        }
        faults
    }

    pub(super) fn crash(&self) -> Option<String> {
        match &self.shared.program.settings.java {
            Java::Host(host) => host.crash(),
            Java::Absent(_) => None,
        }
    }

    /// The fault of a run that had to end Java code by force; JMeter then exits with status 1.
    fn stop_fault(&self) -> Option<String> {
        let properties = &self.shared.program.settings.properties;
        let counts = properties.get_bool("jmeterengine.stopfail.system.exit", true);
        (self.used_force && counts).then(|| {
            let millis = self.thread_stop_wait().as_millis();
            format!(
                "some users did not stop within {millis} ms: Drumfire ended their code by force"
            )
        })
    }

    /// Why Java could not be started, or went on without some elements.
    fn java_faults(&self) -> impl Iterator<Item = String> {
        let start = self.shared.java_start.get();
        let supplies = self.shared.supplies.iter();
        supplies
            .filter_map(|supply| supply.java.fault())
            .chain(start.and_then(|start| start.as_ref().err().cloned()))
    }

    /// Names what held the end of a run that lasted longer than its plan says.
    fn overrun(&self, stopped: Stopping, elapsed: Duration) -> Option<String> {
        if stopped != Stopping::No {
            return None;
        }
        let planned_ms = planned_ms(&self.shared.program)?;
        let overruns = &self.shared.overruns;
        overruns.told(&self.plan, planned_ms, elapsed, self.beside)
    }
}

fn lost_rows(file: &FileReport) -> Option<String> {
    let (path, lost) = (file.path.display(), file.lost_rows);
    (lost > 0).then(|| format!("{path}: {} could not be written", counted(lost, "sample")))
}
