//! Decides where an element's code runs: in place, on its user's worker, as most scripts do in microseconds; or apart, on a
//! separate thread, where it holds up no other user.
//!
//! The first calls of a script run apart, since they compile it. Elements that are not scripts always run apart, because they may
//! wait for another user of their worker. JDBC statements cannot do so in a plan whose users hold no connections or locks between
//! their samples. These run in place if the database is in this process, and apart if calls wait for the network.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use drumfire_health::time_in_queue;
use tokio::sync::Notify;
use tokio::time::timeout;

/// The longest duration of a quick call. Longer ones hold up the other users of the worker.
const QUICK: Duration = Duration::from_millis(5);
/// After this number of quick calls in a row, the next ones run in place.
const TRIALS: u32 = 3;
/// Each slow call in place multiplies the number of quick calls that are needed for the next one.
const PATIENCE: u32 = 4;
/// The number of slow calls that count. An element is never kept apart for good, because Java itself may have delayed a quick
/// call when it compiled or collected garbage on a machine with too little CPU.
const SLOW_CALLS: u32 = 4;
/// After a slow call, this number of calls is measured closely, to tell slow code from a thread that waited for a CPU.
const WATCHED: u32 = 200;

/// The weight of a call that waited. One that did not wait weighs 1.
const WEIGHT_OF_WAIT: u32 = 8;
/// Once calls of this weight did not wait, the next ones run in place; once calls of this weight waited, apart.
const TRUST: u32 = 64;

/// The longest time that a call waits for those that run apart to end, so that it can run in place.
const SETTLING: Duration = Duration::from_millis(20);

/// Where calls run.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum CallPlace {
    Apart,
    /// In place, while they are quick.
    Worker,
    /// In place if they hardly ever wait: for calls that compute, a separate thread would only add its cost.
    WhereItNeverWaits,
}

/// How fast and how free of waits an element's calls were so far, for all users.
pub struct Pace {
    home: CallPlace,
    /// The number of calls that run apart now.
    away: AtomicU32,
    /// Notified when the last of them has ended.
    all_back: Notify,
    /// The weight of recent calls in place that waited.
    waits: AtomicU32,
    quick_calls: AtomicU32,
    slow_calls: AtomicU32,
    /// How many of the next calls in place are measured closely.
    watched: AtomicU32,
}

/// A call in place that has begun.
pub struct Began {
    at: Instant,
    /// The time that this thread has waited for a CPU so far, if the call is measured closely.
    queued: Option<Duration>,
}

impl Pace {
    pub fn new(home: CallPlace) -> Pace {
        Pace {
            home,
            away: AtomicU32::new(0),
            all_back: Notify::new(),
            waits: AtomicU32::new(0),
            quick_calls: AtomicU32::new(0),
            slow_calls: AtomicU32::new(0),
            watched: AtomicU32::new(0),
        }
    }

    /// Whether calls must report if they have waited.
    pub fn watches_waits(&self) -> bool {
        self.home == CallPlace::WhereItNeverWaits
    }

    /// Whether the next call runs apart.
    pub fn is_apart(&self) -> bool {
        let least = match self.home {
            CallPlace::Apart => return true,
            CallPlace::Worker => {
                let slow_calls = self.slow_calls.load(Ordering::Relaxed);
                TRIALS * PATIENCE.pow(slow_calls.min(SLOW_CALLS))
            }
            // A call that runs apart may hold a lock and need this worker to continue.
            CallPlace::WhereItNeverWaits if self.away.load(Ordering::Acquire) > 0 => return true,
            // An element whose calls usually wait never reaches this number, however often it is tried.
            CallPlace::WhereItNeverWaits => TRUST,
        };
        self.quick_calls.load(Ordering::Relaxed) < least
    }

    /// Waits briefly for the calls apart if only they keep the next one from running in place; returns whether it may now.
    pub async fn settle(&self) -> bool {
        let is_trusted = self.quick_calls.load(Ordering::Relaxed) >= TRUST;
        if self.home != CallPlace::WhereItNeverWaits || !is_trusted {
            return false;
        }
        let all_back = self.all_back.notified();
        if self.is_apart() {
            // On a timeout, this call runs apart, too.
            let _ = timeout(SETTLING, all_back).await;
        }
        !self.is_apart()
    }

