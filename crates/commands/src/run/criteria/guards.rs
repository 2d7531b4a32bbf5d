//! Judges thresholds while a run goes on: those over a stretch of time, and those that end the run
//! (`--abort-on`).

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use drumfire_engine::{Control, Event, Inbox, Mailbox, Subscriber, mailbox};
use drumfire_results::{Recording, Threshold, ThresholdWatch, Verdict};

/// How many events may wait for the judge.
const ROOM: usize = 64;
/// How long samples may take to end after a threshold has ended the run. Then they are interrupted.
const PATIENCE: Duration = Duration::from_secs(5);

/// The state of a run's thresholds. Clones share it.
#[derive(Clone, Debug)]
pub struct Board(Arc<Mutex<GuardState>>);

#[derive(Debug)]
struct GuardState {
    /// The thresholds, in the order in which verdicts list them.
    guards: Vec<Guard>,
    /// The threshold that ended the run.
    aborted_by: Option<String>,
}

#[derive(Debug)]
struct Guard {
    watch: ThresholdWatch,
    /// The run ends when this threshold is broken.
    aborts: bool,
}

impl Guard {
    /// Whether the threshold must be judged during the run, because the final numbers are not enough.
    fn is_watched(&self) -> bool {
        self.aborts || self.watch.threshold().is_windowed()
    }
}

impl Board {
    /// The state of each threshold; `recording` is the sum of all increments.
    pub fn verdicts(&self, recording: &Recording) -> Vec<Verdict> {
        let state = self.lock();
        let guards = state.guards.iter();
        guards.map(|guard| guard.watch.verdict(recording)).collect()
    }

    /// The thresholds, in the order of their verdicts.
    pub fn thresholds(&self) -> Vec<Threshold> {
        let state = self.lock();
        let guards = state.guards.iter();
        guards
            .map(|guard| guard.watch.threshold().clone())
            .collect()
    }

    /// The threshold that ended the run, if one did.
    pub fn aborted_by(&self) -> Option<String> {
        self.lock().aborted_by.clone()
    }

    fn lock(&self) -> MutexGuard<'_, GuardState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Judges thresholds on a separate thread.
#[derive(Debug)]
pub struct Guards {
    board: Board,
    mailbox: Option<Mailbox>,
    thread: Option<JoinHandle<()>>,
}

impl Guards {
    /// Starts the judge. The run fails if one of `fail_on` is true, and ends at once if one of `abort_on` is.
    ///
    /// # Errors
    /// If the system cannot start a thread.
    pub fn start(
        fail_on: Vec<Threshold>,
        abort_on: Vec<Threshold>,
        control: &Control,
    ) -> std::io::Result<Guards> {
        let guard = |aborts| {
            move |threshold| Guard {
                watch: ThresholdWatch::new(threshold),
                aborts,
            }
        };
        let fail_on = fail_on.into_iter().map(guard(false));
        let guards: Vec<Guard> = fail_on
            .chain(abort_on.into_iter().map(guard(true)))
            .collect();
        let is_watched = guards.iter().any(Guard::is_watched);
        let board = Board(Arc::new(Mutex::new(GuardState {
            guards,
            aborted_by: None,
        })));
        let mut guards = Guards {
            board: board.clone(),
            mailbox: None,
            thread: None,
        };
        if is_watched {
            let (mailbox, inbox) = mailbox(ROOM);
            let control = control.clone();
            let thread = std::thread::Builder::new()
                .name("thresholds".to_owned())
                .spawn(move || watch(&board, &inbox, &control))?;
            (guards.mailbox, guards.thread) = (Some(mailbox), Some(thread));
        }
        Ok(guards)
    }

    /// The state of the thresholds, for those that display it.
    pub fn board(&self) -> Board {
        self.board.clone()
    }

