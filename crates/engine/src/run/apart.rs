//! Runs work that would block a worker for long on a separate thread.
//!
//! A worker runs all its users on one thread, so a search of 50 ms delays every other user by 50 ms. Elements that search long
//! texts therefore do so on another thread and wait for it. Once such searches have proved quick, they run on the worker.

use std::pin::pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, oneshot};

use crate::run::context::Context;
use crate::run::roles::Act;

/// Searches that take no longer may run on the worker.
const QUICK: Duration = Duration::from_millis(1);
/// The limit for searches that parse their text first. It is higher because searches on the worker share the parsed text, but
/// not by much because all other users of the worker wait meanwhile.
const QUICK_WITH_PARSING: Duration = Duration::from_millis(2);

/// Texts up to this length are searched in place, whatever the query.
pub const SHORT_BYTES: usize = 8 << 10;

/// Runs `work` on another thread while the worker's other users go on. Returns `None` if the run is told to stop now. The
/// thread is then abandoned, and ends with the process at the latest.
async fn apart<T: Send + 'static>(
    cx: &Context,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    cx.attend(on_thread(work)).await.flatten()
}

/// Limits the threads that work at the same time to the number of cores.
fn permits() -> &'static Semaphore {
    static PERMITS: OnceLock<Semaphore> = OnceLock::new();
    PERMITS.get_or_init(|| {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Semaphore::new(cores)
    })
}

async fn on_thread<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let permit = permits().acquire().await.ok()?;
    let (tell, told) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("search".to_owned())
        .spawn(move || {
            let outcome = work();
            drop(permit);
            // The receiver is gone if the run was told to stop.
            let _ = tell.send(outcome);
        });
    match thread {
        Ok(_) => told.await.ok(),
        Err(error) => {
            tracing::error!(
                "Skipped a search, since the system could not start a thread for it: {error}"
            );
            None
        }
    }
}

/// The size up to which an element's searches have proved quick.
pub struct ProvenQuick {
    bytes: AtomicUsize,
    quick: Duration,
}

impl Default for ProvenQuick {
    fn default() -> ProvenQuick {
        ProvenQuick {
            bytes: AtomicUsize::new(0),
            quick: QUICK,
        }
    }
}

impl ProvenQuick {
    /// For an element whose searches parse their text first.
    pub fn with_parsing() -> ProvenQuick {
        ProvenQuick {
            quick: QUICK_WITH_PARSING,
            ..ProvenQuick::default()
        }
    }

    /// Whether a text of this size can be searched on the worker.
    pub fn covers(&self, bytes: usize) -> bool {
        bytes <= self.bytes.load(Ordering::Relaxed)
    }

    /// Records how long a search took. A quick one also covers texts a quarter longer, since similar pages differ a little in
    /// size.
    pub fn note(&self, bytes: usize, took: Duration) {
        if took <= self.quick {
            self.bytes.fetch_max(bytes + bytes / 4, Ordering::Relaxed);
        } else {
            self.bytes.store(0, Ordering::Relaxed);
        }
    }

    /// Runs an element that searches `bytes` bytes of text. `turn` learns whether it may wait; if not, it searches on the worker.
    pub fn turn<'a, T, F>(&self, bytes: usize, turn: impl FnOnce(bool) -> F) -> Act<'a, T>
    where
        F: Future<Output = T> + 'a,
    {
        let is_long = bytes > SHORT_BYTES;
        if is_long && !self.covers(bytes) {
            return Act::wait(turn(true));
        }
        let begin = is_long.then(Instant::now);
        let outcome = at_once(turn(false)).expect("it waits only where it may");
        if let Some(begin) = begin {
            self.note(bytes, begin.elapsed());
        }
        Act::Done(outcome)
    }

    /// Searches `bytes` bytes of text on another thread; `None` if the run is told to stop now.
    pub async fn search<T: Send + 'static>(
        &self,
        cx: &Context,
        bytes: usize,
        search: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        let timed = move || {
            let begin = Instant::now();
            (search(), begin.elapsed())
        };
        let (found, took) = apart(cx, timed).await?;
        self.note(bytes, took);
        Some(found)
    }
}

/// The outcome of work that does not wait; `None` if it does wait.
fn at_once<T>(work: impl Future<Output = T>) -> Option<T> {
    let mut task = std::task::Context::from_waker(Waker::noop());
    match pin!(work).poll(&mut task) {
        Poll::Ready(outcome) => Some(outcome),
        Poll::Pending => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn others_go_on_while_a_thread_works() {
        let (go, wait) = std::sync::mpsc::channel::<u32>();
        let work = on_thread(move || wait.recv());
        // The work ends only after another task of this thread has run.
        let (outcome, ()) = tokio::join!(work, async move {
            go.send(7).expect("the thread waits");
        });
        assert_eq!(outcome, Some(Ok(7)));
        let panicked: Option<()> = on_thread(|| panic!("a defect")).await;
        assert_eq!(panicked, None);
    }

    #[test]
    fn searches_are_in_place_while_they_are_quick() {
        let proven = ProvenQuick::default();
        assert!(!proven.covers(100));
        proven.note(100, QUICK);
        assert!(proven.covers(125) && !proven.covers(126));
        proven.note(100, 2 * QUICK);
        assert!(!proven.covers(1));
        let parsing = ProvenQuick::with_parsing();
        parsing.note(100, 2 * QUICK);
        assert!(parsing.covers(100));
    }
}
