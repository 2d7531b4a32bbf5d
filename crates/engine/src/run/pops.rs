//! Waiting for a value of a queue of the Inter-Thread Communication plugin.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::Poll;
use std::time::{Duration, Instant};

use drumfire_expr::Fifos;

use crate::run::alarm::Alarms;

/// The calls of `__fifoPop` in which one user at a time may be.
#[derive(Default)]
pub struct PopTurns(Mutex<HashMap<u32, Arc<tokio::sync::Mutex<()>>>>);

impl PopTurns {
    /// Held by the user that is in the call.
    pub fn of(&self, instance: u32) -> Arc<tokio::sync::Mutex<()>> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.entry(instance).or_default().clone()
    }
}

/// Waits for the first value of a queue and removes it. `None` if none came within so many seconds.
pub async fn value_in_time(
    fifos: &Fifos,
    alarms: &Rc<Alarms>,
    queue: &str,
    timeout_s: i64,
) -> Option<Arc<str>> {
    let limit = Duration::from_secs(u64::try_from(timeout_s).unwrap_or(0));
    let end = Instant::now().checked_add(limit);
    let mut end = end.map(|end| alarms.wait_until(end));
    let mut value = std::pin::pin!(fifos.take(queue));
    poll_fn(|task| match (value.as_mut().poll(task), &mut end) {
        (Poll::Ready(value), _) => Poll::Ready(Some(value)),
        (Poll::Pending, Some(end)) => Pin::new(end).poll(task).map(|()| None),
        (Poll::Pending, None) => Poll::Pending,
    })
    .await
}
