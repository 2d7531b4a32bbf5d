//! Where an element's code runs: on its user's worker, as most scripts do in microseconds, or apart, where it holds up nobody
//! else. Its first calls are apart, too, since they compile the script.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use drumfire_health::time_in_queue;

/// A call that takes longer holds up the other users of its worker.
const QUICK: Duration = Duration::from_millis(5);
/// After this number of quick calls in a row, the next ones run in place.
const TRIALS: u32 = 3;
/// After a slow call in place it takes so many times as many until the next one is.
const PATIENCE: u32 = 4;
/// Slow calls that make it longer. It never is for good: Java itself may have held up a call that is quick, while it compiled or
/// collected garbage on a machine with too little CPU.
const SLOW_CALLS: u32 = 4;
/// After a slow call so many are looked at closely: whether it was they that took their time, or whether the machine gave the
/// CPU to somebody else.
const WATCHED: u32 = 200;

/// How fast an element was so far, for all users.
pub struct Pace {
    always_apart: bool,
    quick_calls: AtomicU32,
    slow_calls: AtomicU32,
    /// How many of the next calls in place are looked at closely.
    watched: AtomicU32,
}

/// A call in place.
pub struct Began {
    at: Instant,
    /// The time that this thread has waited for a CPU so far, if the call is measured closely.
    queued: Option<Duration>,
}

impl Pace {
    pub fn new(always_apart: bool) -> Pace {
        Pace {
            always_apart,
            quick_calls: AtomicU32::new(0),
            slow_calls: AtomicU32::new(0),
            watched: AtomicU32::new(0),
        }
    }

    /// Whether the next call is to be apart.
    pub fn is_apart(&self) -> bool {
        let slow_calls = self.slow_calls.load(Ordering::Relaxed).min(SLOW_CALLS);
        let trials = TRIALS * PATIENCE.pow(slow_calls);
        self.always_apart || self.quick_calls.load(Ordering::Relaxed) < trials
    }

    /// A call apart took so long.
    pub fn note_apart(&self, took: Duration) {
        if took > QUICK {
            self.quick_calls.store(0, Ordering::Relaxed);
        } else {
            self.quick_calls.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A call in place begins.
    pub fn begin(&self) -> Began {
        let is_watched = self.watched.load(Ordering::Relaxed) > 0;
        let queued = is_watched.then(time_in_queue).flatten();
        Began {
            at: Instant::now(),
            queued,
        }
    }

    /// A call in place has ended; gives how long it took.
    pub fn end(&self, began: Began) -> Duration {
        let took = began.at.elapsed();
        if took <= QUICK && self.watched.load(Ordering::Relaxed) == 0 {
            return took;
        }
        let queued = began
            .queued
            .and_then(|before| Some(time_in_queue()?.saturating_sub(before)));
        self.note_in_place(took, queued);
        took
    }

    /// A call in place took so long, and so much of that its thread waited for a CPU, if that is known.
    fn note_in_place(&self, took: Duration, queued: Option<Duration>) {
        let is_watched = self.watched.load(Ordering::Relaxed) > 0;
        if is_watched {
            let one_less = |left: u32| left.checked_sub(1);
            // Another thread may have taken the last one.
            let _ = self
                .watched
                .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less);
        }
        if took <= QUICK {
            return;
        }
        if !is_watched {
            self.watched.store(WATCHED, Ordering::Relaxed);
        } else if took.saturating_sub(queued.unwrap_or_default()) > QUICK {
            self.slow_calls.fetch_add(1, Ordering::Relaxed);
            self.quick_calls.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(50);
    const LONG: Duration = Duration::from_millis(50);

    #[test]
    fn quick_calls_in_a_row_bring_an_element_in_place() {
        let pace = Pace::new(false);
        pace.note_apart(LONG); // compiles the script
        for _ in 0..TRIALS {
            assert!(pace.is_apart());
            pace.note_apart(SHORT);
        }
        assert!(!pace.is_apart());
    }

    #[test]
    fn each_slow_call_in_place_sends_it_away_for_longer() {
        let pace = Pace::new(false);
        // The first one only draws attention.
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT));
        pace.note_in_place(LONG, None);
        assert!(!pace.is_apart());
        for trials in [12, 48, 192, 768, 768] {
            pace.note_in_place(SHORT, None);
            pace.note_in_place(LONG, None);
            for _ in 0..trials {
                assert!(pace.is_apart());
                pace.note_apart(SHORT);
            }
            assert!(!pace.is_apart());
        }
    }

    #[test]
    fn a_machine_that_is_too_small_sends_nothing_away() {
        let pace = Pace::new(false);
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT));
        for _ in 0..10 * SLOW_CALLS {
            pace.note_in_place(LONG, Some(LONG));
            assert!(!pace.is_apart());
        }
        let began = pace.begin();
        pace.end(began);
        assert!(!pace.is_apart());
    }

    #[test]
    fn what_waits_by_its_text_is_always_apart() {
        let pace = Pace::new(true);
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT));
        assert!(pace.is_apart());
    }
}
