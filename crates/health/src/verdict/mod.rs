//! The verdict: whether what was measured is the target's doing or the generator's own.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::machine::Limits;
use crate::watch::{Delay, Lacking, Second};

/// A worker that comes this much too late to something due shows in response times.
const LATE_US: u64 = 50_000;
/// Users that come this much too late to what is due, one in a hundred, send a load that is not the plan's.
const DELAYED_US: u64 = 10_000;
/// Of fewer than so many users one in a hundred is a single one, whom any hiccup of the machine may hold up.
const MANY_DUE: u64 = 100;
/// A process that does nothing for so long was stopped, or did not get a core.
const FROZEN_MS: u64 = 500;
/// Of the cores that may be used: above this nothing is left for a peak.
const SATURATED: f64 = 0.9;
/// Of the cores: what others must take to be named.
const TAKEN_BY_OTHERS: f64 = 0.2;
/// Of a second, per core: time in run queues that is worth asking for its cause.
const WAITING: f64 = 0.05;
/// Of the cores: what the hypervisor must keep to be named.
const STOLEN: f64 = 0.05;
/// Of a second: time without CPU because of a quota.
const THROTTLED: f64 = 0.02;
/// Of the limit: open files, memory.
const NEARLY_FULL: f64 = 0.95;
/// Of the segments: what is sent again on a network that loses.
const RETRANSMITTED: f64 = 0.01;
/// Of a core: above this a single worker has users waiting for it.
const WORKER_SATURATED: f64 = 0.95;
/// Of a second: time in which the virtual machine only collected garbage.
const COLLECTED: f64 = 0.1;
/// Of the local ports: closed connections to one target.
const RUNNING_OUT: f64 = 0.8;
/// Of the segments sent: packets dropped on this machine.
const DROPPED: f64 = 0.001;
/// The fewest dropped packets that count: some interfaces drop a stray one now and then.
const PACKETS: u64 = 20;
/// The fewest segments of which a share is taken.
const SEGMENTS: u64 = 100;
/// Of a second: time that workers waited for the disk.
const DISK_STALLED: f64 = 0.05;
/// Of the arrivals that were due: those that never started.
const LEFT_OUT: f64 = 0.01;
/// A target that answers nothing for so long is worth a remark.
const SILENT_MS: u64 = 3000;
/// Of the run: what a cause must cover to leave nothing to trust.
const INVALID: f64 = 0.5;
/// The same for a process that was stopped: it neither sent nor noticed anything.
const INVALID_FROZEN: f64 = 0.1;
/// Of the samples: failures that are the generator's own.
const INVALID_FAILURES: f64 = 0.01;

/// How far a run's numbers can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    /// Nothing was seen that is not the target's doing.
    Valid,
    /// Some of the numbers are the generator's own doing; the reasons say which and when.
    Degraded,
    /// The numbers say more of the generator than of the target.
    Invalid,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Grade::Valid => "VALID",
            Grade::Degraded => "DEGRADED",
            Grade::Invalid => "INVALID",
        })
    }
}

/// What can spoil a measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The whole process was stopped: a signal, a suspended virtual machine.
    ProcessStopped,
    /// The control group's CPU quota was used up.
    CpuThrottled,
    /// The hypervisor gave the cores to others.
    CpuStolen,
    /// Other programs took the cores.
    CpuTakenByOthers,
    /// The generator itself used all the CPU it may.
    CpuUsedUp,
    /// One worker used all of its core, although others had time left.
    WorkerUsedUp,
    /// The Java virtual machine collected garbage instead of running scripts.
    GarbageCollected,
    /// A worker's event loop was held up.
    LoopStalled,
    /// Users came late to what was due: the end of a timer, their start.
    ScheduleDelayed,
    /// Arrivals that were due did not start, since their thread group had all the users that it may have.
    ArrivalsLeftOut,
    /// File descriptors ran out, or nearly.
    OpenFilesUsedUp,
    /// Memory ran out, or nearly.
    MemoryUsedUp,
    /// Local ports ran out.
    PortsUsedUp,
    /// So many connections to one target wait for their end that no port will be left for new ones. This spoils nothing yet.
    PortsRunningOut,
    /// This machine dropped packets.
    PacketsDropped,
    /// The network lost segments.
    Retransmits,
    /// Workers waited for the disk that takes the results.
    DiskStalled,
    /// Rows of the results were lost.
    ResultsLost,
    /// Nothing was answered for a while although users ran. This is the target's doing and does not spoil the numbers,
    /// but a closed loop asks nothing meanwhile, so that the percentiles say little of it.
    TargetSilent,
    /// The run sent nothing, so there are no numbers.
    NothingSent,
}