    /// Records that a call apart begins.
    pub fn go_apart(&self) -> CallApart<'_> {
        self.away.fetch_add(1, Ordering::Relaxed);
        CallApart(self)
    }

    fn note_apart(&self, took: Duration, has_waited: bool) {
        if has_waited {
            change(&self.quick_calls, |calls| {
                calls.saturating_sub(WEIGHT_OF_WAIT)
            });
        } else if took > QUICK && self.home == CallPlace::Worker {
            self.quick_calls.store(0, Ordering::Relaxed);
        } else {
            change(&self.quick_calls, |calls| calls.saturating_add(1));
        }
    }

    /// Records whether a call in place has waited.
    fn note_wait(&self, has_waited: bool) {
        if has_waited {
            let before = self.waits.fetch_add(WEIGHT_OF_WAIT, Ordering::Relaxed);
            if before + WEIGHT_OF_WAIT > TRUST {
                self.waits.store(0, Ordering::Relaxed);
                self.send_away();
            }
        } else if self.waits.load(Ordering::Relaxed) > 0 {
            change(&self.waits, |waits| waits.saturating_sub(1));
        }
    }

    fn send_away(&self) {
        self.slow_calls.fetch_add(1, Ordering::Relaxed);
        self.quick_calls.store(0, Ordering::Relaxed);
    }

    /// Starts to measure a call in place.
    pub fn begin(&self) -> Began {
        let is_watched = self.watched.load(Ordering::Relaxed) > 0;
        let queued = is_watched.then(time_in_queue).flatten();
        Began {
            at: Instant::now(),
            queued,
        }
    }

    /// Records the end of a call in place; returns how long it took.
    pub fn end(&self, began: Began, has_waited: bool) -> Duration {
        let took = began.at.elapsed();
        self.note_wait(has_waited);
        if took <= QUICK && self.watched.load(Ordering::Relaxed) == 0 {
            return took;
        }
        let queued = began
            .queued
            .and_then(|before| Some(time_in_queue()?.saturating_sub(before)));
        self.note_in_place(took, queued);
        took
    }

    /// Records how long a call in place took and, if known, how long of that its thread waited for a CPU.
    fn note_in_place(&self, took: Duration, queued: Option<Duration>) {
        let is_watched = self.watched.load(Ordering::Relaxed) > 0;
        if is_watched {
            change(&self.watched, |left| left.saturating_sub(1));
        }
        if took <= QUICK {
            return;
        }
        if !is_watched {
            self.watched.store(WATCHED, Ordering::Relaxed);
        } else if took.saturating_sub(queued.unwrap_or_default()) > QUICK {
            self.send_away();
        }
    }
}

/// Changes a number that other threads change, too.
fn change(number: &AtomicU32, other: impl Fn(u32) -> u32) {
    let (set, fetch) = (Ordering::Relaxed, Ordering::Relaxed);
    // The closure always returns a number, so this cannot fail.
    let _ = number.fetch_update(set, fetch, |number| Some(other(number)));
}

/// A call that runs apart until this is dropped.
pub struct CallApart<'p>(&'p Pace);

impl CallApart<'_> {
    /// Records how long it took and whether it waited.
    pub fn note(&self, took: Duration, has_waited: bool) {
        self.0.note_apart(took, has_waited);
    }
}

impl Drop for CallApart<'_> {
    fn drop(&mut self) {
        if self.0.away.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.all_back.notify_waiters();
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
        let pace = Pace::new(CallPlace::Worker);
        pace.note_apart(LONG, false); // compiles the script
        for _ in 0..TRIALS {
            assert!(pace.is_apart());
            pace.note_apart(SHORT, false);
        }
        assert!(!pace.is_apart());
    }

    #[test]
    fn each_slow_call_in_place_sends_it_away_for_longer() {
        let pace = Pace::new(CallPlace::Worker);
        // The first slow call only starts the close measurement.
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT, false));
        pace.note_in_place(LONG, None);
        assert!(!pace.is_apart());
        for trials in [12, 48, 192, 768, 768] {
            pace.note_in_place(SHORT, None);
            pace.note_in_place(LONG, None);
            for _ in 0..trials {
                assert!(pace.is_apart());
                pace.note_apart(SHORT, false);
            }
            assert!(!pace.is_apart());
        }
    }

    #[test]
    fn a_machine_that_is_too_small_sends_nothing_away() {
        let pace = Pace::new(CallPlace::Worker);
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT, false));
        for _ in 0..10 * SLOW_CALLS {
            pace.note_in_place(LONG, Some(LONG));
            assert!(!pace.is_apart());
        }
        let began = pace.begin();
        pace.end(began, false);
        assert!(!pace.is_apart());
    }

    #[test]
    fn scripts_with_waiting_calls_always_run_apart() {
        let pace = Pace::new(CallPlace::Apart);
        (0..TRIALS).for_each(|_| pace.note_apart(SHORT, false));
        assert!(pace.is_apart());
    }

    #[tokio::test]
    async fn calls_wait_until_those_apart_have_ended() {
        let pace = Pace::new(CallPlace::WhereItNeverWaits);
        assert!(!pace.settle().await, "nothing is known yet");
        (0..TRUST).for_each(|_| pace.note_apart(SHORT, false));
        let last = pace.go_apart();
        let (settled, ()) = tokio::join!(pace.settle(), async { drop(last) });
        assert!(settled);
        let _endless = pace.go_apart();
        assert!(!pace.settle().await);
    }

    #[test]
    fn calls_that_never_wait_move_in_place_until_one_waits() {
        let pace = Pace::new(CallPlace::WhereItNeverWaits);
        (0..TRUST - 1).for_each(|_| pace.note_apart(LONG, false));
        pace.note_apart(SHORT, true);
        (0..WEIGHT_OF_WAIT).for_each(|_| pace.note_apart(SHORT, false));
        assert!(pace.is_apart());
        let last = pace.go_apart();
        last.note(SHORT, false);
        assert!(pace.is_apart(), "one is still apart");
        drop(last);
        assert!(!pace.is_apart());
        // One wait in ten calls is Java's own.
        for call in 0..1000 {
            pace.note_wait(call % 10 == 0);
        }
        assert!(!pace.is_apart());
        (0..=TRUST / WEIGHT_OF_WAIT).for_each(|_| pace.note_wait(true));
        assert!(pace.is_apart());
    }
}
