//! What is recorded of a run beside its samples: the plan, the machine, the verdict, how the generator was doing.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use drumfire_engine::GroupView;
use drumfire_health::{Reason, Second, Stage, StageTimes, Verdict};
use drumfire_report::{
    HealthGroup, HealthLine, Mark, PlanIdentity, RunFile, RunVerdict, ThresholdResult, TimeUse,
    TimedPart, VerdictReason,
};
use drumfire_results::{MASK, Recording, Threshold, is_secret};
use sha2::{Digest, Sha256};

use crate::engine::Outcome;
use crate::options::{Change, PropertyOptions};
use crate::terminal::summary::cpu_us;

/// What is known of a run before its first sample.
pub fn begun(plan: &Path, now_ms: i64) -> RunFile {
    let mut run = drumfire_report::begun(plan_name(plan), now_ms);
    run.plan = plan_identity(plan);
    run.environment = environment();
    run
}

fn plan_name(plan: &Path) -> String {
    let name = plan.file_name().unwrap_or(plan.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Everything that is known of a run.
pub fn run_file(
    outcome: Outcome,
    plan: &Path,
    thresholds: &[Threshold],
    groups: &[GroupView],
) -> RunFile {
    let mut run = RunFile::new(plan_name(plan), outcome.recording);
    run.plan = plan_identity(plan);
    (run.started_ms, run.ended_ms) = (outcome.started_ms, outcome.ended_ms);
    run.environment = environment();
    run.targets = outcome.targets;
    run.thresholds = threshold_results(thresholds, &run.recording);
    run.connections = Some(outcome.connections);
    run.planned_users = planned_users(groups, run.started_ms, run.ended_ms);
    run.verdict = outcome
        .verdict
        .map(|verdict| run_verdict(&verdict, run.started_ms));
    run.health = health(&outcome.seconds, run.started_ms);
    run.health
        .extend(each_core(&outcome.seconds, run.started_ms));
    run.time_use = time_use(&outcome.stages, cpu_us(&outcome.seconds));
    let marks = outcome.marks.into_iter();
    run.marks = marks
        .map(|mark| Mark {
            at_ms: mark.at_ms,
            text: mark.text,
        })
        .collect();
    run
}

/// Properties that were given on the command line, in its order; the values of secret ones are masked.
pub fn given(properties: &PropertyOptions) -> Vec<(String, String)> {
    let value = |name: &str, value: &str| match is_secret(name) {
        true => MASK.to_owned(),
        false => value.to_owned(),
    };
    let given = properties.changes.iter().map(|change| match change {
        Change::Property(name, given) => (format!("-J{name}"), value(name, given)),
        Change::System(name, given) => (format!("-D{name}"), value(name, given)),
        Change::File(file) => ("-q".to_owned(), file.display().to_string()),
        Change::SystemFile(file) => ("-S".to_owned(), file.display().to_string()),
    });
    given.collect()
}

/// The verdict with moments of the calendar, which stay true when runs are merged.
fn run_verdict(verdict: &Verdict, started_ms: i64) -> RunVerdict {
    let at = |ms: u64| started_ms.saturating_add_unsigned(ms);
    let reason = |reason: &Reason| VerdictReason {
        what: reason.cause.title().to_owned(),
        measured: reason.measured.clone(),
        remedy: reason.remedy.clone(),
        spans_ms: reason
            .spans_ms
            .iter()
            .map(|&(from, to)| (at(from), at(to)))
            .collect(),
    };
    RunVerdict {
        state: verdict.grade.to_string(),
        reasons: verdict.reasons.iter().map(reason).collect(),
    }
}

/// A line of a chart: its name, what it shows of a second, and whether it is left out where it is always zero.
type Line = (&'static str, fn(&Second) -> f64, bool);

/// The charts: name, unit, lines.
const CHARTS: [(&str, &str, &[Line]); 10] = [
    (
        "Schedule delay",
        "ms",
        &[
            (
                "median",
                |second| second.delay.p50_us as f64 / 1000.0,
                false,
            ),
            ("99th", |second| second.delay.p99_us as f64 / 1000.0, false),
            (
                "maximum",
                |second| second.delay.max_us as f64 / 1000.0,
                false,
            ),
        ],
    ),
    (
        "CPU",
        "cores",
        &[
            ("this program", |second| second.cores_used, false),
            ("other programs", |second| second.cores_others, false),
            (
                "busiest thread of this program",
                |second| second.busiest_thread,
                true,
            ),
            (
                "threads waiting for a core",
                |second| second.threads_waiting,
                false,
            ),
            ("kept by the hypervisor", |second| second.cores_stolen, true),
            (
                "kept back by a quota",
                |second| second.throttled_ms as f64 / second.length_ms() as f64,
                true,
            ),
        ],
    ),
    (
        "Stalls",
        "ms",
        &[
            (
                "event loop late",
                |second| second.loop_late_us as f64 / 1000.0,
                false,
            ),
            (
                "whole process stopped",
                |second| second.frozen_ms as f64,
                true,
            ),
            (
                "garbage collection",
                |second| second.garbage_ms as f64,
                true,
            ),
        ],
    ),
    (
        "Java",
        "users",
        &[(
            "in scripts and Java elements",
            |second| second.scripts_ms as f64 / second.length_ms() as f64,
            true,
        )],
    ),
    (
        "Arrivals",
        "/s",
        &[
            (
                "due",
                |second| per_second(second, second.arrivals.due),
                true,
            ),
            (
                "not started",
                |second| per_second(second, second.arrivals.left_out),
                true,
            ),
        ],
    ),
    (
        "Sockets",
        "",
        &[
            ("open files", |second| second.open_files as f64, false),
            ("TIME_WAIT", |second| second.time_wait as f64, false),
            (
                "TIME_WAIT towards one target",
                |second| second.time_wait_to_one as f64,
                true,
            ),
        ],
    ),
    (
        "Connections",
        "/s",
        &[
            (
                "opened",
                |second| per_second(second, second.connections.opened),
                true,
            ),
            (
                "used again",
                |second| per_second(second, second.connections.reused),
                true,
            ),
            (
                "full TLS handshakes",
                |second| per_second(second, second.connections.handshakes_full),
                true,
            ),
            (
                "resumed TLS handshakes",
                |second| per_second(second, second.connections.handshakes_resumed),
                true,
            ),
        ],
    ),
    (
        "TCP segments sent again",
        "%",
        &[(
            "of all segments",
            |second| {
                second.segments_retransmitted as f64 * 100.0 / second.segments_sent.max(1) as f64
            },
            false,
        )],
    ),
    (
        "Memory",
        "MiB",
        &[("in RAM", |second| second.memory_bytes as f64 / MIB, false)],
    ),
    (
        "Results waiting for the disk",
        "MiB",
        &[(
            "rows in memory",
            |second| second.backlog_bytes as f64 / MIB,
            true,
        )],
    ),
];

fn per_second(second: &Second, count: u64) -> f64 {
    count as f64 * 1000.0 / second.length_ms() as f64
}

const MIB: f64 = (1 << 20) as f64;

/// How the generator was doing. A chart without any line is left out.
fn health(seconds: &[Second], started_ms: i64) -> Vec<HealthGroup> {
    let at_ms: Vec<i64> = seconds
        .iter()
        .map(|second| started_ms.saturating_add_unsigned(second.to_ms))
        .collect();
    let has_due = seconds.iter().any(|second| second.delay.count > 0);
    let charts = CHARTS
        .iter()
        .filter(|(name, ..)| has_due || *name != CHARTS[0].0);
    charts
        .map(|(name, unit, lines)| HealthGroup {
            name: (*name).to_owned(),
            unit: (*unit).to_owned(),
            at_ms: at_ms.clone(),
            lines: lines
                .iter()
                .map(|(name, of, is_rare)| (name, is_rare, seconds.iter().map(of).collect()))
                .filter(|(_, is_rare, values): &(_, _, Vec<f64>)| {
                    !**is_rare || values.iter().any(|value| *value > 0.0)
                })
                .map(|(name, _, values)| HealthLine {
                    name: (*name).to_owned(),
                    values: values.into_iter().map(thousandths).collect(),
                })
                .collect(),
        })
        .filter(|group| !group.at_ms.is_empty() && !group.lines.is_empty())
        .collect()
}

/// Cores that are shown one by one; of more, how they are spread.
const FEW_CORES: usize = 8;

/// How busy each core was, with whatever ran there.
fn each_core(seconds: &[Second], started_ms: i64) -> Option<HealthGroup> {
    let cores = seconds.iter().map(|second| second.each_core.len()).min()?;
    let line = |name: String, of: &dyn Fn(&[f64]) -> f64| HealthLine {
        name,
        values: seconds
            .iter()
            .map(|second| thousandths(of(&second.each_core) * 100.0))
            .collect(),
    };
    let lines = match cores {
        0 => return None,
        1..=FEW_CORES => (0..cores)
            .map(|core| line(format!("core {core}"), &|shares| shares[core]))
            .collect(),
        _ => [("busiest", 1.0), ("median", 0.5), ("least busy", 0.0)]
            .map(|(name, share)| {
                let of = move |shares: &[f64]| {
                    let mut sorted = shares.to_vec();
                    sorted.sort_by(f64::total_cmp);
                    sorted[((sorted.len() - 1) as f64 * share) as usize]
                };
                line(format!("{name} of {cores}"), &of)
            })
            .into(),
    };
    Some(HealthGroup {
        name: "CPU of each core".to_owned(),
        unit: "%".to_owned(),
        at_ms: seconds
            .iter()
            .map(|second| started_ms.saturating_add_unsigned(second.to_ms))
            .collect(),
        lines,
    })
}

/// Where the time of samples went; none if no sample was timed.
fn time_use(stages: &StageTimes, cpu_us: Option<f64>) -> Option<TimeUse> {
    let parts = Stage::ALL.iter().map(|stage| TimedPart {
        name: stage.title().to_owned(),
        mean_us: thousandths(stages.mean_us(*stage)),
        is_own_work: stage.is_own_work(),
    });
    (stages.samples > 0).then(|| TimeUse {
        samples: stages.samples,
        cpu_us: cpu_us.map(thousandths),
        parts: parts.filter(|part| part.mean_us > 0.0).collect(),
    })
}

fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

/// What became of the thresholds.
pub fn threshold_results(thresholds: &[Threshold], recording: &Recording) -> Vec<ThresholdResult> {
    let verdicts = thresholds
        .iter()
        .map(|threshold| threshold.judge(recording));
    verdicts
        .map(|verdict| ThresholdResult {
            text: verdict.text().to_owned(),
            is_met: verdict.is_met(),
            value: verdict.value(),
            limit: verdict.limit(),
            unit: verdict.unit().to_owned(),
            told: verdict.to_string(),
        })
        .collect()
}

/// The plan and what tells it from others.
fn plan_identity(plan: &Path) -> Option<PlanIdentity> {
    let digest = Sha256::digest(fs::read(plan).ok()?);
    Some(PlanIdentity {
        path: plan.display().to_string(),
        sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

/// Where the load comes from.
fn environment() -> Vec<(String, String)> {
    let mut rows = vec![
        (
            "host".to_owned(),
            gethostname::gethostname().to_string_lossy().into_owned(),
        ),
        ("system".to_owned(), system()),
    ];
    if let Ok(processors) = std::thread::available_parallelism() {
        rows.push(("processors".to_owned(), processors.to_string()));
    }
    if let Some(mib) = memory_mib() {
        rows.push(("memory".to_owned(), format!("{mib} MiB")));
    }
    // Raised when the program began.
    if let Some(limit) = drumfire_health::raise_open_files() {
        rows.push(("open files".to_owned(), format!("at most {limit}")));
    }
    rows
}

fn system() -> String {
    let name = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    match fs::read_to_string("/proc/sys/kernel/osrelease") {
        Ok(release) => format!("{name}, kernel {}", release.trim()),
        Err(_) => name,
    }
}

fn memory_mib() -> Option<u64> {
    let mut text = String::new();
    File::open("/proc/meminfo")
        .ok()?
        .read_to_string(&mut text)
        .ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// How many users are meant to run, from moment to moment, in milliseconds since the Unix epoch: all main thread groups
/// as if they started with the run. Setup and teardown groups are left out.
fn planned_users(groups: &[GroupView], started_ms: i64, ended_ms: i64) -> Vec<(i64, u64)> {
    let is_main =
        |group: &&GroupView| !matches!(group.class, "SetupThreadGroup" | "PostThreadGroup");
    if groups
        .iter()
        .filter(is_main)
        .any(|group| !group.load.is_empty())
    {
        // How many users such a group needs depends on the server.
        return Vec::new();
    }
    let windows = groups
        .iter()
        .filter(is_main)
        .filter(|group| group.fault.is_none());
    let mut changes: Vec<(i64, i64)> = Vec::new();
    for window in windows.flat_map(|group| &group.users) {
        changes.push((started_ms.saturating_add_unsigned(window.start_ms), 1));
        if let Some(stop_ms) = window.stop_ms {
            changes.push((started_ms.saturating_add_unsigned(stop_ms), -1));
        }
    }
    changes.retain(|(at_ms, _)| *at_ms <= ended_ms);
    changes.sort_unstable();
    // Within a second, only the last number is told.
    let mut planned: Vec<(i64, u64)> = Vec::new();
    let mut users = 0i64;
    for (at_ms, change) in changes {
        users += change;
        let now = (at_ms, users.max(0) as u64);
        match planned
            .last_mut()
            .filter(|last| last.0.div_euclid(1000) == at_ms.div_euclid(1000))
        {
            Some(last) => *last = now,
            None => planned.push(now),
        }
    }
    planned
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_engine::UserWindow;
    use drumfire_health::{Cause, Delay, Grade};

    #[test]
    fn the_verdict_is_told_in_moments_of_the_calendar() {
        let verdict = Verdict {
            grade: Grade::Degraded,
            reasons: vec![Reason {
                cause: Cause::CpuThrottled,
                spans_ms: vec![(1_000, 3_000), (5_000, 6_000)],
                measured: "without CPU for 400 ms of 1000 ms".to_owned(),
                remedy: "raise the limit".to_owned(),
            }],
            length_ms: 9_000,
        };
        let told = run_verdict(&verdict, 1_700_000_000_000);
        assert_eq!(told.state, "DEGRADED");
        let reason = &told.reasons[0];
        assert_eq!(reason.what, Cause::CpuThrottled.title());
        assert_eq!(
            reason.spans_ms,
            [
                (1_700_000_001_000, 1_700_000_003_000),
                (1_700_000_005_000, 1_700_000_006_000)
            ]
        );
    }

    #[test]
    fn health_shows_what_was_seen_and_leaves_out_what_never_was() {
        let mut seconds = [Second::default(), Second::default()];
        for (place, second) in seconds.iter_mut().enumerate() {
            second.to_ms = (place as u64 + 1) * 1000;
            second.from_ms = place as u64 * 1000;
            second.cores_used = 0.123_456;
            second.loop_late_us = 1_500;
        }
        let names = |seconds: &[Second]| -> Vec<(String, usize)> {
            let groups = health(seconds, 5_000).into_iter();
            groups
                .map(|group| (group.name, group.lines.len()))
                .collect()
        };
        let quiet = [("CPU", 3), ("Stalls", 1), ("Sockets", 2)];
        let quiet = quiet.map(|(name, lines)| (name.to_owned(), lines));
        assert_eq!(names(&seconds)[..3], quiet);
        assert_eq!(health(&seconds, 5_000)[0].at_ms, [6_000, 7_000]);
        assert_eq!(health(&seconds, 5_000)[0].lines[0].values, [0.123; 2]);
        seconds[1].delay = Delay {
            count: 1,
            p50_us: 10,
            p99_us: 2_000,
            max_us: 3_000,
        };
        seconds[1].throttled_ms = 500;
        assert_eq!(names(&seconds)[0], ("Schedule delay".to_owned(), 3));
        assert_eq!(health(&seconds, 0)[1].lines[3].values, [0.0, 0.5]);
        assert!(health(&[], 0).is_empty());
    }

    #[test]
    fn few_cores_are_shown_one_by_one_and_many_by_how_they_are_spread() {
        let second = |each_core: Vec<f64>| Second {
            to_ms: 1000,
            each_core,
            ..Second::default()
        };
        let lines = |seconds: &[Second]| -> Vec<(String, Vec<f64>)> {
            let lines = each_core(seconds, 0).map_or(Vec::new(), |group| group.lines);
            lines
                .into_iter()
                .map(|line| (line.name, line.values))
                .collect()
        };
        assert_eq!(
            lines(&[second(vec![0.5, 1.0]), second(vec![0.25, 0.0])]),
            [
                ("core 0".to_owned(), vec![50.0, 25.0]),
                ("core 1".to_owned(), vec![100.0, 0.0])
            ]
        );
        let many = (0..=10).map(|core| f64::from(core) / 10.0).collect();
        assert_eq!(
            lines(&[second(many)]),
            [
                ("busiest of 11".to_owned(), vec![100.0]),
                ("median of 11".to_owned(), vec![50.0]),
                ("least busy of 11".to_owned(), vec![0.0])
            ]
        );
        assert!(lines(&[second(Vec::new())]).is_empty() && lines(&[]).is_empty());
    }

    #[test]
    fn time_use_leaves_out_what_never_was() {
        let mut stages = StageTimes::default();
        stages.samples = 2;
        assert_eq!(time_use(&StageTimes::default(), None), None);
        stages.add(Stage::Wait, 3_000);
        stages.add(Stage::Record, 1_000);
        let told = time_use(&stages, Some(7.0)).expect("two samples were timed");
        let parts = told.parts.iter();
        let parts: Vec<_> = parts
            .map(|part| (part.name.as_str(), part.mean_us, part.is_own_work))
            .collect();
        assert_eq!(parts, [("wait", 1.5, false), ("record", 0.5, true)]);
        assert_eq!((told.samples, told.cpu_us), (2, Some(7.0)));
    }

    #[test]
    fn planned_users_come_and_go() {
        let window = |start_ms, stop_ms| UserWindow { start_ms, stop_ms };
        let group = |class, users| GroupView {
            name: "g".to_owned(),
            class,
            iterations: None,
            fault: None,
            known_at_start: Vec::new(),
            users,
            load: Vec::new(),
        };
        let groups = [
            group(
                "ThreadGroup",
                vec![
                    window(0, Some(5_000)),
                    window(500, Some(5_000)),
                    window(2_000, None),
                ],
            ),
            group("SetupThreadGroup", vec![window(0, None)]),
        ];
        assert_eq!(
            planned_users(&groups, 10_000, 99_000),
            [(10_500, 2), (12_000, 3), (15_000, 1)]
        );
    }
}
