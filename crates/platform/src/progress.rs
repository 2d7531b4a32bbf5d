//! Shows on a terminal that work is under way, once it has taken two seconds.
//!
//! The line goes to standard error: `fetching jars, 37 of 164, 5 s`. Nothing is shown in a pipe or a file. Dropping the value
//! removes the line, so drop it before other output is printed.
//!
//! ```
//! use drumfire_platform::progress::Work;
//!
//! let work = Work::begin("fetching jars");
//! for done in 1..=164 {
//!     // ... fetch one ...
//!     work.at(done, 164);
//! }
//! drop(work);
//! ```

use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long work takes before it is shown.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often the line is drawn again.
const PAUSE: Duration = Duration::from_millis(200);
/// The longest line, in characters, which fits on any usual terminal.
const LONGEST: usize = 78;
/// Moves the cursor to the start of the line and clears the line.
const CLEAR: &str = "\r\x1b[K";

/// Work that is under way, until it is dropped.
#[derive(Debug)]
pub struct Work {
    state: Arc<WorkState>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct WorkState {
    task: String,
    done: AtomicU64,
    /// The number of steps; 0 if it is not known.
    steps: AtomicU64,
    has_ended: Mutex<bool>,
    woken: Condvar,
}

impl Work {
    /// Begins work, which is named as in `reading results.jtl`.
    pub fn begin(task: impl Into<String>) -> Work {
        let is_dumb = crate::variable("TERM").is_some_and(|term| term == "dumb");
        if io::stderr().is_terminal() && !is_dumb {
            Work::on(io::stderr(), PATIENCE, task.into())
        } else {
            Work {
                state: Arc::new(WorkState::new(task.into())),
                thread: None,
            }
        }
    }

    /// Begins work that is shown on `out` after `patience`.
    fn on(out: impl Write + Send + 'static, patience: Duration, task: String) -> Work {
        let state = Arc::new(WorkState::new(task));
        let shown = Arc::clone(&state);
        // The work goes on without a line if the thread cannot be started.
        let thread = std::thread::Builder::new()
            .name("progress".to_owned())
            .spawn(move || shown.show(out, patience))
            .ok();
        Work { state, thread }
    }

    /// Notes that `done` of `steps` steps are done. Any thread may call it.
    pub fn at(&self, done: u64, steps: u64) {
        self.state.steps.store(steps, Ordering::Relaxed);
        self.state.done.store(done, Ordering::Relaxed);
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        *self.state.ended() = true;
        self.state.woken.notify_all();
        if let Some(thread) = self.thread.take() {
            // If the thread panicked, the line may stay.
            let _ = thread.join();
        }
    }
}

impl WorkState {
    fn new(task: String) -> WorkState {
        WorkState {
            task: task
                .chars()
                .map(|sign| if sign.is_control() { ' ' } else { sign })
                .collect(),
            done: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            has_ended: Mutex::new(false),
            woken: Condvar::new(),
        }
    }

    fn ended(&self) -> std::sync::MutexGuard<'_, bool> {
        self.has_ended
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the work has ended, or for this long. Returns whether it has ended.
    fn ends_within(&self, time: Duration) -> bool {
        let waited = self
            .woken
            .wait_timeout_while(self.ended(), time, |has_ended| !*has_ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn show(&self, mut out: impl Write, patience: Duration) {
        let begun = Instant::now();
        if self.ends_within(patience) {
            return;
        }
        // The work goes on if the terminal has gone away.
        loop {
            let line = self.line(begun.elapsed());
            let _ = write!(out, "{CLEAR}{line}");
            let _ = out.flush();
            if self.ends_within(PAUSE) {
                break;
            }
        }
        let _ = write!(out, "{CLEAR}");
        let _ = out.flush();
    }

    fn line(&self, elapsed: Duration) -> String {
        let steps = self.steps.load(Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed).min(steps);
        let end = match steps {
            0 => format!(", {} s", elapsed.as_secs()),
            _ => format!(", {done} of {steps}, {} s", elapsed.as_secs()),
        };
        let room = LONGEST.saturating_sub(end.len());
        if self.task.chars().count() > room {
            let start: String = self.task.chars().take(room.saturating_sub(1)).collect();
            format!("{start}…{end}")
        } else {
            format!("{}{end}", self.task)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An output that the test reads while the work goes on.
    #[derive(Clone, Default)]
    struct SharedOut(Arc<Mutex<Vec<u8>>>);

    impl SharedOut {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().expect("no panic").clone()).expect("text")
        }
    }

    impl Write for SharedOut {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().expect("no panic").write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn long_work_shows_its_steps_and_removes_its_line() {
        let out = SharedOut::default();
        let work = Work::on(out.clone(), Duration::ZERO, "fetching jars".to_owned());
        work.at(37, 164);
        while !out.text().contains("fetching jars, 37 of 164, ") {
            std::thread::yield_now();
        }
        drop(work);
        assert!(out.text().ends_with(CLEAR), "{:?}", out.text());
    }

    #[test]
    fn short_work_shows_nothing() {
        let out = SharedOut::default();
        drop(Work::on(
            out.clone(),
            Duration::from_secs(3_600),
            String::new(),
        ));
        assert_eq!(out.text(), "");
    }

    #[test]
    fn a_long_name_is_cut_before_the_numbers() {
        let state = WorkState::new(format!("reading {}\x1b[2J", "x".repeat(200)));
        let line = state.line(Duration::from_secs(3));
        assert_eq!(line.chars().count(), LONGEST);
        assert!(
            line.ends_with("x…, 3 s") && !line.contains('\x1b'),
            "{line}"
        );
    }
}
