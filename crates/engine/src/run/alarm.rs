//! Waits that end on time, and the loop that ends them. Tokio's own timer rounds up to whole milliseconds and fires one or two
//! milliseconds late.
//!
//! Each worker keeps the due times of its users in one heap, and sets one kernel timer to the earliest of them. That timer has
//! a resolution of nanoseconds and wakes the worker like any socket. Where there is no such timer, and outside a worker, waits
//! use tokio's timer.
//!
//! Waking an idle core costs more than a request. So a wait may end a little late ([`SLACK`]), and users who are due at about
//! the same time are woken together: by the timer, or by a socket that is ready before.

use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use drumfire_http::KernelTimer;
use tokio::runtime::Runtime;
use tokio::task::{JoinError, LocalSet};

/// Entries of cancelled waits are removed once there are more of them than this and they are more than half of the heap.
const SWEEP_AT: usize = 256;

/// How late a wait may end, for the sake of waking users together: as late as Linux ends the sleep of a thread, such as one of
/// JMeter's (PR_SET_TIMERSLACK(2const)).
pub const SLACK: Duration = Duration::from_micros(50);

/// The due times of one worker's users.
pub struct Alarms {
    state: RefCell<AlarmState>,
    /// Times of the heap are nanoseconds since then.
    origin: Instant,
    /// Set once [`Alarms::run`] runs. From then on waits are woken from the heap.
    timer: OnceCell<KernelTimer>,
    /// The time the kernel's timer is set to, until it expires.
    armed_ns: Cell<Option<u64>>,
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

/// An entry of the heap. Entries are ordered by the latest time to wake them, then by the order in which the waits began.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Wakeup {
    latest_ns: u64,
    sequence: u64,
    slot: u32,
    /// How long before `latest_ns` the wait is due.
    slack_ns: u32,
}

impl Wakeup {
    fn due_ns(&self) -> u64 {
        self.latest_ns - u64::from(self.slack_ns)
    }
}

/// A reusable slot for a waiting task. The sequence number identifies the wait that it belongs to.
struct WaitSlot {
    sequence: u64,
    waker: Option<Waker>,
}

impl AlarmState {
    fn add(&mut self, due_ns: u64, slack_ns: u32, waker: Waker) -> Wakeup {
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
            latest_ns: due_ns.saturating_add(slack_ns.into()),
            sequence: self.sequence,
            slot,
            slack_ns,
        };
        self.due.push(Reverse(entry));
        entry
    }

    fn is_waiting(&self, slot: u32, sequence: u64) -> bool {
        self.waiting[slot as usize].sequence == sequence
    }

    /// Frees the slot of a wait. Returns its waker, unless the wait was already woken or cancelled.
    fn release(&mut self, slot: u32, sequence: u64) -> Option<Waker> {
        if !self.is_waiting(slot, sequence) {
            return None;
        }
        let place = &mut self.waiting[slot as usize];
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

    /// The first entry whose wait was not cancelled.
    fn first(&mut self) -> Option<Wakeup> {
        while let Some(&Reverse(entry)) = self.due.peek() {
            if self.is_waiting(entry.slot, entry.sequence) {
                return Some(entry);
            }
            self.due.pop();
            self.stale = self.stale.saturating_sub(1);
        }
        None
    }

    /// The waker of the next wait that is due.
    fn pop_due(&mut self, now_ns: u64) -> Option<Waker> {
        let entry = self.first().filter(|entry| entry.due_ns() <= now_ns)?;
        self.due.pop();
        self.release(entry.slot, entry.sequence)
    }
}

impl Alarms {
    pub fn new() -> Rc<Alarms> {
        Rc::new(Alarms {
            state: RefCell::default(),
            origin: Instant::now(),
            timer: OnceCell::new(),
            armed_ns: Cell::new(None),
        })
    }

    /// A wait that ends at `due`, never earlier.
    pub fn wait_until(self: &Rc<Alarms>, due: Instant) -> Wait {
        self.wait_about(due, Duration::ZERO)
    }

    /// A wait that ends at `due`, or up to `slack` (less than a second) later if other users are due then. It never ends earlier.
    pub fn wait_about(self: &Rc<Alarms>, due: Instant, slack: Duration) -> Wait {
        let slack_ns = slack.subsec_nanos();
        Wait {
            alarms: self.clone(),
            due,
            by: By::Nothing { slack_ns },
        }
    }

