//! The causes that each second of a run shows.
//!
//! Some numbers of a second are causes, such as CPU that others took. Others are effects: users that came late, an event loop that
//! was held up. An effect that a cause of the same moment explains is not told beside it.

use std::ops::Range;

use crate::cause::Cause;
use crate::machine::Limits;
use crate::programs::Locality;
use crate::verdict::port_count;
use crate::watch::{Delay, STOP_MS, Second};

/// A worker that comes this much too late to something due shows in response times.
pub(crate) const LATE_US: u64 = 50_000;
/// Users that come this much too late to what is due send a load that is not the plan's.
const DELAYED_US: u64 = 10_000;
/// With fewer due than this, one in a hundred is a single user, whom any hiccup of the machine may hold up: the median counts.
const MANY_DUE: u64 = 100;
/// With fewer due than this, the median is one user or two.
const FEW_DUE: u64 = 10;
/// The delay of one user or two that counts.
const FEW_DELAYED_US: u64 = 100_000;
/// A process that does nothing for so long was stopped, or did not get a core.
pub(crate) const FROZEN_MS: u64 = 500;
/// Of the cores that may be used: above this nothing is left for a peak.
const SATURATED: f64 = 0.9;
/// Of the cores: CPU that others must take to be named.
const TAKEN_BY_OTHERS: f64 = 0.2;
/// Of a second, per core: time in run queues from which on it may explain an effect.
const WAITING: f64 = 0.05;
/// Of a second, per core: time in run queues that counts by itself.
const STARVED: f64 = 0.25;
/// Of the cores: CPU that the hypervisor must keep to explain an effect.
const STOLEN: f64 = 0.05;
/// Of the cores: CPU kept by the hypervisor that counts by itself.
const MUCH_STOLEN: f64 = 0.1;
/// Of a second: time without CPU because of a quota.
const THROTTLED: f64 = 0.02;
/// Of the limit: open files, memory.
const NEARLY_FULL: f64 = 0.95;
/// Of the generator's own segments: those sent again on a network that loses.
pub(crate) const RETRANSMITTED: f64 = 0.01;
/// The fewest segments of which a share is taken.
pub(crate) const SEGMENTS: u64 = 100;
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
/// Of a second: time that workers waited for the disk.
const DISK_STALLED: f64 = 0.05;
/// Of the arrivals that were due: those that never started.
const LEFT_OUT: f64 = 0.01;
/// A clock that moved by so much beside the monotonic one was set.
const STEPPED_MS: i64 = 500;
/// How long Java warms up from the first script on, at most.
const WARM_UP_MS: u64 = 3000;
/// A script is counted when it ends: the virtual machine was at work the second before.
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

/// A second, with what is known of it only from others.
struct Moment<'a> {
    second: &'a Second,
    next: Option<&'a Second>,
    /// Something came late that Java, while it warmed up, does not explain.
    is_felt: bool,
}

