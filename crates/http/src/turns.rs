//! Shares a worker's event loop among connections that shake hands.
//!
//! A TLS handshake takes up to a millisecond of CPU in a few steps. Where a thousand users connect at once, the runtime would take all
//! their steps before it looks at its timers and sockets again, and every other user of the worker would wait for as long.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// The steps that begin between two looks at timers and sockets are over after about this time.
const SHARE: Duration = Duration::from_micros(500);

/// The time that handshakes have taken since the runtime looked at its timers and sockets last.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    spent: Cell<Duration>,
    /// Counts the looks that somebody waited for.
    round: Cell<u64>,
}

impl Turns {
    /// Waits until a step may begin.
    pub async fn next(&self) {
        while self.spent.get() >= SHARE {
            let round = self.round.get();
            // Goes on after the runtime has looked at its timers and sockets.
            tokio::task::yield_now().await;
            // The first of those that waited begins the round.
            if self.round.get() == round {
                self.round.set(round.wrapping_add(1));
                self.spent.set(Duration::ZERO);
            }
        }
    }

    /// Takes a step, and counts its time.
    pub fn take<T>(&self, step: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let outcome = step();
        self.spent.set(self.spent.get() + begin.elapsed());
        outcome
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;

    /// Steps that take the whole share alternate with the looks at timers, in whatever order the runtime wakes those that wait.
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
