//! A pool of threads for calls that may block, one for each concurrent call. A thread that stays idle ends.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

type Job = Box<dyn FnOnce() + Send>;

/// How long a thread waits for its next call.
const IDLE: Duration = Duration::from_secs(10);

/// Idle threads; the one that came last is used first.
static WAITING: Mutex<Vec<(u64, Sender<Job>)>> = Mutex::new(Vec::new());
static STARTED: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// Runs a job on a thread of the pool.
///
/// # Errors
/// If the system provides no more threads.
pub fn run(job: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let mut job: Job = Box::new(job);
    while let Some((_, waiting)) = waiting().pop() {
        match waiting.send(job) {
            Ok(()) => return Ok(()),
            Err(refused) => job = refused.0,
        }
    }
    let number = STARTED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    std::thread::Builder::new()
        .name(format!("script-{number}"))
        .spawn(move || {
            // The first thread compiles the script for which the first sample waits.
            if number > 0 {
                step_back();
            }
            job();
            serve(number);
        })
        .map(|_| ())
}

/// Lowers this thread's priority to that of programs started by nice(1). When many scripts wake up at once, the workers come
/// first, since their users may keep a schedule.
#[cfg(target_os = "linux")]
fn step_back() {
    const NICE: libc::c_int = 10;
    let own_thread = 0; // 0 is this thread on Linux, and the process elsewhere
    // SAFETY: it takes plain numbers.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, own_thread, NICE) };
}

#[cfg(not(target_os = "linux"))]
fn step_back() {}

fn waiting() -> std::sync::MutexGuard<'static, Vec<(u64, Sender<Job>)>> {
    WAITING.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(number: u64) {
    loop {
        let (jobs, job) = channel();
        waiting().push((number, jobs));
        match next(number, &job) {
            Some(job) => job(),
            None => return,
        }
    }
}

/// The next job; `None` if none came for a while.
fn next(number: u64, jobs: &Receiver<Job>) -> Option<Job> {
    match jobs.recv_timeout(IDLE) {
        Ok(job) => return Some(job),
        Err(RecvTimeoutError::Disconnected) => return None,
        Err(RecvTimeoutError::Timeout) => {}
    }
    let mut waiting = waiting();
    let place = waiting.iter().position(|(other, _)| *other == number);
    if let Some(place) = place {
        waiting.remove(place);
        return None;
    }
    drop(waiting);
    // A caller has just taken this thread off the list, so its job is on the way.
    jobs.recv().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_that_wait_for_each_other_run_at_once() {
        let (to_second, from_first) = channel();
        let (to_test, done) = channel();
        run(move || {
            let word: &str = from_first.recv().expect("the second job runs");
            to_test.send(word).expect("the test waits");
        })
        .expect("a thread");
        run(move || to_second.send("met").expect("the first job runs")).expect("a thread");
        assert_eq!(done.recv(), Ok("met"));
    }

    #[test]
    fn threads_are_used_again() {
        let (names, named) = channel();
        let mut seen = std::collections::HashSet::new();
        for _ in 0..20 {
            let names = names.clone();
            run(move || {
                let name = std::thread::current().name().map(str::to_owned);
                names.send(name).expect("the test waits");
            })
            .expect("a thread");
            seen.insert(named.recv().expect("the job runs"));
            std::thread::sleep(Duration::from_millis(2));
        }
        assert!(seen.len() < 20, "{seen:?}");
    }
}
