//! Work that would hold a worker for long, done on a thread of its own.
//!
//! A worker runs all its users on one thread, so a search of 50 ms delays every other user by 50 ms. Elements that look into
//! long texts wait here for another thread. A search that has proved quick runs in place again.

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
/// The same for searches that parse their text first: in place they share what was parsed. No longer, since all users of the worker
/// wait meanwhile.
const QUICK_WITH_PARSING: Duration = Duration::from_millis(2);

/// Texts up to this length are searched in place, whatever the query.
pub const SHORT_BYTES: usize = 8 << 10;

/// Does `work` on another thread while the worker's other users go on. `None` if the run is told to stop now: the thread is
/// then left to itself, and ends with the process at the latest.
async fn apart<T: Send + 'static>(
    cx: &Context,
    work: impl FnOnce() -> T + Send + 'static,
) -> Option<T> {
    cx.attend(on_thread(work)).await.flatten()
}

/// As many threads as there are cores work at the same time.
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
            // Nobody waits any more if the run was told to stop.
            let _ = tell.send(outcome);
        });
    match thread {
        Ok(_) => told.await.ok(),
        Err(error) => {
            tracing::error!("A search was left out, the system has no thread for it: {error}");
            None
        }
    }
}

/// The size of texts with which an element's searches have proved quick.
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
    /// For searches that parse their text first.
    pub fn with_parsing() -> ProvenQuick {
        ProvenQuick {
            quick: QUICK_WITH_PARSING,
            ..ProvenQuick::default()
        }
    }

    /// Whether a text of so many bytes can be searched in place.
    pub fn covers(&self, bytes: usize) -> bool {
        bytes <= self.bytes.load(Ordering::Relaxed)
    }

    /// A search of so many bytes took so long. Pages of one kind differ a little in size.
    pub fn note(&self, bytes: usize, took: Duration) {
        if took <= self.quick {
            self.bytes.fetch_max(bytes + bytes / 4, Ordering::Relaxed);
        } else {
            self.bytes.store(0, Ordering::Relaxed);
        }
    }

    /// The turn of an element that looks into texts of so many bytes. `turn` hears whether it may wait; where it may not, it
    /// searches in place.
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

    /// Searches texts of so many bytes on another thread; `None` if the run is told to stop now.
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

/// The outcome of work that does not wait.
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
