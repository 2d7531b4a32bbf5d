//! The verdict: whether the numbers of a run show the target or the generator itself.

use std::fmt;

use drumfire_platform::words::{count, counted};
use serde::{Deserialize, Serialize};

use crate::cause::Cause;
use crate::evidence::{
    FROZEN_MS, LATE_US, RETRANSMITTED, SEGMENTS, Seen, by_second, cores_taken_beside,
    target_took_cpu,
};
use crate::machine::{Limits, cores_told};
use crate::programs::{BusyProgram, Locality};
use crate::watch::{Second, Shortages};

/// How long a target must be silent to get a remark.
const SILENT_MS: u64 = 3000;
/// A shorter run shows mostly its own start.
const SHORTEST_MS: u64 = 2000;
/// With fewer samples, percentiles mean nothing.
const FEWEST_SAMPLES: u64 = 10;
/// As a share of the samples: failures that the generator itself caused.
const INVALID_FAILURES: f64 = 0.01;
/// As a share of the run: a warm-up that is more than a moment.
const LONG_WARM_UP: f64 = 0.5;
/// If half of a schedule's samples began at least this late, its users do not reach its rate.
const BEHIND_SCHEDULE_US: u64 = 100_000;
/// As a share of a core: CPU of other programs that is worth reporting.
const TOLD_CORES: f64 = 0.05;

/// How far a run's numbers can be trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Grade {
    /// Nothing indicates that the generator affected the numbers.
    Valid,
    /// The run was too short to judge, and it shows no cause that even a short run would prove.
    #[serde(rename = "TOO SHORT")]
    TooShort,
    /// The generator affected some of the numbers; the reasons say which and when.
    Degraded,
    /// The numbers describe the generator more than the target.
    Invalid,
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Grade::Valid => "VALID",
            Grade::TooShort => "too short to judge",
            Grade::Degraded => "DEGRADED",
            Grade::Invalid => "INVALID",
        })
    }
}

/// A cause and when it was seen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Reason {
    /// The cause.
    pub cause: Cause,
    /// When, in milliseconds since the start of the run: from, to.
    pub spans_ms: Vec<(u64, u64)>,
    /// The worst measurement, in words.
    pub measured: String,
    /// The remedy.
    pub remedy: String,
}

impl Reason {
    /// How long it was seen, in milliseconds.
    pub fn length_ms(&self) -> u64 {
        self.spans_ms.iter().map(|(from, to)| to - from).sum()
    }
}

/// Whether the numbers can be trusted, and why not.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// The grade.
    pub grade: Grade,
    /// The reasons, worst first.
    pub reasons: Vec<Reason>,
    /// How long the run was, in milliseconds.
    pub length_ms: u64,
}

/// The facts about the whole run that its seconds do not show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Failures {
    /// All samples of the run.
    pub samples: u64,
    /// Samples that failed because this machine ran out of something.
    pub lacking: Shortages,
    /// Rows that were not written to any file.
    pub lost_rows: u64,
    /// Samples that users began and that are in no result.
    pub lost_samples: u64,
    /// Results that no user began.
    pub surplus_samples: u64,
    /// At least half of the samples that a schedule asked for began this late, in microseconds.
    pub behind_schedule_us: u64,
}

/// A reason, and how much of the run was lost to it.
struct WeighedReason {
    reason: Reason,
    lost_ms: f64,
}

/// Judges a run by its seconds and its failures.
pub fn judge(seconds: &[Second], failures: &Failures, limits: &Limits) -> Verdict {
    let length_ms = seconds.last().map(|second| second.to_ms).unwrap_or(0);
    let mut remarks = of_seconds(seconds, limits);
    remarks.extend(lost_on_the_way(seconds, &remarks));
    remarks.extend(behind_schedule(failures, length_ms, &remarks));
    remarks.extend(silence(seconds).map(remark));
    remarks.extend(target_here(seconds, limits).map(remark));
    remarks.extend(limits.is_hidden.then(|| remark(not_measured())));
    add_failures(&mut remarks, failures, limits, seconds);
    let is_short = length_ms < SHORTEST_MS || failures.samples < FEWEST_SAMPLES;
    if is_short {
        remarks.retain(|remark| remark.reason.cause.is_counted());
    }
    let grade_of = |remarks: &WeighedReason| grade(remarks, failures, length_ms);
    remarks.retain(|remark| is_worth_telling(remark, length_ms));
    remarks.sort_by_key(|remark| {
        let length_ms = remark.reason.length_ms();
        (
            std::cmp::Reverse(grade_of(remark)),
            std::cmp::Reverse(length_ms),
        )
    });
    let mut grade = remarks.first().map(grade_of).unwrap_or(Grade::Valid);
    let mut reasons: Vec<Reason> = remarks.into_iter().map(|remark| remark.reason).collect();
    if is_short && grade == Grade::Valid {
        grade = Grade::TooShort;
        reasons.insert(0, too_short(length_ms, failures.samples));
    }
    Verdict {
        grade,
        reasons,
        length_ms,
    }
}

