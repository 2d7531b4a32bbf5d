//! Builds the seconds of a run from readings of the machine and the engine's own counters.

use std::time::Duration;

use crate::evidence::LATE_US;
use crate::machine::{Limits, Machine, MachineCounters};
use crate::programs::{BusyProgram, Locality, OtherPrograms, Programs};
use crate::rare_lookup::RareLookup;

/// Gaps of the run's own thread from this length on may be stops of the whole process.
pub(crate) const STOP_MS: u64 = 200;
/// A remainder at the end of the run that is shorter than this is merged with the second before: its shares would mean nothing.
const SHORT_REST: Duration = Duration::from_millis(500);
/// As a share of the cores: CPU of other programs that makes it worth looking up their names.
const WORTH_NAMING: f64 = 0.1;
/// The minimum length of a second.
const SECOND: Duration = Duration::from_secs(1);
/// With fewer sockets in TIME_WAIT, their targets are not looked up.
const MANY_TIME_WAIT: u64 = 2000;
/// The most seconds to store. Those of a longer run are merged in pairs, repeatedly if needed.
const MOST_SECONDS: usize = 4096;

/// The engine's own counters at one moment.
#[derive(Debug, Clone, Copy, Default)]
pub struct EngineCounters {
    /// Since the start of the run.
    pub elapsed: Duration,
    /// Samples that have ended so far.
    pub samples: u64,
    /// Users that run.
    pub users: u64,
    /// Whether an order keeps users from sending: a pause, or a rate factor of 0.
    pub is_held: bool,
    /// The longest delay of a worker's event loop for something due, since the last moment.
    pub loop_late: Duration,
    /// How late waits ended in the current second; only read when the second [is over](Watch::is_due).
    pub delay: Delay,
    /// Rows that are waiting for the disk, in bytes.
    pub backlog_bytes: u64,
    /// How long workers have waited for the disk so far.
    pub disk_stalled: Duration,
    /// The numbers of connections so far.
    pub connections: Opened,
    /// Samples so far that failed because this machine ran out of something; only read when the second is over.
    pub lacking: Shortages,
    /// How long the JVM has collected garbage so far, if there is one.
    pub garbage: Duration,
    /// How long users have been executing Java code so far, summed over users.
    pub scripts: Duration,
    /// Arrivals so far.
    pub arrivals: Arrivals,
    /// TCP segments that the generator's own connections have sent so far, and how many of them were retransmissions.
    pub segments: Segments,
    /// The start of the run by the system's current clock, in milliseconds since the Unix epoch; `None` if the clock could not be
    /// read. It changes when the clock is set.
    pub start_by_clock_ms: Option<i64>,
}

/// TCP segments of the generator's own connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Segments {
    /// All that were sent.
    pub sent: u64,
    /// Those that were sent again.
    pub sent_again: u64,
}

/// Iterations that a schedule of arrivals asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Arrivals {
    /// Iterations whose time had come.
    pub due: u64,
    /// Due iterations that never started, because the thread group already had its maximum number of users.
    pub left_out: u64,
}

impl Arrivals {
    fn since(self, then: Arrivals) -> Arrivals {
        Arrivals {
            due: self.due.saturating_sub(then.due),
            left_out: self.left_out.saturating_sub(then.left_out),
        }
    }

    fn plus(self, other: Arrivals) -> Arrivals {
        Arrivals {
            due: self.due + other.due,
            left_out: self.left_out + other.left_out,
        }
    }
}

/// Connections and TLS handshakes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Opened {
    /// Connections that were opened.
    pub opened: u64,
    /// Exchanges on an existing connection.
    pub reused: u64,
    /// TLS handshakes with a certificate exchange.
    pub handshakes_full: u64,
    /// TLS handshakes that resumed a session.
    pub handshakes_resumed: u64,
}

impl Opened {
    fn since(self, then: Opened) -> Opened {
        Opened {
            opened: self.opened.saturating_sub(then.opened),
            reused: self.reused.saturating_sub(then.reused),
            handshakes_full: self.handshakes_full.saturating_sub(then.handshakes_full),
            handshakes_resumed: self
                .handshakes_resumed
                .saturating_sub(then.handshakes_resumed),
        }
    }

    fn plus(self, other: Opened) -> Opened {
        Opened {
            opened: self.opened + other.opened,
            reused: self.reused + other.reused,
            handshakes_full: self.handshakes_full + other.handshakes_full,
            handshakes_resumed: self.handshakes_resumed + other.handshakes_resumed,
        }
    }
}

