//! Where an element's code runs: on its user's worker, as most scripts do in microseconds, or apart, where it holds up nobody
//! else. Its first calls are apart, too, since they compile the script.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A call that takes longer holds up the other users of its worker.
const QUICK: Duration = Duration::from_millis(5);
/// So many quick calls in a row, and the next ones are in place.
const TRIALS: u32 = 3;
/// After so many slow calls in place the element stays apart: one may be the machine's doing.
const SLOW_CALLS: u32 = 4;

/// How fast an element was so far, for all users.
pub struct Pace {
    always_apart: bool,
    quick_calls: AtomicU32,
    slow_calls: AtomicU32,
}

impl Pace {
    pub fn new(always_apart: bool) -> Pace {
        Pace {
            always_apart,
            quick_calls: AtomicU32::new(0),
            slow_calls: AtomicU32::new(0),
        }
    }

    /// Whether the next call is to be apart.
    pub fn is_apart(&self) -> bool {
        self.always_apart || self.quick_calls.load(Ordering::Relaxed) < TRIALS
    }

    /// A call apart took so long.
    pub fn note_apart(&self, took: Duration) {
        if took > QUICK {
            self.quick_calls.store(0, Ordering::Relaxed);
        } else if self.slow_calls.load(Ordering::Relaxed) < SLOW_CALLS {
            self.quick_calls.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A call in place took so long.
    pub fn note_in_place(&self, took: Duration) {
        if took > QUICK {
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
    fn slow_calls_in_place_send_it_away_for_good_in_the_end() {
        let pace = Pace::new(false);
        for _ in 0..SLOW_CALLS {
            (0..TRIALS).for_each(|_| pace.note_apart(SHORT));
            assert!(!pace.is_apart());
            pace.note_in_place(SHORT);
            assert!(!pace.is_apart());
            pace.note_in_place(LONG);
        }
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT));
        assert!(pace.is_apart());
    }

    #[test]
    fn what_waits_by_its_text_is_always_apart() {
        let pace = Pace::new(true);
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT));
        assert!(pace.is_apart());
    }
}