    /// Ends the thread once it has judged everything.
    pub fn end(mut self) -> Board {
        drop(self.mailbox.take());
        if let Some(thread) = self.thread.take() {
            // If the judge panicked, its findings so far remain.
            let _ = thread.join();
        }
        self.board
    }
}

impl Subscriber for Guards {
    fn receive(&mut self, event: &Event, so_far: &Recording) {
        let is_judged = matches!(event, Event::Increment(_) | Event::Tick(_));
        if let Some(mailbox) = self.mailbox.as_mut().filter(|_| is_judged) {
            mailbox.receive(event, so_far);
        }
    }
}

fn watch(board: &Board, inbox: &Inbox, control: &Control) {
    let mut aborted: Option<Instant> = None;
    let mut last_ms = None;
    while let Some(event) = inbox.next() {
        match event {
            Event::Increment(increment) => {
                for guard in board
                    .lock()
                    .guards
                    .iter_mut()
                    .filter(|guard| guard.is_watched())
                {
                    guard.watch.add(&increment);
                }
            }
            Event::Tick(tick) => {
                last_ms = Some(tick.at_ms);
                if judge(board, tick.at_ms, control) {
                    control.shutdown_soon();
                    aborted = Some(Instant::now());
                }
            }
            _ => {}
        }
        if aborted.is_some_and(|at| at.elapsed() >= PATIENCE) {
            control.stop_now();
            aborted = None;
        }
    }
    // The last tick comes after all increments.
    if let Some(ended_ms) = last_ms {
        for guard in board.lock().guards.iter_mut() {
            guard.watch.finish(ended_ms);
        }
    }
}

/// Judges complete seconds. Returns true if the run must end.
fn judge(board: &Board, now_ms: i64, control: &Control) -> bool {
    let mut state = board.lock();
    let state = &mut *state;
    let mut ends = false;
    for guard in state.guards.iter_mut().filter(|guard| guard.is_watched()) {
        if !guard.watch.advance(now_ms) {
            continue;
        }
        let text = guard.watch.threshold().text().to_owned();
        if guard.aborts && state.aborted_by.is_none() {
            control.mark(&format!("`{text}` ends the run"));
            state.aborted_by = Some(text);
            ends = true;
        } else {
            control.mark(&format!("`{text}` is true"));
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use drumfire_engine::{Stopping, Tick};
    use drumfire_results::{Collector, Increment, Sample, ThresholdOutcome};

    use super::*;

    fn second(number: i64, failed: bool) -> Event {
        let mut collector = Collector::default();
        for _ in 0..10 {
            let mut sample = Sample::new("Home".into(), "t 1-1".into());
            sample.set_ok();
            sample.success = !failed;
            sample.start_ms = number * 1_000;
            sample.set_end(number * 1_000 + 10);
            collector.record(&sample);
        }
        let increment: Increment = collector.take_all().remove(0);
        Event::Increment(Arc::new(increment))
    }

    fn tick(at_ms: i64) -> Event {
        Event::Tick(Arc::new(Tick {
            at_ms,
            ..Tick::default()
        }))
    }

    #[test]
    fn a_threshold_ends_the_run_and_says_which() {
        let control = Control::default();
        let text = |text: &str| vec![text.parse().expect("a threshold")];
        let mut guards = Guards::start(
            text("errors > 90% over 30s"),
            text("errors > 10% over 2s"),
            &control,
        )
        .expect("a thread");
        let nothing = Recording::default();
        for number in 100..106 {
            guards.receive(&second(number, number > 102), &nothing);
            guards.receive(&tick((number + 1) * 1_000 + 600), &nothing);
        }
        let deadline = Instant::now() + Duration::from_secs(60);
        while control.state() == Stopping::No {
            assert!(Instant::now() < deadline, "the run goes on");
            std::thread::sleep(Duration::from_millis(5));
        }
        let board = guards.end();
        assert_eq!(control.state(), Stopping::Shutdown);
        assert_eq!(board.aborted_by().as_deref(), Some("errors > 10% over 2s"));
        let outcomes: Vec<ThresholdOutcome> = board
            .verdicts(&nothing)
            .iter()
            .map(Verdict::outcome)
            .collect();
        // The run ended long before it had lasted 30 seconds.
        let expected = [ThresholdOutcome::NotJudged, ThresholdOutcome::Failed];
        assert_eq!(outcomes, expected);
    }
}