/// Samples that failed because this machine ran out of something.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shortages {
    /// Samples that found no free local port.
    pub port: u64,
    /// Samples that could not open a file or socket.
    pub file: u64,
    /// Samples that could not allocate memory.
    pub memory: u64,
}

impl Shortages {
    fn since(self, then: Shortages) -> Shortages {
        Shortages {
            port: self.port.saturating_sub(then.port),
            file: self.file.saturating_sub(then.file),
            memory: self.memory.saturating_sub(then.memory),
        }
    }

    fn plus(self, other: Shortages) -> Shortages {
        Shortages {
            port: self.port + other.port,
            file: self.file + other.file,
            memory: self.memory + other.memory,
        }
    }
}

/// How late users were for something due, such as the end of a timer: the generator's own delay, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    /// The number of times that something was due.
    pub count: u64,
    /// The median, in microseconds.
    pub p50_us: u64,
    /// The 99th percentile, in microseconds.
    pub p99_us: u64,
    /// The maximum, in microseconds.
    pub max_us: u64,
}

impl Delay {
    /// Approximately the worse of both: percentiles of two halves cannot be merged exactly.
    fn worse(self, other: Delay) -> Delay {
        Delay {
            count: self.count + other.count,
            p50_us: self.p50_us.max(other.p50_us),
            p99_us: self.p99_us.max(other.p99_us),
            max_us: self.max_us.max(other.max_us),
        }
    }
}

/// The measurements of one second, or of several that were merged.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Second {
    /// When it began, in milliseconds since the start of the run.
    pub from_ms: u64,
    /// When it ended.
    pub to_ms: u64,
    /// Samples that ended in it.
    pub samples: u64,
    /// The largest number of users that ran.
    pub users: u64,
    /// Whether an order kept users from sending in a part of it.
    pub held: bool,
    /// Cores that this process used, on average.
    pub cores_used: f64,
    /// Cores that other programs used.
    pub cores_others: f64,
    /// Cores that the generator's other processes used, such as the agents of one machine.
    pub cores_family: f64,
    /// The share of each core that all programs together used.
    pub each_core: Vec<f64>,
    /// The share of a core that the busiest thread of this process used.
    pub busiest_thread: f64,
    /// Cores that the hypervisor withheld.
    pub cores_stolen: f64,
    /// The average number of threads of this process in run queues.
    pub threads_waiting: f64,
    /// How long the control group's CPU quota stopped it, in milliseconds.
    pub throttled_ms: u64,
    /// The longest delay of a worker for something due, in microseconds.
    pub loop_late_us: u64,
    /// How late users were for something due.
    pub delay: Delay,
    /// The longest time that the run's own thread did nothing although it was due, in milliseconds.
    pub frozen_ms: u64,
    /// The total of all such gaps of 200 ms or more, in milliseconds.
    pub frozen_total_ms: u64,
    /// The total time of event loop stalls of 50 ms or more, in milliseconds.
    pub loop_stalled_ms: u64,
    /// How far the system's clock was set, in milliseconds.
    pub clock_step_ms: i64,
    /// Where the target runs.
    pub locality: Locality,
    /// The other programs that used the most CPU, if they used much.
    pub programs: Vec<BusyProgram>,
    /// Cores that the target used, if it runs on this machine.
    pub cores_target: f64,
    /// Cores of programs that may be the target: this process may not read their open files.
    pub cores_unknown: f64,
    /// Resident memory at the end, in bytes.
    pub memory_bytes: u64,
    /// Open file descriptors at the end.
    pub open_files: u64,
    /// Sockets in TIME_WAIT on the machine at the end.
    pub time_wait: u64,
    /// Sockets in TIME_WAIT to a single target, if they can block ports. Only looked up if there are thousands.
    pub time_wait_to_one: u64,
    /// Connections opened and reused, and TLS handshakes.
    pub connections: Opened,
    /// Samples that failed because this machine ran out of something.
    pub lacking: Shortages,
    /// How long the JVM collected garbage, in milliseconds.
    pub garbage_ms: u64,
    /// How long users executed Java code, in milliseconds, summed over users.
    pub scripts_ms: u64,
    /// Iterations that a schedule of arrivals asked for.
    pub arrivals: Arrivals,
    /// Packets that this machine dropped.
    pub packets_dropped: u64,
    /// TCP segments sent by the generator's own connections.
    pub segments_sent: u64,
    /// Those of them that were sent again.
    pub segments_retransmitted: u64,
    /// The most bytes of rows that waited for the disk.
    pub backlog_bytes: u64,
    /// How long workers waited for the disk, in milliseconds.
    pub disk_stalled_ms: u64,
}