/// The causes of each second, effects without an explanation among them.
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
                &Moment {
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
            // A delay is known when it ends, which may be in the second after its cause.
            let explained = [at.checked_sub(1), Some(at)]
                .into_iter()
                .flatten()
                .any(|at| is_explained(&causes[at], &seconds[at], limits));
            let mut all = causes[at].clone();
            if !explained {
                all.extend(effects(second).into_iter().filter(|seen| {
                    // Users who have a core each hold up nobody by their own work.
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

/// When Java warmed up, if it ran, in milliseconds of the run.
fn warm_up(seconds: &[Second]) -> Option<Range<u64>> {
    let first = seconds
        .iter()
        .find(|second| second.scripts_ms > 0 || second.garbage_ms > 0)?;
    let from_ms = first.from_ms.saturating_sub(BEFORE_FIRST_SCRIPT_MS);
    Some(from_ms..from_ms + WARM_UP_MS)
}

/// Puts warming up in the place of the causes that it explains.
fn warmed_up(all: &mut Vec<Seen>) {
    let is_warm_up = |seen: &Seen| {
        matches!(
            seen.cause,
            Cause::CpuUsedUp
                | Cause::WorkerUsedUp
                | Cause::GarbageCollected
                | Cause::LoopStalled
                | Cause::ScheduleDelayed
        )
    };
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

/// Whether causes of a second make users late and hold up event loops.
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

/// A target on this machine left too little CPU for the generator: that is a caveat of its own.
pub(crate) fn target_took_cpu(second: &Second, limits: &Limits) -> bool {
    let cores = limits.cores.max(0.01);
    second.locality == Locality::ThisMachine
        && (second.cores_target + second.cores_unknown) / cores >= TAKEN_BY_OTHERS
        && (second.threads_waiting > WAITING * cores || second.cores_busy() / cores >= SATURATED)
}

fn causes(moment: &Moment, limits: &Limits) -> Vec<Seen> {
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

/// Causes that a single second shows.
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

/// How bad a cause was in a second and how much of it was lost, if the cause was there at all.
fn extent(cause: Cause, moment: &Moment, limits: &Limits) -> Option<(f64, f64)> {
    let &Moment {
        second,
        next,
        is_felt,
    } = moment;
    let (length_ms, cores) = (second.length_ms() as f64, limits.cores.max(0.01));
    let lost = |share: f64| share.min(1.0) * length_ms;
    // Users who have a core each do not wait for each other.
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
        // Drops that cost none of the generator's own segments are a neighbour's.
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

/// The share of a limit that is used up, if there is one.
fn of_limit(used: u64, limit: Option<u64>) -> Option<f64> {
    let limit = limit.filter(|limit| *limit > 0)?;
    Some(of(used, limit))
}

/// The run's share of the cores that other programs left it.
fn share_used(second: &Second, cores: f64) -> f64 {
    (second.cores_used + second.cores_family) / (cores - cores_taken_beside(second)).max(0.01)
}

/// The cores that other programs took beside a run that took at least twice as many. Where they took more, the run may lack
/// those, and what it used up says nothing about itself.
pub(crate) fn cores_taken_beside(second: &Second) -> f64 {
    let taken = cores_taken(second).max(0.0);
    match taken <= (second.cores_used + second.cores_family) / 2.0 {
        true => taken,
        false => 0.0,
    }
}

/// The cores that other programs took, if that kept the run's threads from theirs.
fn cores_missed(second: &Second, is_felt: bool, cores: f64) -> f64 {
    match is_held_up_by_others(second, is_felt, cores) {
        true => cores_taken(second),
        false => 0.0,
    }
}

fn is_held_up_by_others(second: &Second, is_felt: bool, cores: f64) -> bool {
    let waiting = second.threads_waiting / cores;
    let is_full = second.cores_busy() / cores >= SATURATED;
    let explains = waiting > WAITING || is_full;
    // Little work is never late by much, and still shows in response times if it waits for longer than it runs.
    let waits_most = waiting > WAITING && second.threads_waiting >= second.cores_used;
    waiting >= STARVED || explains && is_felt || waits_most
}

/// Whether a gap in which the run's own thread did nothing was one of the whole process. Its workers were late too then, which
/// may be known a moment later, and nothing kept a core from them: threads that are stopped stand in no run queue.
fn was_stopped(second: &Second, next: Option<&Second>) -> bool {
    let frozen_ms = second.frozen_ms as f64;
    let late_us = second
        .loop_late_us
        .max(next.map_or(0, |next| next.loop_late_us));
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

/// Cores that others took, the target left out, and programs that may be the target.
fn cores_taken(second: &Second) -> f64 {
    match second.locality {
        Locality::ThisMachine => second.cores_others - second.cores_target - second.cores_unknown,
        _ => second.cores_others,
    }
}

/// Whether something came late, here or in the second after.
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

/// How late users came who were no exception, and from when on that counts.
fn usual_delay_us(delay: &Delay) -> (u64, u64) {
    match delay.count {
        MANY_DUE.. => (delay.p99_us, DELAYED_US),
        FEW_DUE.. => (delay.p50_us, DELAYED_US),
        _ => (delay.p50_us, FEW_DELAYED_US),
    }
}
