//! Waits for values in queues of the Inter-Thread Communication plugin, and lets the waiting users take turns.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use drumfire_expr::Fifos;

use crate::run::alarm::Alarms;

/// Locks that let one user at a time into each call of `__fifoPop`.
#[derive(Default)]
pub struct PopTurns(Mutex<HashMap<u32, Arc<tokio::sync::Mutex<()>>>>);

impl PopTurns {
    /// The lock of a call, which the user in it holds.
    pub fn of(&self, instance: u32) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(instance).or_default().clone()
    }
}

/// Lets one user at a time compute values. That user may have to wait for another one, so users with fibers wait for their
/// turn without blocking their workers. Either all users of a plan have fibers, or none.
#[derive(Default)]
pub struct TurnLock {
    threads: Mutex<()>,
    fibers: tokio::sync::Mutex<()>,
}

/// The turn is over when this is dropped.
pub struct TakenTurn<'t> {
    _thread: Option<MutexGuard<'t, ()>>,
    _fiber: Option<tokio::sync::MutexGuard<'t, ()>>,
}

impl TurnLock {
    /// Waits for the turn.
    pub fn take(&self) -> TakenTurn<'_> {
        let fiber = drumfire_fiber::wait(self.fibers.lock());
        let thread = match fiber {
            Some(_) => None,
            None => Some(self.threads.lock().unwrap_or_else(PoisonError::into_inner)),
        };
        TakenTurn {
            _thread: thread,
            _fiber: fiber,
        }
    }
}

/// Waits for the first value of a queue and removes it. `None` if no value came within `timeout_s` seconds.
pub async fn value_in_time(
    fifos: &Fifos,
    alarms: &Rc<Alarms>,
    queue: &str,
    timeout_s: i64,
) -> Option<Arc<str>> {
    let limit = Duration::from_secs(u64::try_from(timeout_s).unwrap_or(0));
    let mut end = Instant::now()
        .checked_add(limit)
        .map(|end| alarms.wait_until(end));
    let mut value = std::pin::pin!(fifos.take(queue));
    poll_fn(|task| match (value.as_mut().poll(task), &mut end) {
        (Poll::Ready(value), _) => Poll::Ready(Some(value)),
        (Poll::Pending, Some(end)) => Pin::new(end).poll(task).map(|()| None),
        (Poll::Pending, None) => Poll::Pending,
    })
    .await
}
