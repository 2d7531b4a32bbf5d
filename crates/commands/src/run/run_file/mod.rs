//! The record of a run beside its samples: the plan, the machine, and where the time of samples went.

pub mod facts;
pub mod fingerprint;
pub mod kept_run;

use std::fs;
use std::path::Path;

use drumfire_engine::GroupView;
use drumfire_fleet::AgentOutcome;
use drumfire_health::{Stage, StageTimes};
use drumfire_platform::secrets;
use drumfire_report::{Mark, RunAgent, RunFile, ThresholdResult, TimeUse, TimedPart};

use jiff::Timestamp;

use crate::calibrate::kept::Calibration;
use crate::engine::Outcome;
use crate::run::run_file::facts::{health, run_verdict, thousandths};
use crate::run::run_file::fingerprint::Fingerprint;
use crate::settings::options::{Change, PropertyOptions};
use crate::terminal::summary::cpu_us;

/// The facts of a run before its first sample.
pub fn begun(plan: &Fingerprint, now_ms: i64) -> RunFile {
    let mut run = drumfire_report::begun(plan_name(plan.shown()), now_ms);
    run.plan = plan.get();
    run.environment = plan.environment().to_vec();
    run
}

fn plan_name(plan: &Path) -> String {
    let name = plan.file_name().unwrap_or(plan.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Collects everything that is known of a run.
pub fn run_file(
    outcome: Outcome,
    plan: &Fingerprint,
    thresholds: Vec<ThresholdResult>,
    groups: &[GroupView],
) -> RunFile {
    let mut run = RunFile::new(plan_name(plan.shown()), outcome.recording);
    run.plan = plan.get();
    (run.started_ms, run.ended_ms) = (outcome.started_ms, outcome.ended_ms);
    run.environment = plan.environment().to_vec();
    run.targets = outcome.targets;
    run.thresholds = thresholds;
    run.connections = Some(outcome.connections);
    run.balance = outcome.balance;
    run.planned_users = planned_users(groups, run.started_ms, run.ended_ms);
    run.verdict = outcome
        .verdict
        .map(|verdict| run_verdict(&verdict, run.started_ms));
    run.health = health(&outcome.seconds, run.started_ms);
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

/// Adds the agents of a run: a row for each and, if there are several, the charts of each as for a run on one machine.
pub fn add_agents(run: &mut RunFile, agents: &[AgentOutcome]) {
    for agent in agents {
        run.agents.push(run_agent(agent));
        let Some(end) = &agent.end else { continue };
        let mut charts = health(&end.seconds, end.started_ms);
        if agents.len() > 1 {
            for chart in &mut charts {
                chart.name = format!("{}: {}", agent.name, chart.name);
            }
            run.health.extend(charts);
        }
    }
}

fn run_agent(agent: &AgentOutcome) -> RunAgent {
    let end = agent.end.as_ref();
    let verdict = end.and_then(|end| end.verdict.as_ref());
    RunAgent {
        name: agent.name.clone(),
        state: if end.is_some() { "done" } else { "lost" }.to_owned(),
        users: agent.users,
        samples: agent.samples,
        late_ms: Some(agent.late_us as f64 / 1e3),
        offset_ms: Some(agent.offset_ns as f64 / 1e6),
        bound_ms: Some(agent.bound_ns as f64 / 1e6),
        verdict: verdict.map(|verdict| verdict.grade.to_string()),
    }
}

/// Properties that the command line sets, in its order. The values of secret ones are masked.
pub fn given(properties: &PropertyOptions) -> Vec<(String, String)> {
    let given = properties
        .all_changes()
        .into_iter()
        .map(|change| match change {
            Change::Property(name, given) => (format!("-J{name}"), value(&name, &given)),
            Change::System(name, given) => (format!("-D{name}"), value(&name, &given)),
            Change::File(file) => ("-q".to_owned(), file.display().to_string()),
            Change::SystemFile(file) => ("-S".to_owned(), file.display().to_string()),
        });
    given.collect()
}

fn value(name: &str, value: &str) -> String {
    secrets::shown(name, value).into_owned()
}

/// Where the time of samples went; `None` if no sample was timed.
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

/// The machine that generates the load.
fn environment() -> Vec<(String, String)> {
    let mut rows = vec![
        (
            "host".to_owned(),
            gethostname::gethostname().to_string_lossy().into_owned(),
        ),
        ("system".to_owned(), system()),
    ];
    let processors = drumfire_platform::processes::cores();
    rows.push(("processors".to_owned(), processors.to_string()));
    if let Some(mib) = memory_mib() {
        rows.push(("memory".to_owned(), format!("{mib} MiB")));
    }
    // The limit was raised when the program began.
    if let Some(limit) = drumfire_health::raise_open_files() {
        rows.push(("open files".to_owned(), format!("at most {limit}")));
    }
    if let Some(calibration) = Calibration::last(drumfire_platform::variable) {
        let now_ms = Timestamp::now().as_millisecond();
        rows.push(("calibrated".to_owned(), calibration.sentence(now_ms)));
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

/// The memory of this machine, in MiB.
pub fn memory_mib() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kib: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

/// The planned number of users over time, in milliseconds since the Unix epoch, as if all main thread groups started
/// with the run. Setup and teardown groups are left out.
fn planned_users(groups: &[GroupView], started_ms: i64, ended_ms: i64) -> Vec<(i64, u64)> {
    if groups
        .iter()
        .filter(is_main)
        .any(|group| !group.load.is_empty())
    {
        // The number of users that such a group needs depends on the server.
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
    // Within a second, keep only the last number.
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

fn is_main(group: &&GroupView) -> bool {
    !matches!(group.class, "SetupThreadGroup" | "PostThreadGroup")
}

#[cfg(test)]
mod tests {
    use super::*;
    use drumfire_engine::UserWindow;

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
            by_java: None,
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