impl Cause {
    /// What it is, in a few words.
    pub fn title(self) -> &'static str {
        match self {
            Cause::ProcessStopped => "the generator was stopped",
            Cause::CpuThrottled => "CPU quota of the control group used up",
            Cause::CpuStolen => "CPU kept by the hypervisor",
            Cause::CpuTakenByOthers => "CPU taken by other programs",
            Cause::CpuUsedUp => "the generator used all its CPU",
            Cause::WorkerUsedUp => "one worker used all of its core",
            Cause::GarbageCollected => "garbage collection held up scripts",
            Cause::LoopStalled => "an event loop was held up",
            Cause::ScheduleDelayed => "users came late to what was due",
            Cause::ArrivalsLeftOut => "arrivals were due and did not start",
            Cause::OpenFilesUsedUp => "open files at their limit",
            Cause::MemoryUsedUp => "memory at its limit",
            Cause::PortsUsedUp => "local ports used up",
            Cause::PortsRunningOut => "local ports are running out",
            Cause::PacketsDropped => "packets dropped on this machine",
            Cause::Retransmits => "TCP segments lost on the way",
            Cause::DiskStalled => "the disk did not keep up with the results",
            Cause::ResultsLost => "results were lost",
            Cause::TargetSilent => "the target answered nothing",
            Cause::NothingSent => "nothing was sent",
        }
    }

    /// What helps.
    pub fn remedy(self) -> &'static str {
        match self {
            Cause::ProcessStopped => {
                "look for who stops it: a debugger, a job control, a snapshot of the virtual machine"
            }
            Cause::CpuThrottled => "raise the container's CPU limit, or send less from here",
            Cause::CpuStolen => "use a host that is not overcommitted, or one of its own",
            Cause::CpuTakenByOthers => "run the generator on a machine of its own",
            Cause::CpuUsedUp => "send less from here, or give it more cores",
            Cause::WorkerUsedUp => {
                "a user stays on one core: let more users share the work, and look for one with costly scripts or large responses"
            }
            Cause::GarbageCollected => {
                "give the virtual machine more memory (JVM_ARGS), or let scripts make fewer objects"
            }
            Cause::LoopStalled => {
                "look for scripts that block, and for a machine with too little CPU"
            }
            Cause::ScheduleDelayed => "send less from here, or give it more cores",
            Cause::ArrivalsLeftOut => {
                "the target did not keep up with the rate: raise the thread group's concurrency limit, or ask for less"
            }
            Cause::OpenFilesUsedUp => "raise the limit: ulimit -n",
            Cause::MemoryUsedUp => "let fewer users run here, or keep less of the responses",
            Cause::PacketsDropped => {
                "look at ethtool -S and /proc/net/softnet_stat: larger rings or a higher net.core.netdev_max_backlog"
            }
            Cause::PortsUsedUp | Cause::PortsRunningOut => {
                "reuse connections, use more source addresses (ipSource), or widen net.ipv4.ip_local_port_range"
            }
            Cause::Retransmits => "look at the network between here and the target",
            Cause::DiskStalled => "write the results to a faster disk, or fewer columns",
            Cause::ResultsLost => "make room where the results lie",
            Cause::TargetSilent => {
                "response times from the intended start need a plan with a schedule (an open model, or pacing)"
            }
            Cause::NothingSent => "look at the plan with `drumfire check` and `drumfire plan`",
        }
    }

    /// Whether the generator's numbers suffer.
    fn spoils(self) -> bool {
        !matches!(self, Cause::TargetSilent | Cause::PortsRunningOut)
    }

    /// The share of the run from which on nothing is to be trusted; none for causes that only lessen it.
    fn invalid_share(self) -> Option<f64> {
        match self {
            Cause::ProcessStopped => Some(INVALID_FROZEN),
            Cause::CpuThrottled
            | Cause::CpuStolen
            | Cause::CpuTakenByOthers
            | Cause::LoopStalled
            | Cause::ScheduleDelayed => Some(INVALID),
            _ => None,
        }
    }
}

/// A cause, with when it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The cause.
    pub cause: Cause,
    /// When, in milliseconds since the start of the run: from, to.
    pub spans_ms: Vec<(u64, u64)>,
    /// The worst that was measured, in words.
    pub measured: String,
    /// What helps.
    pub remedy: String,
}

