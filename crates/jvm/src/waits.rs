//! Detects whether Java code has waited: for a server, a lock, or the clock. A thread that was preempted has not waited.

use std::cell::Cell;

thread_local! {
    /// How often this thread has waited for the worker of its user, which does not count.
    static EXCUSED: Cell<u64> = const { Cell::new(0) };
}

/// Java's own housekeeping may cause one wait per call.
const HOUSEKEEPING: u64 = 1;

/// How often this thread has given up its core so far; `None` if the system does not say.
#[cfg(target_os = "linux")]
fn so_far() -> Option<u64> {
    // SAFETY: all of it is plain numbers.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: the system fills what it is given.
    let outcome = unsafe { libc::getrusage(libc::RUSAGE_THREAD, &mut usage) };
    (outcome == 0).then(|| usage.ru_nvcsw.unsigned_abs())
}

#[cfg(not(target_os = "linux"))]
fn so_far() -> Option<u64> {
    None
}

/// Runs code that waits for the worker; these waits do not count.
pub fn excused<R>(run: impl FnOnce() -> R) -> R {
    let before = so_far();
    let outcome = run();
    if let (Some(before), Some(after)) = (before, so_far()) {
        EXCUSED.set(EXCUSED.get() + after - before);
    }
    outcome
}

/// Runs Java code; returns whether it has waited, as far as is known.
pub fn watched<R>(run: impl FnOnce() -> R) -> (R, bool) {
    let before = so_far().map(|so_far| so_far - EXCUSED.get());
    let outcome = run();
    let after = so_far().map(|so_far| so_far - EXCUSED.get());
    let has_waited = match (before, after) {
        (Some(before), Some(after)) => after.saturating_sub(before) > HOUSEKEEPING,
        _ => true,
    };
    (outcome, has_waited)
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::time::Duration;

    use super::*;

    fn wait_twice() {
        (0..2).for_each(|_| std::thread::sleep(Duration::from_millis(1)));
    }

    #[test]
    fn waits_are_seen_unless_they_are_for_the_worker() {
        assert!(watched(wait_twice).1);
        assert!(!watched(|| excused(wait_twice)).1);
        assert!(!watched(|| ()).1);
    }
}