fn too_short(length_ms: u64, samples: u64) -> Reason {
    Reason {
        cause: Cause::TooShort,
        spans_ms: Vec::new(),
        measured: format!(
            "{:.1} s and {}; the minimum is {} s and {FEWEST_SAMPLES} samples",
            length_ms as f64 / 1000.0,
            counted(samples, "sample"),
            SHORTEST_MS / 1000
        ),
        remedy: Cause::TooShort.remedy().to_owned(),
    }
}

/// The reason for systems other than Linux, which show no counters of the machine.
fn not_measured() -> Reason {
    Reason {
        cause: Cause::NotMeasured,
        spans_ms: Vec::new(),
        measured:
            "this system does not show other programs' CPU, lost segments and dropped packets"
                .to_owned(),
        remedy: Cause::NotMeasured.remedy().to_owned(),
    }
}

fn remark(reason: Reason) -> WeighedReason {
    WeighedReason {
        reason,
        lost_ms: 0.0,
    }
}

fn grade(found: &WeighedReason, failures: &Failures, length_ms: u64) -> Grade {
    let reason = &found.reason;
    let length_ms = length_ms.max(1) as f64;
    let is_moment =
        reason.cause == Cause::WarmUp && reason.length_ms() as f64 / length_ms < LONG_WARM_UP;
    if !reason.cause.spoils() || is_moment {
        return Grade::Valid;
    }
    let of_samples = |count: u64| count as f64 / failures.samples.max(1) as f64;
    let is_invalid = match reason.cause {
        Cause::PortsUsedUp => of_samples(failures.lacking.port) > INVALID_FAILURES,
        Cause::OpenFilesUsedUp => of_samples(failures.lacking.file) > INVALID_FAILURES,
        Cause::MemoryUsedUp => of_samples(failures.lacking.memory) > INVALID_FAILURES,
        Cause::ResultsLost => of_samples(failures.lost_rows) > INVALID_FAILURES,
        Cause::SamplesUnaccounted => {
            of_samples(failures.lost_samples + failures.surplus_samples) > INVALID_FAILURES
        }
        cause => {
            let most = cause.invalid_share();
            most.is_some_and(|most| found.lost_ms / length_ms >= most)
        }
    };
    if is_invalid {
        Grade::Invalid
    } else {
        Grade::Degraded
    }
}

/// Whether to report a cause. A brief stop is a hiccup of the machine, unless the run is so short that it matters.
fn is_worth_telling(found: &WeighedReason, length_ms: u64) -> bool {
    let share = found.lost_ms / length_ms.max(1) as f64;
    let most = found.reason.cause.invalid_share();
    found.reason.cause != Cause::ProcessStopped
        || found.lost_ms >= FROZEN_MS as f64
        || most.is_some_and(|most| share >= most)
}

/// Adds a second to the spans. It extends the last span if that ends where the second begins.
fn extend(spans: &mut Vec<(u64, u64)>, second: &Second) {
    match spans.last_mut() {
        Some(last) if last.1 == second.from_ms => last.1 = second.to_ms,
        _ => spans.push((second.from_ms, second.to_ms)),
    }
}

