//! Converts the verdict and the generator's health to the form in which run files and pages show them.

use drumfire_health::{Reason, Second, Verdict};
use drumfire_report::{HealthGroup, HealthLine, RunVerdict, VerdictReason};

/// The verdict with absolute times, which stay true when runs are merged.
pub fn run_verdict(verdict: &Verdict, started_ms: i64) -> RunVerdict {
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

/// A line of a chart: its name, the value that it shows of a second, and whether to omit it if it is always zero.
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

/// The generator's health in each second of a run that started at `started_ms`, and the load of each core. Charts without any
/// line are omitted.
pub fn health(seconds: &[Second], started_ms: i64) -> Vec<HealthGroup> {
    let mut groups = charts(seconds, started_ms);
    groups.extend(each_core(seconds, started_ms));
    groups
}

fn charts(seconds: &[Second], started_ms: i64) -> Vec<HealthGroup> {
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

/// Up to this many cores are shown one by one; of more, only the distribution.
const FEW_CORES: usize = 8;

/// The utilisation of each core, by all programs on the machine.
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

/// Rounds to three decimals.
pub fn thousandths(value: f64) -> f64 {
    (value * 1000.0).round() / 1000.0
}

#[cfg(test)]
mod tests {
    use super::*;
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
        assert_eq!(charts(&seconds, 5_000)[0].at_ms, [6_000, 7_000]);
        assert_eq!(charts(&seconds, 5_000)[0].lines[0].values, [0.123; 2]);
        seconds[1].delay = Delay {
            count: 1,
            p50_us: 10,
            p99_us: 2_000,
            max_us: 3_000,
        };
        seconds[1].throttled_ms = 500;
        assert_eq!(names(&seconds)[0], ("Schedule delay".to_owned(), 3));
        assert_eq!(charts(&seconds, 0)[1].lines[3].values, [0.0, 0.5]);
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
}
