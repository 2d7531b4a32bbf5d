//! Ending a run early.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

const RUNNING: u8 = 0;
const SHUTDOWN: u8 = 1;
const NOW: u8 = 2;

/// A handle that ends a run early, from any thread.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<State>);

#[derive(Debug, Default)]
struct State {
    stopping: AtomicU8,
    /// Who waits in each worker.
    waiting: Mutex<Vec<Arc<Notify>>>,
}

/// How a run was told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopping {
    No,
    Shutdown,
    Now,
}

impl Control {
    /// Users finish the sample at hand (`StandardJMeterEngine#stopTest(false)`).
    pub fn shutdown(&self) {
        self.raise(SHUTDOWN);
    }

    /// Samples are broken off (`StandardJMeterEngine#stopTest(true)`).
    pub fn stop_now(&self) {
        self.raise(NOW);
    }

    pub fn stopping(&self) -> bool {
        self.0.stopping.load(Ordering::Acquire) != RUNNING
    }

    pub fn state(&self) -> Stopping {
        match self.0.stopping.load(Ordering::Acquire) {
            RUNNING => Stopping::No,
            SHUTDOWN => Stopping::Shutdown,
            _ => Stopping::Now,
        }
    }

    fn raise(&self, level: u8) {
        self.0.stopping.fetch_max(level, Ordering::AcqRel);
        for waiting in self.waiting().iter() {
            waiting.notify_waiters();
        }
    }

    fn waiting(&self) -> std::sync::MutexGuard<'_, Vec<Arc<Notify>>> {
        self.0
            .waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// A worker that wants to be woken when the run is told to stop.
    pub(crate) fn join(&self) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        self.waiting().push(notify.clone());
        notify
    }

    /// Lets the tearDown groups run after the others were stopped.
    pub(crate) fn rearm(&self) {
        self.0.stopping.store(RUNNING, Ordering::Release);
    }
}
