//! The queues of the Inter-Thread Communication plugin of jmeter-plugins: `FifoGet`, `FifoPop`,
//! `FifoPut`, `FifoSize` and `FifoMap`.
//!
//! A pop from an empty queue, which blocks the thread in JMeter, ends at once here, as if its time-out had
//! passed: a user that blocked would stop all users of its worker. Capacities and time-outs (the properties
//! `kg.apc.jmeter.functions.FifoCapacity` and `FifoTimeout`) therefore have no effect.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::{Args, NULL, Outcome};
use crate::scope::Scope;
use crate::text::Text;

/// All queues of a test, by name.
#[derive(Debug, Default)]
pub struct Fifos(Mutex<HashMap<Box<str>, VecDeque<Arc<str>>>>);

impl Fifos {
    fn queues(&self) -> MutexGuard<'_, HashMap<Box<str>, VecDeque<Arc<str>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a value.
    pub fn put(&self, queue: &str, value: impl Into<Arc<str>>) {
        let mut queues = self.queues();
        queues
            .entry(queue.into())
            .or_default()
            .push_back(value.into());
    }

    /// Removes the first value.
    pub fn pop(&self, queue: &str) -> Option<Arc<str>> {
        self.queues().get_mut(queue)?.pop_front()
    }

    /// The first value, which stays in the queue.
    pub fn peek(&self, queue: &str) -> Option<Arc<str>> {
        self.queues().get(queue)?.front().cloned()
    }

    /// How many values there are.
    pub fn len(&self, queue: &str) -> usize {
        self.queues().get(queue).map_or(0, VecDeque::len)
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
