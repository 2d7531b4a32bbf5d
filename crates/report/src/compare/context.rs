//! What differs between two runs besides their numbers: target, plan, data, version, load and machine.

use std::collections::BTreeMap;

use serde::Serialize;

use super::refusals::users;
use crate::run_file::RunFile;

/// Quantities that differ by no more than this share are the same.
const ALIKE: f64 = 0.1;
/// How many digits of a hash are shown.
const DIGITS: usize = 12;
/// What stands for a fact that a run does not have.
const NONE: &str = "–";

/// A fact that is not the same in both runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContextDifference {
    /// What differs, such as `target`.
    pub what: String,
    /// The value in the first run.
    pub before: String,
    /// The value in the other run.
    pub after: String,
}

/// A fact about a run.
struct Fact {
    name: String,
    value: String,
    /// The size of a quantity. No two runs of a plan have exactly the same.
    size: Option<f64>,
}

/// The facts that differ.
pub fn differences(base: &RunFile, other: &RunFile) -> Vec<ContextDifference> {
    let (before, after) = (facts(base), facts(other));
    let mut pairs: Vec<(Option<&Fact>, Option<&Fact>)> = before
        .iter()
        .map(|fact| {
            (
                Some(fact),
                position_of(&after, &fact.name).map(|at| &after[at]),
            )
        })
        .collect();
    let new = after.iter();
    pairs.extend(
        new.filter(|fact| position_of(&before, &fact.name).is_none())
            .map(|fact| (None, Some(fact))),
    );
    // A result file names neither target nor machine, which is no difference.
    let are_run_files = base.plan.is_some() && other.plan.is_some();
    pairs.retain(|pair| match pair {
        (Some(before), Some(after)) => differ(before, after),
        _ => are_run_files,
    });
    pairs
        .into_iter()
        .filter_map(|(before, after)| {
            Some(ContextDifference {
                what: before.or(after)?.name.clone(),
                before: value_of(before),
                after: value_of(after),
            })
        })
        .collect()
}

/// The value of a fact, in words if there is none.
fn value_of(fact: Option<&Fact>) -> String {
    fact.map(|fact| fact.value.clone())
        .unwrap_or_else(|| NONE.to_owned())
}

/// The position of the fact with this name.
fn position_of(facts: &[Fact], name: &str) -> Option<usize> {
    facts.iter().position(|fact| fact.name == name)
}

fn differ(before: &Fact, after: &Fact) -> bool {
    match (before.size, after.size) {
        (Some(one), Some(other)) => (one - other).abs() > ALIKE * one.max(other),
        _ => before.value != after.value,
    }
}

/// What a run was, in the order of display.
fn facts(run: &RunFile) -> Vec<Fact> {
    let mut facts = Vec::new();
    let mut tell = |name: &str, value: String, size: Option<f64>| {
        if !value.is_empty() {
            facts.push(Fact {
                name: name.to_owned(),
                value,
                size,
            });
        }
    };
    tell("target", run.targets.join(", "), None);
    if let Some(plan) = &run.plan {
        let text = format!("{} ({})", plan.path, short(&plan.sha256));
        tell("plan", text, None);
    }
    for file in &run.data {
        let content = file
            .sha256
            .as_deref()
            .map(short)
            .unwrap_or("content not read");
        let text = format!("{} bytes ({content})", file.bytes);
        tell(&format!("data {}", file.path), text, None);
    }
    tell("version", run.tool.clone(), None);
    let seconds = (run.ended_ms - run.started_ms) as f64 / 1000.0;
    let (users, rate) = (f64::from(users(run)), intended_rate(run, seconds));
    if users > 0.0 {
        tell("users", format!("{users} at most"), Some(users));
    }
    tell("duration", format!("{seconds:.0} s"), Some(seconds));
    if rate > 0.0 {
        tell("intended rate", format!("{rate:.1}/s"), Some(rate));
    }
    tell("labels", run.recording.labels.len().to_string(), None);
    // A property may be given twice; the last one holds.
    let properties: BTreeMap<_, _> = run.properties.iter().cloned().collect();
    for (name, value) in &properties {
        tell(name, value.clone(), None);
    }
    for (name, value) in &run.environment {
        tell(name, value.clone(), None);
    }
    facts
}

fn short(hash: &str) -> &str {
    hash.get(..DIGITS).unwrap_or(hash)
}

fn intended_rate(run: &RunFile, seconds: f64) -> f64 {
    let steps = run.recording.timeline.total();
    let intended: u64 = steps.iter().map(|step| step.intended).sum();
    intended as f64 / seconds.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_file::{DataFile, PlanIdentity};
    use drumfire_results::Recording;

    fn run() -> RunFile {
        let mut run = RunFile::new("p.jmx", Recording::default());
        (run.started_ms, run.ended_ms) = (0, 60_000);
        run.plan = Some(PlanIdentity {
            path: "p.jmx".to_owned(),
            sha256: "0123456789abcdef".to_owned(),
        });
        run.targets = vec!["shop:443".to_owned()];
        run
    }

    #[test]
    fn runs_of_one_plan_differ_in_nothing() {
        let mut other = run();
        other.ended_ms += 3_900;
        assert_eq!(differences(&run(), &other), []);
        let rows = RunFile::new("r.jtl", Recording::default());
        let told = differences(&run(), &rows);
        assert!(told.iter().all(|one| one.what == "duration"), "{told:?}");
    }

    #[test]
    fn target_plan_data_version_and_properties_are_told() {
        let mut other = run();
        other.targets = vec!["stage:443".to_owned()];
        other.plan.as_mut().expect("a plan").sha256 = "fedcba9876543210".to_owned();
        other.tool = "drumfire 9.9.9".to_owned();
        other.ended_ms = 300_000;
        other.properties = vec![("-Jusers".to_owned(), "30".to_owned())];
        other.data = vec![DataFile {
            path: "users.csv".to_owned(),
            bytes: 7,
            sha256: None,
        }];
        let told = differences(&run(), &other);
        let whats: Vec<&str> = told.iter().map(|one| one.what.as_str()).collect();
        let expected = [
            "target",
            "plan",
            "version",
            "duration",
            "data users.csv",
            "-Jusers",
        ];
        assert_eq!(whats, expected);
        assert_eq!(told[0].before, "shop:443");
        assert_eq!(told[1].after, "p.jmx (fedcba987654)");
        assert_eq!(
            (told[5].before.as_str(), told[5].after.as_str()),
            ("–", "30")
        );
    }
}
