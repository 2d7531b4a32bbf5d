//! Waits that end on time. Tokio's own timer rounds up to whole milliseconds and fires one or two milliseconds late.
//!
//! Each worker keeps the due times of its users in one heap, and sets one kernel timer to the earliest of them. That timer has
//! a resolution of nanoseconds and wakes the worker like any socket. Where there is no such timer, and outside a worker, waits
//! use tokio's timer.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use drumfire_http::KernelTimer;

/// Entries of cancelled waits are removed once there are more of them than this and they are more than half of the heap.
const SWEEP_AT: usize = 256;

/// The due times of one worker's users.
pub struct Alarms {
    state: RefCell<AlarmState>,
    /// Set once [`Alarms::serve`] runs. From then on waits are woken from the heap.
    timer: RefCell<Option<Rc<KernelTimer>>>,
    /// The time the kernel's timer is set to.
    armed: Cell<Option<Instant>>,
}

#[derive(Default)]
struct AlarmState {
    due: BinaryHeap<Reverse<Wakeup>>,
    waiting: Vec<WaitSlot>,
    free: Vec<u32>,
    /// The number of entries in `due` whose waits were cancelled.
    stale: usize,
    sequence: u64,
}

/// An entry of the heap. Entries are ordered by due time, then by the order in which the waits began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wakeup {
    due: Instant,
    sequence: u64,
    slot: u32,
}

/// A reusable slot for a waiting task. The sequence number identifies the wait that it belongs to.
struct WaitSlot {
    sequence: u64,
    waker: Option<Waker>,
}

impl AlarmState {
    fn add(&mut self, due: Instant, waker: Waker) -> Wakeup {
        self.sequence += 1;
        let taken = WaitSlot {
            sequence: self.sequence,
            waker: Some(waker),
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.waiting[slot as usize] = taken;
                slot
            }
            None => {
                self.waiting.push(taken);
                (self.waiting.len() - 1) as u32
            }
        };
        let entry = Wakeup {
            due,
            sequence: self.sequence,
            slot,
        };
        self.due.push(Reverse(entry));
        entry
    }

    /// Frees the slot of a wait. Returns its waker, unless the wait was already woken or cancelled.
    fn release(&mut self, slot: u32, sequence: u64) -> Option<Waker> {
        let place = &mut self.waiting[slot as usize];
        if place.sequence != sequence {
            return None;
        }
        let waker = place.waker.take();
        place.sequence = 0;
        self.free.push(slot);
        waker
    }

    /// Cancels a wait. Returns its waker, which the caller must drop after the borrow of the state has ended.
    fn cancel(&mut self, slot: u32, sequence: u64) -> Option<Waker> {
        let waker = self.release(slot, sequence)?;
        self.stale += 1;
        if self.stale > SWEEP_AT && self.stale * 2 > self.due.len() {
            let waiting = &self.waiting;
            self.due
                .retain(|Reverse(entry)| waiting[entry.slot as usize].sequence == entry.sequence);
            self.stale = 0;
        }
        Some(waker)
    }

    /// The waker of the next wait that is due.
    fn pop_due(&mut self, now: Instant) -> Option<Waker> {
        while let Some(&Reverse(entry)) = self.due.peek() {
            let is_stale = self.waiting[entry.slot as usize].sequence != entry.sequence;
            if !is_stale && entry.due > now {
                return None;
            }
            self.due.pop();
            match self.release(entry.slot, entry.sequence) {
                Some(waker) => return Some(waker),
                None => self.stale = self.stale.saturating_sub(1),
            }
        }
        None
    }

    fn earliest(&self) -> Option<Instant> {
        self.due.peek().map(|Reverse(entry)| entry.due)
    }
}

impl Alarms {
    pub fn new() -> Rc<Alarms> {
        Rc::new(Alarms {
            state: RefCell::default(),
            timer: RefCell::new(None),
            armed: Cell::new(None),
        })
    }

    /// A wait that ends at `due`, never earlier.
    pub fn wait_until(self: &Rc<Alarms>, due: Instant) -> Wait {
        Wait {
            alarms: self.clone(),
            due,
            by: By::Nothing,
        }
    }

    /// Wakes the waits that are due, for as long as the worker lives.
    pub async fn serve(self: Rc<Alarms>) {
        let timer = match KernelTimer::new() {
            Ok(timer) => Rc::new(timer),
            Err(error) => {
                tracing::warn!("timers are accurate only to a millisecond: {error}");
                return;
            }
        };
        *self.timer.borrow_mut() = Some(timer.clone());
        loop {
            timer.expired().await;
            self.armed.set(None);
            self.wake_due();
            self.arm();
        }
    }

    fn wake_due(&self) {
        let now = Instant::now();
        loop {
            // The borrow ends before the waker runs.
            let waker = self.state.borrow_mut().pop_due(now);
            match waker {
                Some(waker) => waker.wake(),
                None => break,
            }
        }
    }

