//! Finds the causes that each second of a run shows.
//!
//! Some numbers of a second are causes, such as CPU that other programs took. Others are effects, such as late users or a stalled
//! event loop. An effect is not reported if a cause at the same time explains it.

use std::ops::Range;

use crate::cause::Cause;
use crate::machine::Limits;
use crate::programs::Locality;
use crate::verdict::port_count;
use crate::watch::{Delay, STOP_MS, Second};

/// A worker that is this late for something due affects response times.
pub(crate) const LATE_US: u64 = 50_000;
/// If users are this late for something due, the load differs from the plan's.
const DELAYED_US: u64 = 10_000;
/// If fewer users than this were due, one per cent is a single user, who may be late by chance. The median decides then.
const MANY_DUE: u64 = 100;
/// If fewer users than this were due, the median is that of one or two users.
const FEW_DUE: u64 = 10;
/// The delay that counts when so few users were due.
const FEW_DELAYED_US: u64 = 100_000;
/// A process that does nothing for this long was stopped or did not get a core.
pub(crate) const FROZEN_MS: u64 = 500;
/// As a share of the usable cores: above this, no CPU is left for peaks.
const SATURATED: f64 = 0.9;
/// As a share of the cores: the CPU that others must take to be reported.
const TAKEN_BY_OTHERS: f64 = 0.2;
/// Per core, as a share of the second: the time in run queues that may explain an effect.
const WAITING: f64 = 0.05;
/// Per core, as a share of the second: the time in run queues that counts even without an effect.
const STARVED: f64 = 0.25;
/// As a share of the cores: the stolen CPU that may explain an effect.
const STOLEN: f64 = 0.05;
/// As a share of the cores: the stolen CPU that counts even without an effect.
const MUCH_STOLEN: f64 = 0.1;
/// As a share of the second: the time that the quota kept the process from the CPU.
const THROTTLED: f64 = 0.02;
/// As a share of the limit: open files or memory.
const NEARLY_FULL: f64 = 0.95;
/// As a share of the generator's own segments: the retransmissions that indicate a lossy network.
pub(crate) const RETRANSMITTED: f64 = 0.01;
/// The fewest segments from which a share is computed.
pub(crate) const SEGMENTS: u64 = 100;
/// As a share of a core: above this, users of a single worker wait for it.
const WORKER_SATURATED: f64 = 0.95;
/// As a share of the second: the time in which the JVM collected garbage.
const COLLECTED: f64 = 0.1;
/// As a share of the local ports: closed connections to one target.
const RUNNING_OUT: f64 = 0.8;
/// As a share of the segments sent: packets that this machine dropped.
const DROPPED: f64 = 0.001;
/// The fewest dropped packets that count: some interfaces occasionally drop a few.
const PACKETS: u64 = 20;
/// As a share of the second: the time that workers waited for the disk.
const DISK_STALLED: f64 = 0.05;
/// As a share of the due arrivals: those that never started.
const LEFT_OUT: f64 = 0.01;
/// If the clock differs this much from the monotonic clock, it was set.
const STEPPED_MS: i64 = 500;
/// The longest that Java warms up after the first script.
const WARM_UP_MS: u64 = 3000;
/// A script is counted when it ends, so the JVM was already busy in the second before.
const BEFORE_FIRST_SCRIPT_MS: u64 = 1000;

/// A cause in one second.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Seen {
    pub cause: Cause,
    /// How bad it was; comparable within a cause.
    pub extent: f64,
    /// How much of the second was lost to it, in milliseconds.
    pub lost_ms: f64,
}

/// A second, with what only its neighbours show.
struct SecondInContext<'a> {
    second: &'a Second,
    next: Option<&'a Second>,
    /// Something was late, and Java's warm-up does not explain it.
    is_felt: bool,
}