/// The reasons that single seconds show, one per cause.
fn of_seconds(seconds: &[Second], limits: &Limits) -> Vec<WeighedReason> {
    /// When a cause was seen, and the second in which it was worst.
    struct Stretch<'a> {
        seen: Seen,
        second: &'a Second,
        spans_ms: Vec<(u64, u64)>,
        seconds: usize,
        lost_ms: f64,
    }
    let mut stretches: Vec<Stretch<'_>> = Vec::new();
    for (second, all) in seconds.iter().zip(by_second(seconds, limits)) {
        for seen in all {
            let stretch_index = stretches
                .iter()
                .position(|stretch| stretch.seen.cause == seen.cause)
                .unwrap_or_else(|| {
                    stretches.push(Stretch {
                        seen,
                        second,
                        spans_ms: Vec::new(),
                        seconds: 0,
                        lost_ms: 0.0,
                    });
                    stretches.len() - 1
                });
            let stretch = &mut stretches[stretch_index];
            extend(&mut stretch.spans_ms, second);
            stretch.seconds += 1;
            stretch.lost_ms += seen.lost_ms;
            if seen.extent > stretch.seen.extent {
                (stretch.seen, stretch.second) = (seen, second);
            }
        }
    }
    // Users with the same pace are due at the same time, so one pause of the machine can delay one per cent of a second's users.
    stretches.retain(|stretch| stretch.seconds > 1 || !is_short_delay(stretch.seen));
    let reasons = stretches.into_iter().map(|stretch| {
        let cause = stretch.seen.cause;
        WeighedReason {
            reason: Reason {
                cause,
                spans_ms: stretch.spans_ms,
                measured: measured(cause, stretch.second, limits),
                remedy: cause.remedy().to_owned(),
            },
            lost_ms: stretch.lost_ms,
        }
    });
    reasons.collect()
}

/// Whether users were late, but not enough to affect response times.
fn is_short_delay(seen: Seen) -> bool {
    seen.cause == Cause::ScheduleDelayed && seen.extent < LATE_US as f64
}

fn measured(cause: Cause, second: &Second, limits: &Limits) -> String {
    let cores = limits.cores;
    let of_length = |ms: u64| format!("{ms} ms of {} ms", second.length_ms());
    match cause {
        Cause::ProcessStopped => format!("nothing ran for {} ms", second.frozen_ms),
        Cause::CpuThrottled => format!("without CPU for {}", of_length(second.throttled_ms)),
        Cause::CpuStolen => format!(
            "{:.2} of {}",
            second.cores_stolen.min(cores),
            cores_told(cores)
        ),
        Cause::CpuTakenByOthers => taken_by_others(second, cores),
        Cause::CpuUsedUp => used_up(second, cores),
        Cause::WorkerUsedUp => format!("{:.2} of its core", second.busiest_thread.min(1.0)),
        Cause::WarmUp => {
            "scripts run slower until their classes are loaded and compiled".to_owned()
        }
        Cause::GarbageCollected => of_length(second.garbage_ms),
        Cause::PortsRunningOut => format!(
            "{} of {} ports held by closed connections to one target, 60 s each",
            second.time_wait_to_one,
            port_count(limits).unwrap_or(0)
        ),
        Cause::PacketsDropped => format!(
            "{} packets, and {} of {} own segments were sent again",
            second.packets_dropped, second.segments_retransmitted, second.segments_sent
        ),
        Cause::LoopStalled => match second.scripts_ms {
            0 => format!("{:.0} ms late", ms(second.loop_late_us)),
            _ => format!("{:.0} ms late, while scripts ran", ms(second.loop_late_us)),
        },
        Cause::ScheduleDelayed => delayed(second),
        Cause::ArrivalsLeftOut => {
            let arrivals = second.arrivals;
            format!("{} of {} in a second", arrivals.left_out, arrivals.due)
        }
        Cause::ClockStepped => format!("by {:+.1} s", second.clock_step_ms as f64 / 1000.0),
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
        Cause::DiskStalled => format!("workers waited {}", of_length(second.disk_stalled_ms)),
        Cause::TooShort
        | Cause::NotMeasured
        | Cause::NothingSent
        | Cause::AgentLost
        | Cause::LoadMissing
        | Cause::ClocksApart
        | Cause::NumbersMissing
        | Cause::PortsUsedUp
        | Cause::RateNotReached
        | Cause::ResultsLost
        | Cause::SamplesUnaccounted
        | Cause::TargetOnThisMachine
        | Cause::TargetSilent => String::new(),
    }
}

fn ms(us: u64) -> f64 {
    us as f64 / 1000.0
}

fn delayed(second: &Second) -> String {
    let delay = &second.delay;
    let [p50, p99, max] = [delay.p50_us, delay.p99_us, delay.max_us].map(ms);
    format!("p50 {p50:.1} ms, p99 {p99:.1} ms, at most {max:.1} ms")
}

