//! CPU time of this process and of the calling thread.

use std::time::Duration;

/// CPU time that this process has used.
#[cfg(unix)]
pub(crate) fn of_process() -> Duration {
    read(rustix::time::ClockId::ProcessCPUTime)
}

/// CPU time that this thread has used.
#[cfg(unix)]
pub(crate) fn of_thread() -> Duration {
    read(rustix::time::ClockId::ThreadCPUTime)
}

#[cfg(unix)]
fn read(clock: rustix::time::ClockId) -> Duration {
    let used = rustix::time::clock_gettime(clock);
    Duration::new(used.tv_sec as u64, used.tv_nsec as u32)
}

/// CPU time that this process has used; zero if Windows does not report it.
#[cfg(windows)]
pub(crate) fn of_process() -> Duration {
    cpu_time::ProcessTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
}

/// CPU time that this thread has used; zero if Windows does not report it.
#[cfg(windows)]
pub(crate) fn of_thread() -> Duration {
    cpu_time::ThreadTime::try_now().map_or(Duration::ZERO, |time| time.as_duration())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_has_used_what_its_threads_have() {
        let mut sum = 0_u64;
        while of_thread() < Duration::from_millis(20) {
            sum = std::hint::black_box(sum.wrapping_add(1));
        }
        // The process is read last, so its time includes that of this thread.
        let thread = of_thread();
        assert!(of_process() >= thread);
    }
}
