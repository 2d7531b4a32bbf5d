//! What happened second by second, from readings of the machine and what the engine says of itself.

use std::time::Duration;

use crate::machine::{Machine, Reading};

/// How long a second is at least.
const SECOND: Duration = Duration::from_secs(1);
/// The most seconds that are kept; a longer run's are merged in pairs, as often as it takes.
const MOST_SECONDS: usize = 4096;

/// What the engine knows of itself at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct Moment {
    /// Since the start of the run.
    pub elapsed: Duration,
    /// Samples that have ended so far.
    pub samples: u64,
    /// Users that run.
    pub users: u64,
    /// The latest that a worker's event loop came to something due, since the last moment.
    pub loop_late: Duration,
    /// How late waits ended in the second at hand; looked at when the second [is over](Watch::is_due).
    pub delay: Delay,
    /// Rows that wait for the disk, in bytes.
    pub backlog_bytes: u64,
    /// How long workers have waited for the disk so far.
    pub disk_stalled: Duration,
}

/// How late users came to what was due at a certain time, such as the end of a timer: the generator's own delay, in
/// microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    /// How often something was due.
    pub count: u64,
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

impl Delay {
    /// The worse of both, roughly: percentiles of two halves cannot be merged exactly.
    fn worse(self, other: Delay) -> Delay {
        Delay {
            count: self.count + other.count,
            p50_us: self.p50_us.max(other.p50_us),
            p99_us: self.p99_us.max(other.p99_us),
            max_us: self.max_us.max(other.max_us),
        }
    }
}

/// What one second was like, or several that were merged.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Second {
    /// When it began, in milliseconds since the start of the run.
    pub from_ms: u64,
    /// When it ended.
    pub to_ms: u64,
    /// Samples that ended in it.
    pub samples: u64,
    /// Users that ran, at most.
    pub users: u64,
    /// Cores that this process used, on average.
    pub cores_used: f64,
    /// Cores that other programs used.
    pub cores_others: f64,
    /// Cores that the hypervisor kept.
    pub cores_stolen: f64,
    /// Threads of this process that stood in run queues, on average.
    pub threads_waiting: f64,
    /// How long the control group's CPU quota stopped it, in milliseconds.
    pub throttled_ms: u64,
    /// The latest that a worker came to something due, in microseconds.
    pub loop_late_us: u64,
    /// How late users came to what was due.
    pub delay: Delay,
    /// The longest that the whole process did nothing although it was due, in milliseconds.
    pub frozen_ms: u64,
    /// Memory in RAM at the end, in bytes.
    pub memory_bytes: u64,
    /// Open file descriptors at the end.
    pub open_files: u64,
    /// Sockets in TIME_WAIT on the machine at the end.
    pub time_wait: u64,
    /// TCP segments sent by the machine.
    pub segments_sent: u64,
    /// Those of them that were sent again.
    pub segments_retransmitted: u64,
    /// Rows that waited for the disk, at most, in bytes.
    pub backlog_bytes: u64,
    /// How long workers waited for the disk, in milliseconds.
    pub disk_stalled_ms: u64,
}

impl Second {
    /// Its length in milliseconds, at least 1.
    pub fn length_ms(&self) -> u64 {
        (self.to_ms - self.from_ms).max(1)
    }

    /// Both in one; `next` follows.
    fn merged(&self, next: &Second) -> Second {
        let (own, other) = (self.length_ms() as f64, next.length_ms() as f64);
        let mean = |a: f64, b: f64| (a * own + b * other) / (own + other);
        Second {
            from_ms: self.from_ms,
            to_ms: next.to_ms,
            samples: self.samples + next.samples,
            users: self.users.max(next.users),
            cores_used: mean(self.cores_used, next.cores_used),
            cores_others: mean(self.cores_others, next.cores_others),
            cores_stolen: mean(self.cores_stolen, next.cores_stolen),
            threads_waiting: mean(self.threads_waiting, next.threads_waiting),
            throttled_ms: self.throttled_ms + next.throttled_ms,
            loop_late_us: self.loop_late_us.max(next.loop_late_us),
            delay: self.delay.worse(next.delay),
            frozen_ms: self.frozen_ms.max(next.frozen_ms),
            memory_bytes: self.memory_bytes.max(next.memory_bytes),
            open_files: self.open_files.max(next.open_files),
            time_wait: self.time_wait.max(next.time_wait),
            segments_sent: self.segments_sent + next.segments_sent,
            segments_retransmitted: self.segments_retransmitted + next.segments_retransmitted,
            backlog_bytes: self.backlog_bytes.max(next.backlog_bytes),
            disk_stalled_ms: self.disk_stalled_ms + next.disk_stalled_ms,
        }
    }
}

/// Collects the seconds of a run.
#[derive(Debug)]
pub struct Watch {
    machine: Machine,
    /// How long the moments are apart if nothing holds them up.
    pace: Duration,
    opened: Moment,
    reading: Reading,
    last: Duration,
    /// Of the second at hand.
    loop_late: Duration,
    frozen: Duration,
    users: u64,
    backlog_bytes: u64,
    seconds: Vec<Second>,
}

impl Watch {
    /// Begins now; [`observe`](Watch::observe) will be called once in every `pace`.
    pub fn start(machine: Machine, pace: Duration) -> Watch {
        Watch {
            reading: machine.read(),
            machine,
            pace,
            opened: Moment::default(),
            last: Duration::ZERO,
            loop_late: Duration::ZERO,
            frozen: Duration::ZERO,
            users: 0,
            backlog_bytes: 0,
            seconds: Vec::new(),
        }
    }