    /// Sets the kernel's timer to the earliest due time, unless it is set to an earlier time already.
    fn arm(&self) {
        let Some(earliest) = self.state.borrow().earliest() else {
            return;
        };
        if self.armed.get().is_some_and(|armed| armed <= earliest) {
            return;
        }
        if let Some(timer) = &*self.timer.borrow() {
            let delay = earliest.saturating_duration_since(Instant::now());
            match timer.set(delay) {
                Ok(()) => self.armed.set(Some(earliest)),
                Err(error) => tracing::error!("a timer cannot be set: {error}"),
            }
        }
    }

    fn add(&self, due: Instant, waker: Waker) -> Option<Wakeup> {
        if self.timer.borrow().is_none() {
            return None;
        }
        let entry = self.state.borrow_mut().add(due, waker);
        self.arm();
        Some(entry)
    }
}

/// A wait; see [`Alarms::wait_until`].
pub struct Wait {
    alarms: Rc<Alarms>,
    due: Instant,
    by: By,
}

/// The mechanism that wakes a wait.
enum By {
    /// The wait has not been polled yet.
    Nothing,
    /// A slot of the heap, with the sequence number of the wait.
    Alarms {
        slot: u32,
        sequence: u64,
    },
    Tokio(Pin<Box<tokio::time::Sleep>>),
}

impl Wait {
    pub fn due(&self) -> Instant {
        self.due
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if Instant::now() >= self.due {
            return Poll::Ready(());
        }
        if matches!(self.by, By::Nothing) {
            self.by = match self.alarms.add(self.due, cx.waker().clone()) {
                Some(Wakeup { slot, sequence, .. }) => By::Alarms { slot, sequence },
                None => By::Tokio(Box::pin(tokio::time::sleep_until(self.due.into()))),
            };
        }
        match &mut self.by {
            By::Tokio(sleep) => sleep.as_mut().poll(cx),
            By::Alarms { .. } | By::Nothing => Poll::Pending,
        }
    }
}

impl Drop for Wait {
    fn drop(&mut self) {
        if let By::Alarms { slot, sequence } = self.by {
            let waker = self.alarms.state.borrow_mut().cancel(slot, sequence);
            drop(waker);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::task::LocalSet;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Runs `work` beside the alarms that it uses.
    fn served<F: Future>(work: impl FnOnce(Rc<Alarms>) -> F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        LocalSet::new().block_on(&runtime, async {
            let alarms = Alarms::new();
            tokio::task::spawn_local(alarms.clone().serve());
            tokio::task::yield_now().await;
            work(alarms).await
        })
    }

    #[test]
    fn no_wait_ends_early_and_they_end_in_their_order() {
        served(async |alarms| {
            let begin = Instant::now();
            let ended = Rc::new(RefCell::new(Vec::new()));
            let mut tasks = Vec::new();
            for ms in [30, 10, 20, 0, 10] {
                let (wait, ended) = (alarms.wait_until(begin + ms * MS), ended.clone());
                tasks.push(tokio::task::spawn_local(async move {
                    wait.await;
                    assert!(begin.elapsed() >= ms * MS);
                    ended.borrow_mut().push(ms);
                }));
            }
            for task in tasks {
                task.await.expect("the wait ends");
            }
            assert_eq!(*ended.borrow(), [0, 10, 10, 20, 30]);
            let state = alarms.state.borrow();
            assert!(state.due.is_empty() && state.free.len() == state.waiting.len());
        });
    }

    #[test]
    fn an_earlier_wait_is_not_held_up_by_one_that_is_armed() {
        served(async |alarms| {
            let begin = Instant::now();
            let long = alarms.wait_until(begin + Duration::from_secs(3600));
            tokio::select! {
                biased;
                () = long => panic!("an hour has passed"),
                () = alarms.wait_until(begin + 5 * MS) => {}
            }
            assert!(begin.elapsed() >= 5 * MS);
        });
    }

    #[test]
    fn waits_that_are_given_up_leave_nothing_behind() {
        served(async |alarms| {
            for _ in 0..10 * SWEEP_AT {
                let mut wait = std::pin::pin!(alarms.wait_until(Instant::now() + 3_600_000 * MS));
                let polled = std::future::poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx))).await;
                assert!(polled.is_pending());
            }
            let state = alarms.state.borrow();
            assert!(state.due.len() <= 2 * SWEEP_AT + 1, "{}", state.due.len());
            assert_eq!(state.waiting.len(), 1);
        });
    }

    #[tokio::test]
    async fn without_a_worker_tokio_waits() {
        let begin = Instant::now();
        Alarms::new().wait_until(begin + 5 * MS).await;
        assert!(begin.elapsed() >= 5 * MS);
    }
}