impl Reason {
    /// For how long it was seen, in milliseconds.
    pub fn length_ms(&self) -> u64 {
        self.spans_ms.iter().map(|(from, to)| to - from).sum()
    }
}

/// Whether the numbers can be trusted, and why not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The grade.
    pub grade: Grade,
    /// The worst first.
    pub reasons: Vec<Reason>,
    /// How long the run was, in milliseconds.
    pub length_ms: u64,
}

/// Samples that failed for want of something on this machine, and rows that were lost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures {
    /// All samples of the run.
    pub samples: u64,
    /// Those that failed for want of something.
    pub lacking: Lacking,
    /// Rows that are in no file.
    pub lost_rows: u64,
}

/// Judges a run by its seconds and by what failed.
pub fn judge(seconds: &[Second], failures: &Failures, limits: &Limits) -> Verdict {
    let length_ms = seconds.last().map_or(0, |second| second.to_ms);
    let mut reasons = Vec::new();
    for cause in SEEN_IN_A_SECOND {
        reasons.extend(of_seconds(*cause, seconds, limits));
    }
    reasons.extend(silence(seconds));
    add_failures(&mut reasons, failures, limits, seconds);
    let grade = reasons
        .iter()
        .map(|reason| grade(reason, failures, length_ms))
        .max()
        .unwrap_or(Grade::Valid);
    reasons.sort_by_key(|reason| {
        (
            std::cmp::Reverse(self::grade(reason, failures, length_ms)),
            std::cmp::Reverse(reason.length_ms()),
        )
    });
    Verdict {
        grade,
        reasons,
        length_ms,
    }
}

fn grade(reason: &Reason, failures: &Failures, length_ms: u64) -> Grade {
    if !reason.cause.spoils() {
        return Grade::Valid;
    }
    let share = reason.length_ms() as f64 / length_ms.max(1) as f64;
    let of_samples = |count: u64| count as f64 / failures.samples.max(1) as f64;
    let is_invalid = match reason.cause {
        Cause::PortsUsedUp => of_samples(failures.lacking.port) > INVALID_FAILURES,
        Cause::OpenFilesUsedUp => of_samples(failures.lacking.file) > INVALID_FAILURES,
        Cause::MemoryUsedUp => of_samples(failures.lacking.memory) > INVALID_FAILURES,
        Cause::ResultsLost => of_samples(failures.lost_rows) > INVALID_FAILURES,
        cause => cause.invalid_share().is_some_and(|most| share >= most),
    };
    if is_invalid {
        Grade::Invalid
    } else {
        Grade::Degraded
    }
}

/// Causes that a single second shows.
const SEEN_IN_A_SECOND: &[Cause] = &[
    Cause::ProcessStopped,
    Cause::CpuThrottled,
    Cause::CpuStolen,
    Cause::CpuTakenByOthers,
    Cause::CpuUsedUp,
    Cause::WorkerUsedUp,
    Cause::GarbageCollected,
    Cause::LoopStalled,
    Cause::ScheduleDelayed,
    Cause::ArrivalsLeftOut,
    Cause::OpenFilesUsedUp,
    Cause::MemoryUsedUp,
    Cause::PortsRunningOut,
    Cause::PacketsDropped,
    Cause::Retransmits,
    Cause::DiskStalled,
];

fn of_seconds(cause: Cause, seconds: &[Second], limits: &Limits) -> Option<Reason> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    let mut worst: Option<(f64, &Second)> = None;
    for second in seconds {
        let Some(extent) = extent(cause, second, limits) else {
            continue;
        };
        match spans.last_mut() {
            Some(last) if last.1 == second.from_ms => last.1 = second.to_ms,
            _ => spans.push((second.from_ms, second.to_ms)),
        }
        if worst.is_none_or(|(most, _)| extent > most) {
            worst = Some((extent, second));
        }
    }
    let (_, second) = worst?;
    Some(Reason {
        cause,
        spans_ms: spans,
        measured: measured(cause, second, limits),
        remedy: cause.remedy().to_owned(),
    })
}

/// How late users came who were no exception.
fn usual_delay_us(delay: &Delay) -> u64 {
    match delay.count {
        MANY_DUE.. => delay.p99_us,
        _ => delay.p50_us,
    }
}

