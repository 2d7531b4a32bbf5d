//! Limits the share of a worker's event loop that TLS handshakes and floods of received data take.
//!
//! A TLS handshake takes up to a millisecond of CPU in a few steps. If a thousand users connect at once, the runtime would
//! run all their steps before it polls its timers and sockets again, and delay every other user of the worker by that time. A
//! server that sends faster than a user processes it would never let that user wait.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// CPU time after which no more steps start until timers and sockets were polled.
const SHARE: Duration = Duration::from_micros(500);

/// The time that handshakes have taken since the runtime last polled its timers and sockets.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    spent: Cell<Duration>,
    /// Counts the polls that a handshake waited for.
    round: Cell<u64>,
}

impl Turns {
    /// Waits until a step may begin.
    pub async fn next(&self) {
        while self.spent.get() >= SHARE {
            let round = self.round.get();
            // Resumes after the runtime has polled its timers and sockets.
            tokio::task::yield_now().await;
            // The first waiter to resume starts a new round.
            if self.round.get() == round {
                self.round.set(round.wrapping_add(1));
                self.spent.set(Duration::ZERO);
            }
        }
    }

    /// Runs a step and counts its time.
    pub fn take<T>(&self, step: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let outcome = step();
        self.spent.set(self.spent.get() + begin.elapsed());
        outcome
    }
}

/// The time that one user has received without waiting. Its cost depends on how the bytes are cut into frames, chunks and
/// records, so the clock decides and not their number.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Turn {
    reads: u8,
    begin: Option<Instant>,
}

/// As many reads, which are most responses, are not worth a look at the clock.
const UNTIMED_READS: u8 = 2;

impl Turn {
    /// Whether the user has received for so long that others get their turn; then the next one begins. Call it at each read.
    pub fn is_over(&mut self) -> bool {
        if self.reads < UNTIMED_READS {
            self.reads += 1;
            return false;
        }
        let now = Instant::now();
        let begin = *self.begin.get_or_insert(now);
        let is_over = now.duration_since(begin) >= SHARE;
        if is_over {
            *self = Self::default();
        }
        is_over
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    /// Steps that take the whole share alternate with polls of timers, in whatever order the runtime wakes the waiters.
    #[tokio::test(flavor = "current_thread")]
    async fn costly_steps_are_taken_one_in_a_round() {
        let turns = Rc::new(Turns::default());
        let steps = tokio::task::LocalSet::new();
        let rounds = steps
            .run_until(async {
                let all: Vec<_> = (0..5)
                    .map(|_| {
                        let turns = turns.clone();
                        tokio::task::spawn_local(async move {
                            turns.next().await;
                            turns.spent.set(turns.spent.get() + SHARE);
                            turns.round.get()
                        })
                    })
                    .collect();
                let mut rounds = Vec::new();
                for one in all {
                    rounds.push(one.await.expect("it ends"));
                }
                rounds.sort_unstable();
                rounds
            })
            .await;
        assert_eq!(rounds, [0, 1, 2, 3, 4]);
    }

    #[tokio::test(flavor = "current_thread")]
    async fn steps_that_cost_nothing_wait_for_nobody() {
        let turns = Turns::default();
        for _ in 0..100 {
            turns.next().await;
            turns.spent.set(Duration::ZERO);
            assert_eq!(turns.take(|| 7), 7);
        }
        assert_eq!(turns.round.get(), 0);
    }
}
