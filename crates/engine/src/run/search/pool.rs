//! The threads that run long searches: one per core at most, shared by all workers.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Condvar, LazyLock, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

type Job = Box<dyn FnOnce() + Send>;

/// Searches that wait for a thread, and the threads.
struct Pool {
    state: Mutex<PoolState>,
    has_job: Condvar,
    most_threads: usize,
}

#[derive(Default)]
struct PoolState {
    jobs: VecDeque<Job>,
    threads: usize,
    idle_threads: usize,
}

static POOL: LazyLock<Pool> = LazyLock::new(|| Pool {
    state: Mutex::default(),
    has_job: Condvar::new(),
    most_threads: drumfire_platform::processes::cores(),
});

/// Runs `work` on a thread of the pool. Returns `None` if the work panics, or if the system cannot start a thread. Work whose
/// caller stops waiting before it begins is skipped.
pub(super) async fn run<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = oneshot::channel();
    let job = move || {
        if !sender.is_closed() {
            // The receiver may be gone by now, because the run was told to stop.
            let _ = sender.send(work());
        }
    };
    if let Err(error) = POOL.add(Box::new(job)) {
        tracing::error!(
            "Skipped a search, since the system could not start a thread for it: {error}"
        );
        return None;
    }
    receiver.await.ok()
}

impl Pool {
    fn lock(&self) -> MutexGuard<'_, PoolState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Queues a job, and starts a thread for it if all are busy and the pool may grow.
    ///
    /// # Errors
    /// If there is no thread, and none can be started.
    fn add(&'static self, job: Job) -> std::io::Result<()> {
        let mut state = self.lock();
        state.jobs.push_back(job);
        if state.jobs.len() > state.idle_threads && state.threads < self.most_threads {
            let thread = std::thread::Builder::new().name("search".to_owned());
            match thread.spawn(|| self.work()) {
                Ok(_) => state.threads += 1,
                Err(error) if state.threads == 0 => {
                    state.jobs.pop_back();
                    return Err(error);
                }
                // The job waits for one of the others.
                Err(_) => {}
            }
        }
        self.has_job.notify_one();
        Ok(())
    }

    /// Runs jobs until the process ends.
    fn work(&self) {
        let mut state = self.lock();
        loop {
            if let Some(job) = state.jobs.pop_front() {
                drop(state);
                // The panic hook has reported it, and the caller learns it from its closed channel.
                let _ = catch_unwind(AssertUnwindSafe(job));
                state = self.lock();
            } else {
                state.idle_threads += 1;
                let woken = self.has_job.wait(state);
                state = woken.unwrap_or_else(PoisonError::into_inner);
                state.idle_threads -= 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    #[tokio::test]
    async fn other_tasks_go_on_while_the_pool_works() {
        let (sender, receiver) = mpsc::channel::<u32>();
        let work = run(move || receiver.recv());
        // The work ends only after another task of this thread has run.
        let (outcome, ()) = tokio::join!(work, async move {
            sender.send(7).expect("the pool waits");
        });
        assert_eq!(outcome, Some(Ok(7)));
    }

    #[tokio::test]
    async fn panics_leave_the_threads_alive() {
        for _ in 0..2 * POOL.most_threads {
            let panicked: Option<()> = run(|| panic!("a defect")).await;
            assert_eq!(panicked, None);
        }
        assert_eq!(run(|| 1).await, Some(1));
    }

    #[tokio::test]
    async fn more_searches_than_cores_share_the_threads() {
        let count = 4 * POOL.most_threads;
        let works: Vec<_> = (0..count)
            .map(|number| tokio::spawn(run(move || number)))
            .collect();
        for (number, work) in works.into_iter().enumerate() {
            assert_eq!(work.await.expect("it does not panic"), Some(number));
        }
        assert!(POOL.lock().threads <= POOL.most_threads);
    }
}