impl Second {
    /// Its length in milliseconds, at least 1.
    pub fn length_ms(&self) -> u64 {
        (self.to_ms - self.from_ms).max(1)
    }

    /// Cores that all programs together used.
    pub fn cores_busy(&self) -> f64 {
        self.cores_used + self.cores_family + self.cores_others
    }

    /// Combines the same second of two generators that share the load. Work and resources are added; of delays and disturbances,
    /// the worse counts.
    pub fn beside(&self, other: &Second) -> Second {
        let worse = self.merged(other);
        Second {
            from_ms: self.from_ms.min(other.from_ms),
            to_ms: self.to_ms.max(other.to_ms),
            users: self.users + other.users,
            held: self.held || other.held,
            cores_used: self.cores_used + other.cores_used,
            cores_others: self.cores_others.max(other.cores_others),
            cores_family: 0.0,
            each_core: [&self.each_core[..], &other.each_core[..]].concat(),
            cores_stolen: self.cores_stolen.max(other.cores_stolen),
            threads_waiting: self.threads_waiting + other.threads_waiting,
            cores_target: self.cores_target.max(other.cores_target),
            cores_unknown: self.cores_unknown.max(other.cores_unknown),
            memory_bytes: self.memory_bytes + other.memory_bytes,
            open_files: self.open_files + other.open_files,
            backlog_bytes: self.backlog_bytes + other.backlog_bytes,
            ..worse
        }
    }