/// The causes of each second, including unexplained effects.
pub(crate) fn by_second(seconds: &[Second], limits: &Limits) -> Vec<Vec<Seen>> {
    let warm_up = warm_up(seconds);
    let is_warming_up = |second: &Second| {
        warm_up
            .as_ref()
            .is_some_and(|time| time.contains(&second.from_ms))
    };
    let causes: Vec<Vec<Seen>> = seconds
        .iter()
        .enumerate()
        .map(|(at, second)| {
            let next = seconds.get(at + 1);
            let is_felt = has_effect(second, next) && !is_warming_up(second);
            causes(
                &SecondInContext {
                    second,
                    next,
                    is_felt,
                },
                limits,
            )
        })
        .collect();
    seconds
        .iter()
        .enumerate()
        .map(|(at, second)| {
            // A delay is recorded when it ends, which may be in the second after its cause.
            let explained = [at.checked_sub(1), Some(at)]
                .into_iter()
                .flatten()
                .any(|at| is_explained(&causes[at], &seconds[at], limits));
            let mut all = causes[at].clone();
            if !explained {
                all.extend(effects(second).into_iter().filter(|seen| {
                    // If each user has a core, users do not hold up each other.
                    seen.cause != Cause::LoopStalled || second.users as f64 > limits.cores
                }));
            }
            if is_warming_up(second) {
                warmed_up(&mut all);
            }
            all
        })
        .collect()
}

/// The time in which Java warmed up, in milliseconds of the run; `None` if Java did not run.
fn warm_up(seconds: &[Second]) -> Option<Range<u64>> {
    let first = seconds
        .iter()
        .find(|second| second.scripts_ms > 0 || second.garbage_ms > 0)?;
    let from_ms = first.from_ms.saturating_sub(BEFORE_FIRST_SCRIPT_MS);
    Some(from_ms..from_ms + WARM_UP_MS)
}

/// Replaces the causes that the warm-up explains with the warm-up.
fn warmed_up(all: &mut Vec<Seen>) {
    let before = all.len();
    all.retain(|seen| !is_warm_up(seen));
    if all.len() < before {
        all.push(Seen {
            cause: Cause::WarmUp,
            extent: 1.0,
            lost_ms: 0.0,
        });
    }
}

fn is_warm_up(seen: &Seen) -> bool {
    matches!(
        seen.cause,
        Cause::CpuUsedUp
            | Cause::WorkerUsedUp
            | Cause::GarbageCollected
            | Cause::LoopStalled
            | Cause::ScheduleDelayed
    )
}

/// Whether the causes of a second explain late users and stalled event loops.
fn is_explained(causes: &[Seen], second: &Second, limits: &Limits) -> bool {
    let by_cause = causes.iter().any(|seen| {
        matches!(
            seen.cause,
            Cause::ProcessStopped
                | Cause::CpuThrottled
                | Cause::CpuStolen
                | Cause::CpuTakenByOthers
                | Cause::GarbageCollected
                | Cause::DiskStalled
        )
    });
    by_cause || target_took_cpu(second, limits)
}

/// Whether a target on this machine left too little CPU for the generator. This is a caveat of its own.
pub(crate) fn target_took_cpu(second: &Second, limits: &Limits) -> bool {
    let cores = limits.cores.max(0.01);
    second.locality == Locality::ThisMachine
        && (second.cores_target + second.cores_unknown) / cores >= TAKEN_BY_OTHERS
        && (second.threads_waiting > WAITING * cores || second.cores_busy() / cores >= SATURATED)
}

fn causes(moment: &SecondInContext, limits: &Limits) -> Vec<Seen> {
    ALL_CAUSES
        .iter()
        .filter_map(|&cause| {
            let (extent, lost_ms) = extent(cause, moment, limits)?;
            Some(Seen {
                cause,
                extent,
                lost_ms,
            })
        })
        .collect()
}

/// The causes that a single second can show.
const ALL_CAUSES: &[Cause] = &[
    Cause::ProcessStopped,
    Cause::CpuThrottled,
    Cause::CpuStolen,
    Cause::CpuTakenByOthers,
    Cause::CpuUsedUp,
    Cause::WorkerUsedUp,
    Cause::GarbageCollected,
    Cause::ArrivalsLeftOut,
    Cause::ClockStepped,
    Cause::OpenFilesUsedUp,
    Cause::MemoryUsedUp,
    Cause::PortsRunningOut,
    Cause::PacketsDropped,
    Cause::Retransmits,
    Cause::DiskStalled,
];

