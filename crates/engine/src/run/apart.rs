//! Work that would hold a worker for long, done on a thread of its own.
//!
//! A worker runs all its users on one thread, so a search of 50 ms delays every other user by 50 ms. Elements ask the query
//! whether it may take long, and then wait here for another thread. A search that has proved quick runs in place again.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, oneshot};

use crate::run::context::Context;

/// Work that takes no longer may run on the worker.
const QUICK: Duration = Duration::from_millis(1);

/// Texts up to this length are searched in place, whatever the pattern: no query calls them long.
pub const SHORT_BYTES: usize = 8 << 10;

/// Does `work` on another thread while the worker's other users go on. `None` if the run is told to stop now: the thread is
/// then left to itself, and ends with the process at the latest.
pub async fn apart<T: Send + 'static>(
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
#[derive(Default)]
pub struct ProvenQuick(AtomicUsize);

impl ProvenQuick {
    /// Whether a text of so many bytes can be searched in place.
    pub fn covers(&self, bytes: usize) -> bool {
        bytes <= self.0.load(Ordering::Relaxed)
    }

    /// A search of so many bytes took so long. Pages of one kind differ a little in size.
    pub fn note(&self, bytes: usize, took: Duration) {
        if took <= QUICK {
            self.0.fetch_max(bytes + bytes / 4, Ordering::Relaxed);
        } else {
            self.0.store(0, Ordering::Relaxed);
        }
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
    }
}