    /// Merges this second with the next one.
    pub fn merged(&self, next: &Second) -> Second {
        let (own, other) = (self.length_ms() as f64, next.length_ms() as f64);
        let mean = |a: f64, b: f64| (a * own + b * other) / (own + other);
        Second {
            from_ms: self.from_ms,
            to_ms: next.to_ms,
            samples: self.samples + next.samples,
            users: self.users.max(next.users),
            held: self.held || next.held,
            cores_used: mean(self.cores_used, next.cores_used),
            cores_others: mean(self.cores_others, next.cores_others),
            cores_family: mean(self.cores_family, next.cores_family),
            each_core: self
                .each_core
                .iter()
                .zip(&next.each_core)
                .map(|(own, next)| mean(*own, *next))
                .collect(),
            busiest_thread: self.busiest_thread.max(next.busiest_thread),
            cores_stolen: mean(self.cores_stolen, next.cores_stolen),
            threads_waiting: mean(self.threads_waiting, next.threads_waiting),
            throttled_ms: self.throttled_ms + next.throttled_ms,
            loop_late_us: self.loop_late_us.max(next.loop_late_us),
            delay: self.delay.worse(next.delay),
            frozen_ms: self.frozen_ms.max(next.frozen_ms),
            frozen_total_ms: self.frozen_total_ms + next.frozen_total_ms,
            loop_stalled_ms: self.loop_stalled_ms + next.loop_stalled_ms,
            clock_step_ms: self.clock_step_ms + next.clock_step_ms,
            locality: self.locality.max(next.locality),
            programs: if self.cores_others >= next.cores_others {
                self.programs.clone()
            } else {
                next.programs.clone()
            },
            cores_target: mean(self.cores_target, next.cores_target),
            cores_unknown: mean(self.cores_unknown, next.cores_unknown),
            memory_bytes: self.memory_bytes.max(next.memory_bytes),
            open_files: self.open_files.max(next.open_files),
            time_wait: self.time_wait.max(next.time_wait),
            time_wait_to_one: self.time_wait_to_one.max(next.time_wait_to_one),
            connections: self.connections.plus(next.connections),
            lacking: self.lacking.plus(next.lacking),
            garbage_ms: self.garbage_ms + next.garbage_ms,
            scripts_ms: self.scripts_ms + next.scripts_ms,
            arrivals: self.arrivals.plus(next.arrivals),
            packets_dropped: self.packets_dropped + next.packets_dropped,
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
    /// The machine's limits at the start of the run.
    limits: Limits,
    /// The planned interval between two moments.
    pace: Duration,
    opened: EngineCounters,
    reading: MachineCounters,
    last: Duration,
    /// The longest event loop delay of the current second.
    loop_late: Duration,
    loop_stalled: Duration,
    frozen: Duration,
    frozen_total: Duration,
    clock_step_ms: i64,
    /// The start of the run by the system's clock, as of the last moment.
    clock_ms: Option<i64>,
    users: u64,
    held: bool,
    backlog_bytes: u64,
    open_files: RareLookup,
    time_wait_to_one: RareLookup,
    programs: Programs,
    seconds: Vec<Second>,
}

impl Watch {
    /// Begins now. [`observe`](Watch::observe) must be called once in every `pace`. Other programs are scanned with the first
    /// moment after that, so that the scan does not delay the first sample.
    pub fn start(machine: Machine, pace: Duration) -> Watch {
        Watch {
            limits: machine.limits(),
            reading: machine.read(),
            programs: Programs::default(),
            machine,
            pace,
            opened: EngineCounters::default(),
            last: Duration::ZERO,
            loop_late: Duration::ZERO,
            loop_stalled: Duration::ZERO,
            frozen: Duration::ZERO,
            frozen_total: Duration::ZERO,
            clock_step_ms: 0,
            clock_ms: None,
            users: 0,
            held: false,
            backlog_bytes: 0,
            open_files: RareLookup::default(),
            time_wait_to_one: RareLookup::default(),
            seconds: Vec::new(),
        }
    }

    /// Whether a moment at `elapsed` ends the current second.
    pub fn is_due(&self, elapsed: Duration) -> bool {
        elapsed.saturating_sub(self.opened.elapsed) >= SECOND
    }

    /// Takes a moment, and reads the machine once a second. Returns the second that has just ended, if any.
    pub fn observe(&mut self, moment: &EngineCounters) -> Option<&Second> {
        self.note(moment);
        if !self.programs.has_looked() {
            self.others(moment.elapsed, true);
        }
        if !self.is_due(moment.elapsed) {
            return None;
        }
        self.close(moment);
        self.seconds.last()
    }

    /// The machine's limits, as they were at the start of the run.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The seconds so far.
    pub fn seconds(&self) -> &[Second] {
        &self.seconds
    }

    /// Takes the seconds of the whole run; `last` is its end.
    pub fn end(&mut self, last: &EngineCounters) -> Vec<Second> {
        // The last gap is the engine's own wait for its workers, not a freeze.
        self.last = last.elapsed;
        self.note(last);
        let rest = last.elapsed.saturating_sub(self.opened.elapsed);
        if !rest.is_zero() {
            self.close(last);
        }
        if rest < SHORT_REST && self.seconds.len() > 1 && !rest.is_zero() {
            let rest = self.seconds.pop();
            if let (Some(before), Some(rest)) = (self.seconds.last_mut(), rest) {
                *before = before.merged(&rest);
            }
        }
        std::mem::take(&mut self.seconds)
    }

    /// Notes ports of this machine to which requests were sent. The program that listens there is the target.
    pub fn note_targets(&mut self, ports: &[u16]) {
        self.programs.note_targets(ports);
    }

    /// Looks at other programs. A run that is shorter than the pace proves nothing of them, and the look would take longer.
    fn others(&mut self, elapsed: Duration, is_worth_it: bool) -> OtherPrograms {
        if elapsed < self.pace {
            return OtherPrograms::default();
        }
        self.programs.at(&self.machine, elapsed, is_worth_it)
    }

    fn note(&mut self, moment: &EngineCounters) {
        let gap = moment.elapsed.saturating_sub(self.last);
        let frozen = gap.saturating_sub(self.pace);
        self.frozen = self.frozen.max(frozen);
        if frozen >= Duration::from_millis(STOP_MS) {
            self.frozen_total += frozen;
        }
        self.last = moment.elapsed;
        self.loop_late = self.loop_late.max(moment.loop_late);
        if moment.loop_late >= Duration::from_micros(LATE_US) {
            self.loop_stalled += moment.loop_late;
        }
        if let Some(start_ms) = moment.start_by_clock_ms {
            self.clock_step_ms += start_ms - self.clock_ms.replace(start_ms).unwrap_or(start_ms);
        }
        self.users = self.users.max(moment.users);
        self.held |= moment.is_held;
        self.backlog_bytes = self.backlog_bytes.max(moment.backlog_bytes);
    }

    fn close(&mut self, moment: &EngineCounters) {
        let reading = self.machine.read();
        let second = self.second(moment, &reading);
        self.seconds.push(second);
        if self.seconds.len() > MOST_SECONDS {
            self.seconds = self
                .seconds
                .chunks(2)
                .map(|pair| match pair {
                    [first, next] => first.merged(next),
                    _ => pair[0].clone(),
                })
                .collect();
        }
        self.reading = reading;
        self.opened = *moment;
        self.loop_late = Duration::ZERO;
        self.loop_stalled = Duration::ZERO;
        self.frozen = Duration::ZERO;
        self.frozen_total = Duration::ZERO;
        self.clock_step_ms = 0;
        self.users = 0;
        self.held = false;
        self.backlog_bytes = 0;
    }

    fn second(&mut self, moment: &EngineCounters, now: &MachineCounters) -> Second {
        let (open_files, time_wait_to_one) = self.tables(moment.elapsed, now);
        let then = std::mem::take(&mut self.reading);
        let length = moment.elapsed.saturating_sub(self.opened.elapsed);
        let length_us = (length.as_micros() as f64).max(1.0);
        let cores = |now: u64, then: u64| now.saturating_sub(then) as f64 / length_us;
        let used = cores(now.process_cpu_us, then.process_cpu_us);
        let machine = cores(now.machine_cpu_us, then.machine_cpu_us);
        // The two values are read one after the other, and the machine counts in ticks, so the difference is clamped.
        let others = (machine.min(now.cores_us.len().max(1) as f64) - used).max(0.0);
        let is_worth_it = others >= WORTH_NAMING * self.limits.cores;
        let OtherPrograms {
            programs,
            cores_target,
            cores_unknown,
            cores_family,
            locality,
        } = self.others(moment.elapsed, is_worth_it);
        Second {
            from_ms: self.opened.elapsed.as_millis() as u64,
            to_ms: moment.elapsed.as_millis() as u64,
            samples: moment.samples.saturating_sub(self.opened.samples),
            users: self.users,
            held: self.held,
            cores_used: used,
            cores_others: (others - cores_family).max(0.0),
            cores_family,
            programs,
            cores_target,
            cores_unknown,
            locality,
            each_core: now
                .cores_us
                .iter()
                .zip(&then.cores_us)
                .map(|(now, then)| cores(*now, *then))
                .collect(),
            busiest_thread: busiest_thread(now, &then) as f64 / length_us,
            cores_stolen: cores(now.stolen_us, then.stolen_us),
            threads_waiting: cores(now.waited_us, then.waited_us),
            throttled_ms: now.throttled_us.saturating_sub(then.throttled_us) / 1000,
            loop_late_us: self.loop_late.as_micros() as u64,
            delay: moment.delay,
            frozen_ms: self.frozen.as_millis() as u64,
            frozen_total_ms: self.frozen_total.as_millis() as u64,
            loop_stalled_ms: self.loop_stalled.as_millis() as u64,
            clock_step_ms: self.clock_step_ms,
            memory_bytes: now.memory_bytes,
            open_files,
            time_wait: now.time_wait,
            time_wait_to_one,
            connections: moment.connections.since(self.opened.connections),
            lacking: moment.lacking.since(self.opened.lacking),
            garbage_ms: since_ms(moment.garbage, self.opened.garbage),
            scripts_ms: since_ms(moment.scripts, self.opened.scripts),
            arrivals: moment.arrivals.since(self.opened.arrivals),
            packets_dropped: now.packets_dropped.saturating_sub(then.packets_dropped),
            segments_sent: moment
                .segments
                .sent
                .saturating_sub(self.opened.segments.sent),
            segments_retransmitted: moment
                .segments
                .sent_again
                .saturating_sub(self.opened.segments.sent_again),
            backlog_bytes: self.backlog_bytes,
            disk_stalled_ms: since_ms(moment.disk_stalled, self.opened.disk_stalled),
        }
    }

    /// Open files, and sockets in TIME_WAIT to one target. The system walks through its tables for these. The sockets of a run that
    /// is shorter than the pace say nothing of it: earlier programs have left them.
    fn tables(&mut self, elapsed: Duration, now: &MachineCounters) -> (u64, u64) {
        let machine = &self.machine;
        let open_files = self.open_files.at(elapsed, || machine.open_files());
        let to_one = if now.time_wait >= MANY_TIME_WAIT && elapsed >= self.pace {
            let reuse = self.limits.time_wait_reuse;
            self.time_wait_to_one
                .at(elapsed, || machine.time_wait_to_one(reuse))
        } else {
            0
        };
        (open_files, to_one)
    }
}

/// The growth of a sum of times, in milliseconds.
fn since_ms(now: Duration, then: Duration) -> u64 {
    now.saturating_sub(then).as_millis() as u64
}

/// The largest gain of any thread. A new thread began at zero.
fn busiest_thread(now: &MachineCounters, then: &MachineCounters) -> u64 {
    let before = |id: u32| {
        let known = then.threads_us.iter().find(|(known, _)| *known == id);
        known.map(|(_, us)| *us).unwrap_or(0)
    };
    let gained = now
        .threads_us
        .iter()
        .map(|(id, us)| us.saturating_sub(before(*id)));
    gained.max().unwrap_or(0)
}

#[cfg(test)]
mod tests;