/// How bad a cause was in a second, and how much of the second was lost; `None` if the cause was not there.
fn extent(cause: Cause, moment: &SecondInContext, limits: &Limits) -> Option<(f64, f64)> {
    let &SecondInContext {
        second,
        next,
        is_felt,
    } = moment;
    let (length_ms, cores) = (second.length_ms() as f64, limits.cores.max(0.01));
    let lost = |share: f64| share.min(1.0) * length_ms;
    // If each user has a core, users do not wait for each other.
    let is_used_up = share_used(second, cores) >= SATURATED;
    let is_unbalanced = !is_used_up && second.users as f64 > cores;
    let (extent, least, lost_ms) = match cause {
        Cause::ProcessStopped if was_stopped(second, next) => {
            let stopped = second.frozen_total_ms.max(second.frozen_ms);
            (second.frozen_ms as f64, STOP_MS as f64, stopped as f64)
        }
        Cause::CpuThrottled => {
            let share = second.throttled_ms as f64 / length_ms;
            (share, THROTTLED, lost(share))
        }
        Cause::CpuStolen => {
            let share = second.cores_stolen / cores;
            let least = if is_felt { STOLEN } else { MUCH_STOLEN };
            (share, least, lost(share))
        }
        Cause::CpuTakenByOthers if !is_used_up => {
            let taken = cores_missed(second, is_felt, cores);
            let waiting = second.threads_waiting / cores;
            (taken / cores, TAKEN_BY_OTHERS, lost(waiting))
        }
        Cause::CpuUsedUp => (share_used(second, cores), SATURATED, 0.0),
        Cause::WorkerUsedUp if is_unbalanced => (second.busiest_thread, WORKER_SATURATED, 0.0),
        Cause::GarbageCollected => (second.garbage_ms as f64 / length_ms, COLLECTED, 0.0),
        Cause::ArrivalsLeftOut if second.arrivals.due > 0 => {
            let arrivals = second.arrivals;
            (of(arrivals.left_out, arrivals.due), LEFT_OUT, 0.0)
        }
        Cause::ClockStepped => {
            let step_ms = second.clock_step_ms.saturating_abs();
            (step_ms as f64, STEPPED_MS as f64, 0.0)
        }
        Cause::OpenFilesUsedUp => {
            let share = of_limit(second.open_files, limits.open_files)?;
            (share, NEARLY_FULL, 0.0)
        }
        Cause::MemoryUsedUp => {
            let share = of_limit(second.memory_bytes, limits.memory_bytes)?;
            (share, NEARLY_FULL, 0.0)
        }
        Cause::PortsRunningOut => {
            let share = of_limit(second.time_wait_to_one, port_count(limits).map(u64::from))?;
            (share, RUNNING_OUT, 0.0)
        }
        // Drops that cost none of the generator's own segments belong to another program.
        Cause::PacketsDropped if second.packets_dropped >= PACKETS && lost_segments(second) => {
            let share = of(second.packets_dropped, second.segments_sent);
            (share, DROPPED, 0.0)
        }
        Cause::Retransmits if lost_segments(second) && second.packets_dropped < PACKETS => {
            let share = of(second.segments_retransmitted, second.segments_sent);
            (share, RETRANSMITTED, 0.0)
        }
        Cause::DiskStalled => (second.disk_stalled_ms as f64 / length_ms, DISK_STALLED, 0.0),
        _ => return None,
    };
    (extent >= least).then_some((extent, lost_ms))
}