fn taken_by_others(second: &Second, cores: f64) -> String {
    format!(
        "others used {:.2} of {}{}, {:.2} threads waited for a core",
        second.cores_others,
        cores_told(cores),
        named(&second.programs),
        second.threads_waiting
    )
}

fn used_up(second: &Second, cores: f64) -> String {
    let site = match second.locality {
        Locality::ThisProgram => ", including the target, which runs inside it",
        _ => "",
    };
    let used = second.cores_used.min(cores);
    let mut sentence = format!("{used:.2} of {}{site}", cores_told(cores));
    if second.cores_family >= TOLD_CORES {
        let family = second.cores_family;
        sentence.push_str(&format!(", the run's other processes {family:.2}"));
    }
    let beside = cores_taken_beside(second);
    if beside >= TOLD_CORES {
        let programs = named(&second.programs);
        sentence.push_str(&format!(", other programs {beside:.2}{programs}"));
    }
    sentence
}

/// Programs other than the target, with their CPU, in parentheses.
fn named(programs: &[BusyProgram]) -> String {
    let named: Vec<String> = programs
        .iter()
        .filter(|program| !program.is_target)
        .map(|program| {
            let BusyProgram {
                name,
                process,
                cores,
                ..
            } = program;
            format!("`{name}` {cores:.2}, process {process}")
        })
        .collect();
    if named.is_empty() {
        String::new()
    } else {
        format!(" ({})", named.join("; "))
    }
}

/// Segments that were lost throughout the run, too few in each second to be reported there.
fn lost_on_the_way(seconds: &[Second], found: &[WeighedReason]) -> Option<WeighedReason> {
    let cause = Cause::Retransmits;
    let sent: u64 = seconds.iter().map(|second| second.segments_sent).sum();
    let again: u64 = seconds
        .iter()
        .map(|second| second.segments_retransmitted)
        .sum();
    let is_told = found.iter().any(|found| {
        matches!(
            found.reason.cause,
            Cause::Retransmits | Cause::PacketsDropped
        )
    });
    if is_told || sent < SEGMENTS || (again as f64) < sent as f64 * RETRANSMITTED {
        return None;
    }
    let mut spans_ms = Vec::new();
    let losing = seconds
        .iter()
        .filter(|second| second.segments_retransmitted > 0);
    losing.for_each(|second| extend(&mut spans_ms, second));
    Some(remark(Reason {
        cause,
        spans_ms,
        measured: format!("{again} of {sent} segments sent again"),
        remedy: cause.remedy().to_owned(),
    }))
}

/// Samples that a schedule asked for and that began late, because no user was free. If the generator itself was held up, that
/// cause is reported instead.
fn behind_schedule(
    failures: &Failures,
    length_ms: u64,
    found: &[WeighedReason],
) -> Option<WeighedReason> {
    let cause = Cause::RateNotReached;
    let has_cause = found
        .iter()
        .any(|found| found.reason.cause.invalid_share().is_some());
    (failures.behind_schedule_us >= BEHIND_SCHEDULE_US && !has_cause).then(|| {
        remark(Reason {
            cause,
            spans_ms: vec![(0, length_ms)],
            measured: format!(
                "half of its samples began at least {:.1} s late",
                failures.behind_schedule_us as f64 / 1e6
            ),
            remedy: cause.remedy().to_owned(),
        })
    })
}

/// The target runs on this machine. The spans are those in which it left the generator too little CPU, or else the whole run.
fn target_here(seconds: &[Second], limits: &Limits) -> Option<Reason> {
    let cause = Cause::TargetOnThisMachine;
    let length_ms = seconds.last()?.to_ms;
    seconds.iter().find(is_on_this_machine)?;
    let mut spans_ms = Vec::new();
    let starving = seconds
        .iter()
        .filter(|second| target_took_cpu(second, limits));
    starving.for_each(|second| extend(&mut spans_ms, second));
    let busiest = seconds
        .iter()
        .max_by(|a, b| a.cores_target.total_cmp(&b.cores_target))
        .filter(|second| second.cores_target > 0.0);
    let measured = match busiest {
        None => "the run reached it at an address of this machine".to_owned(),
        Some(second) => {
            let program = second.programs.iter().find(|program| program.is_target);
            let name = program.map_or("it".to_owned(), |program| format!("`{}`", program.name));
            format!(
                "{name} used up to {:.2} of {}, the generator {:.2} meanwhile",
                second.cores_target,
                cores_told(limits.cores),
                second.cores_used
            )
        }
    };
    if spans_ms.is_empty() {
        spans_ms.push((0, length_ms));
    }
    Some(Reason {
        cause,
        spans_ms,
        measured,
        remedy: cause.remedy().to_owned(),
    })
}

