//! The queues of the Inter-Thread Communication plugin.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// All queues of a test, by name.
#[derive(Debug, Default)]
pub struct Fifos(Mutex<HashMap<Box<str>, Queue>>);

#[derive(Debug, Default)]
struct Queue {
    values: VecDeque<Arc<str>>,
    /// Tasks that wait for a value.
    waiting: Vec<Waker>,
}

impl Fifos {
    fn queues(&self) -> MutexGuard<'_, HashMap<Box<str>, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a value and wakes the tasks that wait for one.
    pub fn put(&self, queue: &str, value: impl Into<Arc<str>>) {
        let mut queues = self.queues();
        let queue = queues.entry(queue.into()).or_default();
        queue.values.push_back(value.into());
        let waiting = std::mem::take(&mut queue.waiting);
        drop(queues);
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Removes the first value.
    pub fn pop(&self, queue: &str) -> Option<Arc<str>> {
        self.queues().get_mut(queue)?.values.pop_front()
    }

    /// Removes the first value. An empty queue wakes the task when a value arrives.
    pub fn poll_pop(&self, queue: &str, task: &Context) -> Poll<Arc<str>> {
        let mut queues = self.queues();
        let queue = queues.entry(queue.into()).or_default();
        if let Some(value) = queue.values.pop_front() {
            return Poll::Ready(value);
        }
        let waker = task.waker();
        if !queue.waiting.iter().any(|other| other.will_wake(waker)) {
            queue.waiting.push(waker.clone());
        }
        Poll::Pending
    }

    /// The first value, which stays in the queue.
    pub fn peek(&self, queue: &str) -> Option<Arc<str>> {
        self.queues().get(queue)?.values.front().cloned()
    }

    /// The number of values in a queue.
    pub fn len(&self, queue: &str) -> usize {
        let queues = self.queues();
        queues.get(queue).map_or(0, |queue| queue.values.len())
    }

    /// Whether the queue has no values.
    pub fn is_empty(&self, queue: &str) -> bool {
        self.len(queue) == 0
    }

    /// Removes all queues.
    pub fn clear(&self) {
        self.queues().clear();
    }
}