    /// Whether a moment at `elapsed` ends the second at hand.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        elapsed.saturating_sub(self.opened.elapsed) >= SECOND
    }

    /// Takes note of a moment; reads the machine once a second.
    pub fn observe(&mut self, moment: &Moment) {
        self.note(moment);
        if self.is_due(moment.elapsed) {
            self.close(moment);
        }
    }

    /// The seconds of the whole run; `last` is its end.
    pub fn end(mut self, last: &Moment) -> Vec<Second> {
        // The last wait is the engine's own, for its workers to end: no freeze.
        self.last = last.elapsed;
        self.note(last);
        if last.elapsed > self.opened.elapsed {
            self.close(last);
        }
        self.seconds
    }

    fn note(&mut self, moment: &Moment) {
        let gap = moment.elapsed.saturating_sub(self.last);
        self.frozen = self.frozen.max(gap.saturating_sub(self.pace));
        self.last = moment.elapsed;
        self.loop_late = self.loop_late.max(moment.loop_late);
        self.users = self.users.max(moment.users);
        self.backlog_bytes = self.backlog_bytes.max(moment.backlog_bytes);
    }

    fn close(&mut self, moment: &Moment) {
        let reading = self.machine.read();
        let second = self.second(moment, &reading);
        self.seconds.push(second);
        if self.seconds.len() > MOST_SECONDS {
            self.seconds = self
                .seconds
                .chunks(2)
                .map(|pair| match pair {
                    [first, next] => first.merged(next),
                    _ => pair[0],
                })
                .collect();
        }
        self.reading = reading;
        self.opened = *moment;
        self.loop_late = Duration::ZERO;
        self.frozen = Duration::ZERO;
        self.users = 0;
        self.backlog_bytes = 0;
    }

    fn second(&self, moment: &Moment, now: &Reading) -> Second {
        let then = &self.reading;
        let length = moment.elapsed.saturating_sub(self.opened.elapsed);
        let length_us = (length.as_micros() as f64).max(1.0);
        let cores = |now: u64, then: u64| now.saturating_sub(then) as f64 / length_us;
        let used = cores(now.process_cpu_us, then.process_cpu_us);
        Second {
            from_ms: self.opened.elapsed.as_millis() as u64,
            to_ms: moment.elapsed.as_millis() as u64,
            samples: moment.samples.saturating_sub(self.opened.samples),
            users: self.users,
            cores_used: used,
            cores_others: (cores(now.machine_cpu_us, then.machine_cpu_us) - used).max(0.0),
            cores_stolen: cores(now.stolen_us, then.stolen_us),
            threads_waiting: cores(now.waited_us, then.waited_us),
            throttled_ms: now.throttled_us.saturating_sub(then.throttled_us) / 1000,
            loop_late_us: self.loop_late.as_micros() as u64,
            delay: moment.delay,
            frozen_ms: self.frozen.as_millis() as u64,
            memory_bytes: now.memory_bytes,
            open_files: now.open_files,
            time_wait: now.time_wait,
            segments_sent: now.segments_sent.saturating_sub(then.segments_sent),
            segments_retransmitted: now
                .segments_retransmitted
                .saturating_sub(then.segments_retransmitted),
            backlog_bytes: self.backlog_bytes,
            disk_stalled_ms: moment
                .disk_stalled
                .saturating_sub(self.opened.disk_stalled)
                .as_millis() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> (tempfile::TempDir, Machine) {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let machine = Machine::at(folder.path());
        (folder, machine)
    }

    fn at(elapsed_ms: u64, samples: u64) -> Moment {
        Moment {
            elapsed: Duration::from_millis(elapsed_ms),
            samples,
            users: 3,
            ..Moment::default()
        }
    }

    #[test]
    fn seconds_follow_each_other_and_the_last_may_be_short() {
        let (_folder, machine) = nowhere();
        let mut watch = Watch::start(machine, Duration::from_millis(100));
        for tenth in 1..=23 {
            watch.observe(&at(tenth * 100, tenth * 10));
        }
        let seconds = watch.end(&at(2350, 240));
        let spans: Vec<_> = seconds
            .iter()
            .map(|second| (second.from_ms, second.to_ms, second.samples))
            .collect();
        assert_eq!(spans, [(0, 1000, 100), (1000, 2000, 100), (2000, 2350, 40)]);
        assert!(seconds.iter().all(|second| second.frozen_ms == 0));
    }

    #[test]
    fn a_gap_between_moments_is_a_freeze() {
        let (_folder, machine) = nowhere();
        let mut watch = Watch::start(machine, Duration::from_millis(100));
        watch.observe(&at(100, 1));
        watch.observe(&at(3100, 1));
        let seconds = watch.end(&at(3200, 2));
        assert_eq!(seconds[0].frozen_ms, 2900);
        assert_eq!(seconds[1].frozen_ms, 0);
    }

    #[test]
    fn a_long_run_is_kept_in_bounded_space() {
        let (_folder, machine) = nowhere();
        let mut watch = Watch::start(machine, SECOND);
        let length_s = 3 * MOST_SECONDS as u64;
        for second in 1..=length_s {
            watch.observe(&at(second * 1000, second));
        }
        let seconds = watch.end(&at(length_s * 1000, length_s));
        assert!(seconds.len() <= MOST_SECONDS);
        assert_eq!(
            seconds.iter().map(|second| second.samples).sum::<u64>(),
            length_s
        );
        assert_eq!(seconds[0].from_ms, 0);
        assert!(
            seconds
                .windows(2)
                .all(|pair| pair[0].to_ms == pair[1].from_ms)
        );
    }
}