fn is_on_this_machine(second: &&Second) -> bool {
    second.locality == Locality::ThisMachine
}

/// Spans in which users ran but no sample ended, although the generator was able to send.
fn silence(seconds: &[Second]) -> Option<Reason> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for second in seconds {
        let is_silent =
            second.samples == 0 && second.users > 0 && !second.held && second.frozen_ms < FROZEN_MS;
        if is_silent {
            extend(&mut spans, second);
        }
    }
    spans.retain(|(from, to)| to - from >= SILENT_MS);
    let longest = spans.iter().map(|(from, to)| to - from).max()?;
    // If no sample ends in most seconds, users are probably thinking, and the target is not silent. A single silence between
    // answers counts, however long it is.
    let silent: u64 = spans.iter().map(|(from, to)| to - from).sum();
    let whole = seconds.last().map(|second| second.to_ms).unwrap_or(0);
    let is_single = spans.len() == 1
        && seconds.iter().all(|second| {
            second.samples > 0
                || second.held
                || spans[0].0 <= second.from_ms && second.to_ms <= spans[0].1
        })
        && spans[0].0 > 0
        && spans[0].1 < whole;
    (is_single || silent * 2 < whole).then(|| Reason {
        cause: Cause::TargetSilent,
        spans_ms: spans,
        measured: format!("no sample ended for {:.1} s", longest as f64 / 1000.0),
        remedy: Cause::TargetSilent.remedy().to_owned(),
    })
}

/// The number of local ports for connections to one target.
pub(crate) fn port_count(limits: &Limits) -> Option<u32> {
    let (first, last) = limits.ports?;
    Some((u32::from(last) + 1).saturating_sub(u32::from(first) + limits.reserved_ports))
}

/// The times at which samples failed because something ran out; the whole run, if no second recorded it.
fn lacking_spans(seconds: &[Second], of: fn(&Shortages) -> u64) -> Vec<(u64, u64)> {
    let mut spans: Vec<(u64, u64)> = Vec::new();
    for second in seconds.iter().filter(|second| of(&second.lacking) > 0) {
        extend(&mut spans, second);
    }
    if spans.is_empty() {
        spans.push((0, seconds.last().map(|second| second.to_ms).unwrap_or(0)));
    }
    spans
}

/// Which samples do not add up.
fn unaccounted(failures: &Failures) -> String {
    match failures.surplus_samples {
        0 => format!(
            "{} without a result",
            counted(failures.lost_samples, "sample")
        ),
        surplus => format!("{} without a sample", counted(surplus, "result")),
    }
}

fn add_failures(
    found: &mut Vec<WeighedReason>,
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
            (|lacking| lacking.port) as fn(&Shortages) -> u64,
            format!(
                "{} found no local port{ports}",
                counted(failures.lacking.port, "sample")
            ),
        ),
        (
            Cause::OpenFilesUsedUp,
            failures.lacking.file,
            |lacking| lacking.file,
            format!(
                "{} could not open a socket or file",
                counted(failures.lacking.file, "sample")
            ),
        ),
        (
            Cause::MemoryUsedUp,
            failures.lacking.memory,
            |lacking| lacking.memory,
            format!(
                "{} got no memory",
                counted(failures.lacking.memory, "sample")
            ),
        ),
        (
            Cause::ResultsLost,
            failures.lost_rows,
            |_| 0,
            format!("rows not written to a file: {}", count(failures.lost_rows)),
        ),
        (
            Cause::SamplesUnaccounted,
            failures.lost_samples + failures.surplus_samples,
            |_| 0,
            unaccounted(failures),
        ),
    ];
    for (cause, count, of, measured) in seen {
        if count == 0 {
            continue;
        }
        found.retain(|found| found.reason.cause != cause);
        found.push(remark(Reason {
            cause,
            spans_ms: lacking_spans(seconds, of),
            measured,
            remedy: cause.remedy().to_owned(),
        }));
    }
}

#[cfg(test)]
mod tests;
