//! The queues of the Inter-Thread Communication plugin of jmeter-plugins: `FifoGet`, `FifoPop`,
//! `FifoPut`, `FifoSize` and `FifoMap`.
//!
//! `__fifoPop` of an empty queue, which blocks the thread in JMeter, ends at once here, as if its time-out had passed: a user
//! that blocked while a text is evaluated would stop all users of its worker. Queues have no limit
//! (`kg.apc.jmeter.functions.FifoCapacity`).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use super::{Args, NULL, Outcome};
use crate::scope::Scope;
use crate::text::Text;

/// All queues of a test, by name.
#[derive(Debug, Default)]
pub struct Fifos(Mutex<HashMap<Box<str>, Queue>>);

#[derive(Debug, Default)]
struct Queue {
    values: VecDeque<Arc<str>>,
    /// Who waits for a value.
    waiting: Vec<Waker>,
}

impl Fifos {
    fn queues(&self) -> MutexGuard<'_, HashMap<Box<str>, Queue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a value, and wakes who waits for one.
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

    /// Removes the first value; while there is none, the task is woken when one comes.
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

    /// How many values there are.
    pub fn len(&self, queue: &str) -> usize {
        let queues = self.queues();
        queues.get(queue).map_or(0, |queue| queue.values.len())
    }

    /// Whether the queue has no values.
    pub fn is_empty(&self, queue: &str) -> bool {
        self.len(queue) == 0
    }

    /// Forgets all queues.
    pub fn clear(&self) {
        self.queues().clear();
    }
}

/// `__fifoPut`: returns the value.
pub(super) fn put<'a>(args: Args<'a>, scope: &mut dyn Scope) -> Outcome<'a> {
    let queue = args.text(0, scope)?;
    let value = args.text(1, scope)?;
    scope.properties().fifos().put(&queue, value.as_str());
    Ok(value)
}

/// `__fifoGet`: empty if the queue is.
pub(super) fn get<'a>(args: Args<'a>, scope: &mut dyn Scope) -> Outcome<'a> {
    let queue = args.text(0, scope)?;
    let value = scope.properties().fifos().peek(&queue);
    let value = value.map_or(Text::Literal(""), Text::Property);
    args.store(1, &value, scope)?;
    Ok(value)
}

/// `__fifoPop`: `null`, and an undefined variable, if the queue is empty.
pub(super) fn pop<'a>(args: Args<'a>, scope: &mut dyn Scope) -> Outcome<'a> {
    let queue = args.text(0, scope)?;
    let Some(value) = scope.properties().fifos().pop(&queue) else {
        let variable = args.trimmed(1, scope)?;
        scope.vars_mut().remove_named(&variable);
        return Ok(NULL);
    };
    args.store(1, &value, scope)?;
    Ok(Text::Property(value))
}

/// `__fifoSize`.
pub(super) fn size<'a>(args: Args<'a>, scope: &mut dyn Scope) -> Outcome<'a> {
    let queue = args.text(0, scope)?;
    let size = scope.properties().fifos().len(&queue).to_string();
    args.store(1, &size, scope)?;
    Ok(Text::Owned(size))
}