/// How bad a cause was in a second, if it was there at all.
fn extent(cause: Cause, second: &Second, limits: &Limits) -> Option<f64> {
    let length_ms = second.length_ms() as f64;
    let cores = limits.cores.max(0.01);
    let is_waiting = second.threads_waiting > WAITING * cores;
    let (extent, least) = match cause {
        // Threads that are stopped stand in no run queue; those that get no core do.
        Cause::ProcessStopped
            if second.threads_waiting * length_ms < second.frozen_ms as f64 / 2.0 =>
        {
            (second.frozen_ms as f64, FROZEN_MS as f64)
        }
        Cause::CpuThrottled => (second.throttled_ms as f64 / length_ms, THROTTLED),
        Cause::CpuStolen => (second.cores_stolen / cores, STOLEN),
        Cause::CpuTakenByOthers if is_waiting => (second.cores_others / cores, TAKEN_BY_OTHERS),
        Cause::CpuUsedUp => (second.cores_used / cores, SATURATED),
        Cause::WorkerUsedUp if second.cores_used / cores < SATURATED => {
            (second.busiest_thread, WORKER_SATURATED)
        }
        Cause::GarbageCollected => (second.garbage_ms as f64 / length_ms, COLLECTED),
        Cause::LoopStalled if extent(Cause::ProcessStopped, second, limits).is_none() => {
            (second.loop_late_us as f64, LATE_US as f64)
        }
        Cause::ScheduleDelayed if second.delay.count > 0 => {
            (usual_delay_us(&second.delay) as f64, DELAYED_US as f64)
        }
        Cause::ArrivalsLeftOut if second.arrivals.due > 0 => (
            second.arrivals.left_out as f64 / second.arrivals.due as f64,
            LEFT_OUT,
        ),
        Cause::OpenFilesUsedUp => (
            second.open_files as f64 / limits.open_files.unwrap_or(u64::MAX) as f64,
            NEARLY_FULL,
        ),
        Cause::MemoryUsedUp => (
            second.memory_bytes as f64 / limits.memory_bytes.unwrap_or(u64::MAX) as f64,
            NEARLY_FULL,
        ),
        Cause::PortsRunningOut => (
            second.time_wait_to_one as f64
                / port_count(limits).map_or(f64::INFINITY, |count| count as f64),
            RUNNING_OUT,
        ),
        Cause::PacketsDropped if second.packets_dropped >= PACKETS => (
            second.packets_dropped as f64 / second.segments_sent.max(1) as f64,
            DROPPED,
        ),
        Cause::Retransmits if second.segments_sent >= SEGMENTS => (
            second.segments_retransmitted as f64 / second.segments_sent as f64,
            RETRANSMITTED,
        ),
        Cause::DiskStalled => (second.disk_stalled_ms as f64 / length_ms, DISK_STALLED),
        _ => return None,
    };
    (extent >= least).then_some(extent)
}

fn measured(cause: Cause, second: &Second, limits: &Limits) -> String {
    let cores = limits.cores;
    match cause {
        Cause::ProcessStopped => format!("nothing ran for {} ms", second.frozen_ms),
        Cause::CpuThrottled => format!(
            "without CPU for {} ms of {} ms",
            second.throttled_ms,
            second.length_ms()
        ),
        Cause::CpuStolen => format!("{:.2} of {cores} cores", second.cores_stolen),
        Cause::CpuTakenByOthers => format!(
            "others used {:.2} of {cores} cores, {:.2} threads waited for one",
            second.cores_others, second.threads_waiting
        ),
        Cause::CpuUsedUp => format!("{:.2} of {cores} cores", second.cores_used),
        Cause::WorkerUsedUp => format!("{:.2} of its core", second.busiest_thread),
        Cause::GarbageCollected => format!("{} ms of {} ms", second.garbage_ms, second.length_ms()),
        Cause::PortsRunningOut => format!(
            "{} of {} ports held by closed connections to one target, 60 s each",
            second.time_wait_to_one,
            port_count(limits).unwrap_or(0)
        ),
        Cause::PacketsDropped => format!(
            "{} packets, while {} segments were sent",
            second.packets_dropped, second.segments_sent
        ),
        Cause::LoopStalled => format!("{:.0} ms late", second.loop_late_us as f64 / 1000.0),
        Cause::ScheduleDelayed => format!(
            "p50 {:.1} ms, p99 {:.1} ms, at most {:.1} ms",
            second.delay.p50_us as f64 / 1000.0,
            second.delay.p99_us as f64 / 1000.0,
            second.delay.max_us as f64 / 1000.0
        ),
        Cause::ArrivalsLeftOut => {
            let arrivals = second.arrivals;
            format!("{} of {} in a second", arrivals.left_out, arrivals.due)
        }
        Cause::OpenFilesUsedUp => format!(
            "{} of {} open",
            second.open_files,
            limits.open_files.unwrap_or(0)
        ),
        Cause::MemoryUsedUp => format!(
            "{} of {} MiB",
            second.memory_bytes >> 20,
            limits.memory_bytes.unwrap_or(0) >> 20
        ),
        Cause::Retransmits => format!(
            "{} of {} segments sent again",
            second.segments_retransmitted, second.segments_sent
        ),
        Cause::DiskStalled => format!(
            "workers waited {} ms of {} ms",
            second.disk_stalled_ms,
            second.length_ms()
        ),
        Cause::PortsUsedUp | Cause::ResultsLost | Cause::TargetSilent | Cause::NothingSent => {
            String::new()
        }
    }
}