fn of(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// The used share of a limit, if there is a limit.
fn of_limit(used: u64, limit: Option<u64>) -> Option<f64> {
    let limit = limit.filter(|limit| *limit > 0)?;
    Some(of(used, limit))
}

/// The share that the run used of the cores that other programs left to it.
fn share_used(second: &Second, cores: f64) -> f64 {
    (second.cores_used + second.cores_family) / (cores - cores_taken_beside(second)).max(0.01)
}

/// The cores that other programs took, if the run took at least twice as many. If others took more, the run may have lacked those
/// cores, so its own use proves nothing.
pub(crate) fn cores_taken_beside(second: &Second) -> f64 {
    let taken = cores_taken(second).max(0.0);
    if taken <= (second.cores_used + second.cores_family) / 2.0 {
        taken
    } else {
        0.0
    }
}

/// The cores that other programs took, if the run's threads had to wait for them.
fn cores_missed(second: &Second, is_felt: bool, cores: f64) -> f64 {
    if is_held_up_by_others(second, is_felt, cores) {
        cores_taken(second)
    } else {
        0.0
    }
}

fn is_held_up_by_others(second: &Second, is_felt: bool, cores: f64) -> bool {
    let waiting = second.threads_waiting / cores;
    let is_full = second.cores_busy() / cores >= SATURATED;
    let explains = waiting > WAITING || is_full;
    // A small load is never very late, but it affects response times if its threads wait longer than they run.
    let waits_most = waiting > WAITING && second.threads_waiting >= second.cores_used;
    waiting >= STARVED || explains && is_felt || waits_most
}

/// Whether the whole process was stopped when the run's own thread did nothing. Then its workers were late as well, perhaps only
/// in the next second, and nothing else kept them from a core: stopped threads are not in a run queue.
fn was_stopped(second: &Second, next: Option<&Second>) -> bool {
    let frozen_ms = second.frozen_ms as f64;
    let late_us = second
        .loop_late_us
        .max(next.map(|next| next.loop_late_us).unwrap_or(0));
    let length_ms = second.length_ms() as f64;
    let without_core_ms =
        (second.threads_waiting + second.cores_stolen) * length_ms + second.throttled_ms as f64;
    second.frozen_ms >= STOP_MS
        && late_us as f64 / 1000.0 >= frozen_ms / 2.0
        && without_core_ms < frozen_ms / 2.0
}

fn lost_segments(second: &Second) -> bool {
    let share = second.segments_retransmitted as f64 / second.segments_sent.max(1) as f64;
    second.segments_sent >= SEGMENTS && share >= RETRANSMITTED
}

/// The cores that others took, without the target and programs that may be the target.
fn cores_taken(second: &Second) -> f64 {
    match second.locality {
        Locality::ThisMachine => second.cores_others - second.cores_target - second.cores_unknown,
        _ => second.cores_others,
    }
}

/// Whether something was late, in this second or the next.
fn has_effect(second: &Second, next: Option<&Second>) -> bool {
    !effects(second).is_empty() || next.is_some_and(|next| !effects(next).is_empty())
}

fn effects(second: &Second) -> Vec<Seen> {
    let mut effects = Vec::new();
    if second.loop_late_us >= LATE_US {
        let stalled_ms = second.loop_stalled_ms.max(second.loop_late_us / 1000);
        effects.push(Seen {
            cause: Cause::LoopStalled,
            extent: second.loop_late_us as f64,
            lost_ms: stalled_ms.min(second.length_ms()) as f64,
        });
    }
    let (usual_us, least_us) = usual_delay_us(&second.delay);
    if second.delay.count > 0 && usual_us >= least_us {
        effects.push(Seen {
            cause: Cause::ScheduleDelayed,
            extent: usual_us as f64,
            lost_ms: 0.0,
        });
    }
    effects
}

/// The usual delay of users, without exceptions, and the delay from which it counts.
fn usual_delay_us(delay: &Delay) -> (u64, u64) {
    match delay.count {
        MANY_DUE.. => (delay.p99_us, DELAYED_US),
        FEW_DUE.. => (delay.p50_us, DELAYED_US),
        _ => (delay.p50_us, FEW_DELAYED_US),
    }
}
