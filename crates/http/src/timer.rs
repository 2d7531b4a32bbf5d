//! Time limits that are nearly free unless they expire.

use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::coop::unconstrained;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::failure::FailureKind;

/// A pool of timers for waits with a limit.
///
/// Arming one of tokio's timers takes locks, and wakes the reactor by a system call if it is the next to
/// expire. So a timer stays armed after its wait, and the next wait only sets its own deadline. If the timer
/// expires before that deadline, it is re-armed for it.
#[derive(Default)]
pub(crate) struct Timers {
    spare: RefCell<Vec<Pin<Box<Sleep>>>>,
}

impl Timers {
    /// Waits for `future` for at most `limit`; `None` if it takes longer.
    #[expect(
        clippy::manual_async_fn,
        reason = "an async function stores its arguments twice, in each user that waits"
    )]
    pub fn within<'a, F: Future + 'a>(
        &'a self,
        limit: Option<Duration>,
        future: F,
    ) -> impl Future<Output = Option<F::Output>> + 'a {
        async move {
            let mut future = pin!(future);
            self.poll_within(limit, move |cx| future.as_mut().poll(cx))
                .await
        }
    }

    /// Polls until something is ready, for at most `limit`; `None` if it takes longer.
    pub fn poll_within<'a, T>(
        &'a self,
        limit: Option<Duration>,
        poll: impl FnMut(&mut Context<'_>) -> Poll<T> + Unpin + 'a,
    ) -> impl Future<Output = Option<T>> + 'a {
        let mut wait = Wait {
            timers: self,
            limit,
            armed: None,
            poll,
        };
        poll_fn(move |cx| wait.poll(cx))
    }

    /// Runs a part of an exchange that began at `begin`. It fails once the exchange has taken longer than `limit`.
    pub fn bounded<'a, F>(
        &'a self,
        limit: Option<Duration>,
        begin: std::time::Instant,
        work: Pin<&'a mut F>,
    ) -> Bounded<'a, F> {
        let deadline = limit.and_then(|limit| {
            let at = begin.checked_add(limit)?.into();
            Some(Box::new(Deadline {
                timers: self,
                at,
                limit,
                sleep: None,
            }))
        });
        Bounded { work, deadline }
    }

    /// A timer that expires no later than after `limit`.
    fn arm(&self, limit: Duration) -> (Instant, Pin<Box<Sleep>>) {
        let deadline = Instant::now() + limit;
        let sleep = self.armed_by(deadline);
        (deadline, sleep)
    }

    fn armed_by(&self, deadline: Instant) -> Pin<Box<Sleep>> {
        let spare = self.spare.borrow_mut().pop();
        let mut sleep = spare.unwrap_or_else(|| Box::pin(sleep_until(deadline)));
        if sleep.deadline() > deadline {
            sleep.as_mut().reset(deadline);
        }
        sleep
    }
}

/// A wait with a limit; its timer returns to the pool at the end.
struct Wait<'a, P> {
    timers: &'a Timers,
    limit: Option<Duration>,
    armed: Option<(Instant, Pin<Box<Sleep>>)>,
    poll: P,
}

impl<T, P: FnMut(&mut Context<'_>) -> Poll<T>> Wait<'_, P> {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        if let Poll::Ready(output) = (self.poll)(cx) {
            return Poll::Ready(Some(output));
        }
        let Some(limit) = self.limit else {
            return Poll::Pending;
        };
        let (deadline, sleep) = self.armed.get_or_insert_with(|| self.timers.arm(limit));
        if has_come(*deadline, sleep, cx) {
            Poll::Ready(None)
        } else {
            Poll::Pending
        }
    }
}

impl<P> Drop for Wait<'_, P> {
    fn drop(&mut self) {
        if let Some((_, sleep)) = self.armed.take() {
            self.timers.spare.borrow_mut().push(sleep);
        }
    }
}

/// See [`Timers::bounded`]. It is small, since every exchange holds one; most have no limit.
pub(crate) struct Bounded<'a, F> {
    work: Pin<&'a mut F>,
    deadline: Option<Box<Deadline<'a>>>,
}

struct Deadline<'a> {
    timers: &'a Timers,
    at: Instant,
    limit: Duration,
    /// Armed at the first wait.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl<T, F> Future for Bounded<'_, F>
where
    F: Future<Output = Result<T, FailureKind>>,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        if let Poll::Ready(outcome) = self.work.as_mut().poll(cx) {
            return Poll::Ready(outcome);
        }
        let Some(deadline) = self.deadline.as_deref_mut() else {
            return Poll::Pending;
        };
        let (timers, at) = (deadline.timers, deadline.at);
        let sleep = deadline.sleep.get_or_insert_with(|| timers.armed_by(at));
        if has_come(at, sleep, cx) {
            Poll::Ready(Err(FailureKind::TookTooLong {
                limit: deadline.limit,
            }))
        } else {
            Poll::Pending
        }
    }
}

impl Drop for Deadline<'_> {
    fn drop(&mut self) {
        if let Some(sleep) = self.sleep.take() {
            self.timers.spare.borrow_mut().push(sleep);
        }
    }
}

/// Whether the deadline has come; else wakes the task then. Work that has used up the task's budget does not keep the timer from
/// expiring: a server that always has something to send would.
fn has_come(deadline: Instant, sleep: &mut Pin<Box<Sleep>>, cx: &mut Context<'_>) -> bool {
    while pin!(unconstrained(sleep.as_mut())).poll(cx).is_ready() {
        if Instant::now() >= deadline {
            return true;
        }
        sleep.as_mut().reset(deadline);
    }
    false
}

#[cfg(test)]
mod tests {
    use std::future::{pending, ready};

    use tokio::time::sleep;

    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[tokio::test]
    async fn limits_hold_however_timers_were_armed_before() {
        let timers = Timers::default();
        assert_eq!(timers.within(None, ready(1)).await, Some(1));
        assert_eq!(timers.within(Some(MS), ready(2)).await, Some(2));
        assert!(timers.spare.borrow().is_empty());
        // One timer serves limits in any order.
        for limit_ms in [50, 10, 100, 10] {
            let begin = Instant::now();
            let limit = Some(limit_ms * MS);
            assert_eq!(timers.within(limit, pending::<()>()).await, None);
            assert!(begin.elapsed() >= limit_ms * MS);
            assert_eq!(timers.spare.borrow().len(), 1);
        }
        // First armed for an hour, then in time for a short limit.
        let hour = Some(Duration::from_secs(3600));
        assert_eq!(timers.within(hour, sleep(2 * MS)).await, Some(()));
        let begin = Instant::now();
        assert_eq!(timers.within(Some(20 * MS), pending::<()>()).await, None);
        assert!(begin.elapsed() < 1000 * MS);
    }

    #[tokio::test]
    async fn a_timer_that_goes_off_early_is_set_again() {
        let timers = Timers::default();
        timers.within(Some(15 * MS), sleep(MS)).await;
        let begin = Instant::now();
        // On a stalled machine, the wait and the timer may end together; then a later attempt shows it.
        for _ in 0..100 {
            let waited = timers.within(Some(60_000 * MS), sleep(30 * MS)).await;
            assert_eq!(waited, Some(()));
            if timers.spare.borrow()[0].deadline() >= begin + 60_000 * MS {
                return;
            }
        }
        panic!("it was never set again");
    }
}