/// Stretches in which users ran and nothing was answered, while the generator was able to ask.
fn silence(seconds: &[Second]) -> Option<Reason> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for second in seconds {
        let is_silent = second.samples == 0 && second.users > 0 && second.frozen_ms < FROZEN_MS;
        match spans.last_mut() {
            _ if !is_silent => {}
            Some(last) if last.1 == second.from_ms => last.1 = second.to_ms,
            _ => spans.push((second.from_ms, second.to_ms)),
        }
    }
    spans.retain(|(from, to)| to - from >= SILENT_MS);
    let longest = spans.iter().map(|(from, to)| to - from).max()?;
    // Users that all think for longer than that are no silence of the target: then nothing ends in most seconds.
    let silent: u64 = spans.iter().map(|(from, to)| to - from).sum();
    let whole = seconds.last().map_or(0, |second| second.to_ms);
    (silent * 2 < whole).then(|| Reason {
        cause: Cause::TargetSilent,
        spans_ms: spans,
        measured: format!("no sample ended for {:.1} s", longest as f64 / 1000.0),
        remedy: Cause::TargetSilent.remedy().to_owned(),
    })
}

/// Local ports that connections to one target may have.
fn port_count(limits: &Limits) -> Option<u32> {
    let (first, last) = limits.ports?;
    Some((u32::from(last) + 1).saturating_sub(u32::from(first) + limits.reserved_ports))
}

/// When samples failed for want of something; all the time, if no second saw it.
fn lacking_spans(seconds: &[Second], of: fn(&Lacking) -> u64) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for second in seconds.iter().filter(|second| of(&second.lacking) > 0) {
        match spans.last_mut() {
            Some(last) if last.1 == second.from_ms => last.1 = second.to_ms,
            _ => spans.push((second.from_ms, second.to_ms)),
        }
    }
    if spans.is_empty() {
        spans.push((0, seconds.last().map_or(0, |second| second.to_ms)));
    }
    spans
}

fn add_failures(
    reasons: &mut Vec<Reason>,
    failures: &Failures,
    limits: &Limits,
    seconds: &[Second],
) {
    let ports = port_count(limits).map_or(String::new(), |count| {
        format!(" of {count} for each target, each held 60 s after its connection ends")
    });
    let seen = [
        (
            Cause::PortsUsedUp,
            failures.lacking.port,
            (|lacking| lacking.port) as fn(&Lacking) -> u64,
            format!(
                "{} samples found no local port{ports}",
                failures.lacking.port
            ),
        ),
        (
            Cause::OpenFilesUsedUp,
            failures.lacking.file,
            |lacking| lacking.file,
            format!(
                "{} samples could open no socket or file",
                failures.lacking.file
            ),
        ),
        (
            Cause::MemoryUsedUp,
            failures.lacking.memory,
            |lacking| lacking.memory,
            format!("{} samples got no memory", failures.lacking.memory),
        ),
        (
            Cause::ResultsLost,
            failures.lost_rows,
            |_| 0,
            format!("{} rows are in no file", failures.lost_rows),
        ),
    ];
    for (cause, count, of, measured) in seen {
        if count == 0 {
            continue;
        }
        reasons.retain(|reason| reason.cause != cause);
        reasons.push(Reason {
            cause,
            spans_ms: lacking_spans(seconds, of),
            measured,
            remedy: cause.remedy().to_owned(),
        });
    }
}

#[cfg(test)]
mod tests;