    /// Runs a worker's work, with the tasks that it spawns, until the work itself is done.
    ///
    /// # Errors
    /// If the work panics.
    pub fn run<T: 'static>(
        self: &Rc<Alarms>,
        runtime: &Runtime,
        work: impl Future<Output = T> + 'static,
    ) -> Result<T, JoinError> {
        let entered = runtime.enter();
        match KernelTimer::new() {
            Ok(timer) => _ = self.timer.set(timer),
            Err(error) => tracing::warn!("timers are accurate only to a millisecond: {error}"),
        }
        drop(entered);
        let tasks = LocalSet::new();
        // A task of its own: the future below is polled whenever any task of the worker wakes.
        let mut done = tasks.spawn_local(work);
        let mut turn = pin!(tasks.run_until(poll_fn(|cx| {
            self.wake_due(cx);
            Pin::new(&mut done).poll(cx)
        })));
        // A turn wakes those who are due and runs all tasks that are ready. Only then is the timer set, once for all of them.
        runtime.block_on(poll_fn(|cx| {
            let polled = turn.as_mut().poll(cx);
            self.arm();
            polled
        }))
    }

    fn ns(&self, at: Instant) -> u64 {
        let since = at.saturating_duration_since(self.origin);
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    }

    /// Wakes the waits that are due. The timer will wake the task.
    fn wake_due(&self, cx: &mut Context<'_>) {
        let Some(timer) = self.timer.get() else {
            return;
        };
        while timer.poll_expired(cx).is_ready() {
            self.armed_ns.set(None);
        }
        let now_ns = self.ns(Instant::now());
        loop {
            // The borrow ends before the waker runs.
            let waker = self.state.borrow_mut().pop_due(now_ns);
            match waker {
                Some(waker) => waker.wake(),
                None => break,
            }
        }
    }

    /// Sets the kernel's timer to the time at which the next wait must end, unless it is set to that already.
    fn arm(&self) {
        let Some(timer) = self.timer.get() else {
            return;
        };
        let Some(next) = self.state.borrow_mut().first() else {
            return;
        };
        if self.armed_ns.get() == Some(next.latest_ns) {
            return;
        }
        match timer.set(self.origin + Duration::from_nanos(next.latest_ns)) {
            Ok(()) => self.armed_ns.set(Some(next.latest_ns)),
            Err(error) => tracing::error!("a timer cannot be set: {error}"),
        }
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
    Nothing {
        slack_ns: u32,
    },
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

    fn begin(&self, slack_ns: u32, cx: &mut Context<'_>) -> By {
        if self.alarms.timer.get().is_none() {
            return By::Tokio(Box::pin(tokio::time::sleep_until(self.due.into())));
        }
        let (due_ns, waker) = (self.alarms.ns(self.due), cx.waker().clone());
        let mut state = self.alarms.state.borrow_mut();
        let Wakeup { slot, sequence, .. } = state.add(due_ns, slack_ns, waker);
        By::Alarms { slot, sequence }
    }
}

impl Future for Wait {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let By::Nothing { slack_ns } = self.by {
            if Instant::now() >= self.due {
                return Poll::Ready(());
            }
            self.by = self.begin(slack_ns, cx);
        }
        let is_over = match &mut self.by {
            By::Nothing { .. } => false,
            By::Tokio(sleep) => sleep.as_mut().poll(cx).is_ready(),
            &mut By::Alarms { slot, sequence } => {
                !self.alarms.state.borrow().is_waiting(slot, sequence)
            }
        };
        if is_over {
            Poll::Ready(())
        } else {
            Poll::Pending
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
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    /// Runs `work` on a worker's loop.
    fn served<F: Future<Output: 'static> + 'static>(
        work: impl FnOnce(Rc<Alarms>) -> F,
    ) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        let alarms = Alarms::new();
        let work = work(alarms.clone());
        alarms.run(&runtime, work).expect("no panic")
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
    fn waits_with_slack_end_together_and_never_early() {
        served(async |alarms| {
            let begin = Instant::now();
            let ended = Rc::new(RefCell::new(Vec::new()));
            let wait = |us, slack_us| {
                let due = begin + Duration::from_micros(us);
                let wait = alarms.wait_about(due, Duration::from_micros(slack_us));
                let ended = ended.clone();
                tokio::task::spawn_local(async move {
                    wait.await;
                    assert!(Instant::now() >= due);
                    ended.borrow_mut().push((us, Instant::now()));
                })
            };
            let waits = [wait(100_000, 500), wait(100_300, 0), wait(100_200, 500)];
            for task in waits {
                task.await.expect("the wait ends");
            }
            let ended = ended.borrow();
            assert_eq!(ended.iter().map(|(us, _)| *us).max(), Some(100_300));
            // The one without slack ends the others' waits.
            let together = begin + Duration::from_micros(100_300);
            assert!(ended.iter().all(|(_, at)| *at >= together), "{ended:?}");
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
                let polled = poll_fn(|cx| Poll::Ready(wait.as_mut().poll(cx))).await;
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
