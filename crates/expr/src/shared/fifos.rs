//! The queues of the Inter-Thread Communication plugin.

use std::collections::{HashMap, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

/// A call of `__fifoPop`.
#[derive(Debug, Clone, Copy)]
pub struct PopRequest<'a> {
    /// The name of the queue.
    pub queue: &'a str,
    /// A number that is unique to this function call in the plan.
    pub instance: u32,
    /// The maximum wait, in seconds.
    pub timeout_s: i64,
}

/// All queues of a test, by name.
#[derive(Debug, Default)]
pub struct Fifos(Mutex<HashMap<Box<str>, FifoQueue>>);

#[derive(Debug, Default)]
struct FifoQueue {
    values: VecDeque<Arc<str>>,
    /// Tasks that wait for a value, in order (`LinkedBlockingDeque`).
    waiting: VecDeque<Arc<Ticket>>,
}

/// A waiting task's place in the line.
#[derive(Debug, Default)]
struct Ticket(Mutex<TicketState>);

#[derive(Debug, Default)]
struct TicketState {
    waker: Option<Waker>,
    value: Option<Arc<str>>,
}

impl Ticket {
    fn turn(&self) -> MutexGuard<'_, TicketState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl FifoQueue {
    /// Passes a value to the task that has waited longest. If no task waits, `place` adds it to the
    /// queue.
    fn give(
        &mut self,
        value: Arc<str>,
        place: fn(&mut VecDeque<Arc<str>>, Arc<str>),
    ) -> Option<Waker> {
        let Some(first) = self.waiting.pop_front() else {
            place(&mut self.values, value);
            return None;
        };
        let mut turn = first.turn();
        turn.value = Some(value);
        turn.waker.take()
    }
}

/// Waits for the first value of a queue; see [`Fifos::take`].
#[derive(Debug)]
pub struct FifoTake<'f> {
    fifos: &'f Fifos,
    queue: &'f str,
    ticket: Option<Arc<Ticket>>,
}

impl Future for FifoTake<'_> {
    type Output = Arc<str>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Arc<str>> {
        let Some(ticket) = self.ticket.clone() else {
            let mut queues = self.fifos.queues();
            let queue = queues.entry(self.queue.into()).or_default();
            if let Some(value) = queue.values.pop_front() {
                return Poll::Ready(value);
            }
            let ticket = Arc::new(Ticket::default());
            ticket.turn().waker = Some(task.waker().clone());
            queue.waiting.push_back(ticket.clone());
            drop(queues);
            self.ticket = Some(ticket);
            return Poll::Pending;
        };
        let mut turn = ticket.turn();
        match turn.value.take() {
            Some(value) => {
                self.ticket = None;
                Poll::Ready(value)
            }
            None => {
                turn.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Drop for FifoTake<'_> {
    /// Removes the task from the line; a value that it had already received goes to the next task.
    fn drop(&mut self) {
        let Some(ticket) = self.ticket.take() else {
            return;
        };
        let mut queues = self.fifos.queues();
        let Some(queue) = queues.get_mut(self.queue) else {
            return;
        };
        queue.waiting.retain(|other| !Arc::ptr_eq(other, &ticket));
        let value = ticket.turn().value.take();
        let waker = value.and_then(|value| queue.give(value, VecDeque::push_front));
        drop(queues);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

impl Fifos {
    fn queues(&self) -> MutexGuard<'_, HashMap<Box<str>, FifoQueue>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a value, or passes it to the task that has waited longest.
    pub fn put(&self, queue: &str, value: impl Into<Arc<str>>) {
        let mut queues = self.queues();
        let queue = queues.entry(queue.into()).or_default();
        let waker = queue.give(value.into(), VecDeque::push_back);
        drop(queues);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Removes the first value.
    pub fn pop(&self, queue: &str) -> Option<Arc<str>> {
        self.queues().get_mut(queue)?.values.pop_front()
    }

    /// Removes the first value, or waits in line for one.
    pub fn take<'f>(&'f self, queue: &'f str) -> FifoTake<'f> {
        FifoTake {
            fifos: self,
            queue,
            ticket: None,
        }
    }

    /// The first value, without removing it.
    pub fn peek(&self, queue: &str) -> Option<Arc<str>> {
        self.queues().get(queue)?.values.front().cloned()
    }

    /// The number of values in a queue.
    pub fn len(&self, queue: &str) -> usize {
        let queues = self.queues();
        queues
            .get(queue)
            .map(|queue| queue.values.len())
            .unwrap_or(0)
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self, queue: &str) -> bool {
        self.len(queue) == 0
    }

    /// Removes all queues.
    pub fn clear(&self) {
        self.queues().clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll<'f>(take: &mut Pin<Box<FifoTake<'f>>>) -> Option<Arc<str>> {
        match take.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(value) => Some(value),
            Poll::Pending => None,
        }
    }

    #[test]
    fn tasks_that_wait_are_served_in_turn() {
        let fifos = Fifos::default();
        let mut waiting: Vec<_> = (0..3).map(|_| Box::pin(fifos.take("q"))).collect();
        for take in &mut waiting {
            assert_eq!(poll(take), None);
        }
        for value in ["a", "b", "c"] {
            fifos.put("q", value);
        }
        // The last task is polled first, but still receives the last value.
        let values: Vec<_> = waiting.iter_mut().rev().filter_map(poll).collect();
        assert_eq!(values.join(""), "cba");
        assert!(fifos.is_empty("q"));
    }

    #[test]
    fn a_task_that_gives_up_passes_its_value_on() {
        let fifos = Fifos::default();
        let mut first = Box::pin(fifos.take("q"));
        let mut second = Box::pin(fifos.take("q"));
        assert_eq!((poll(&mut first), poll(&mut second)), (None, None));
        fifos.put("q", "a");
        drop(first);
        assert_eq!(poll(&mut second).as_deref(), Some("a"));
        let mut third = Box::pin(fifos.take("q"));
        assert_eq!(poll(&mut third), None);
        fifos.put("q", "b");
        drop(third);
        assert_eq!(fifos.pop("q").as_deref(), Some("b"));
        fifos.put("q", "c");
        assert_eq!(fifos.len("q"), 1);
    }
}
