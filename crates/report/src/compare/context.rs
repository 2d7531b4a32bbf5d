//! What differs between two runs besides their numbers: target, plan, data, version, load and machine.

use std::collections::BTreeMap;

use serde::Serialize;

use super::refusals::users;
use crate::run_file::RunFile;

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

/// The facts that differ.
pub fn differences(base: &RunFile, other: &RunFile) -> Vec<ContextDifference> {
    let (before, after) = (facts(base), facts(other));
    let mut names: Vec<&String> = before.iter().map(|(name, _)| name).collect();
    let new = after.iter().map(|(name, _)| name);
    names.extend(new.filter(|name| !before.iter().any(|(known, _)| known == *name)));
    let value = |facts: &[(String, String)], name: &String| {
        let found = facts.iter().find(|(known, _)| known == name);
        found.map_or_else(|| NONE.to_owned(), |(_, value)| value.clone())
    };
    let all = names.into_iter().map(|name| ContextDifference {
        what: name.clone(),
        before: value(&before, name),
        after: value(&after, name),
    });
    // A result file names neither target nor machine, which is no difference.
    let is_known = |one: &ContextDifference| {
        let is_optional = [&one.before, &one.after].iter().any(|value| *value == NONE);
        !is_optional || (base.plan.is_some() && other.plan.is_some())
    };
    all.filter(|one| one.before != one.after && is_known(one))
        .collect()
}

/// What a run was, as names and values in the order of display.
fn facts(run: &RunFile) -> Vec<(String, String)> {
    let mut facts = Vec::new();
    let mut tell = |name: &str, value: String| {
        if !value.is_empty() {
            facts.push((name.to_owned(), value));
        }
    };
    tell("target", run.targets.join(", "));
    if let Some(plan) = &run.plan {
        tell("plan", format!("{} ({})", plan.path, short(&plan.sha256)));
    }
    for file in &run.data {
        let content = file.sha256.as_deref().map(short);
        let content = content.unwrap_or("content not read");
        tell(
            &format!("data {}", file.path),
            format!("{} bytes ({content})", file.bytes),
        );
    }
    tell("version", run.tool.clone());
    if users(run) > 0 {
        tell("users", format!("{} at most", users(run)));
    }
    tell("duration", duration(run));
    tell("intended rate", intended_rate(run));
    tell("labels", run.recording.labels.len().to_string());
    // A property may be given twice; the last one holds.
    let properties: BTreeMap<_, _> = run.properties.iter().cloned().collect();
    for (name, value) in properties
        .iter()
        .chain(run.environment.iter().map(|(a, b)| (a, b)))
    {
        tell(name, value.clone());
    }
    facts
}

fn short(hash: &str) -> &str {
    &hash[..hash.len().min(DIGITS)]
}

/// Rounded, because two runs of a plan never take the same time.
fn duration(run: &RunFile) -> String {
    let seconds = (run.ended_ms - run.started_ms) as f64 / 1000.0;
    let unit = if seconds < 100.0 { 5.0 } else { 30.0 };
    format!("about {:.0} s", (seconds / unit).round().max(0.2) * unit)
}

fn intended_rate(run: &RunFile) -> String {
    let steps = run.recording.timeline.total();
    let intended: u64 = steps.iter().map(|step| step.intended).sum();
    let seconds = ((run.ended_ms - run.started_ms) as f64 / 1000.0).max(1.0);
    match intended as f64 / seconds {
        0.0 => String::new(),
        rate if rate < 10.0 => format!("{rate:.1}/s"),
        rate => format!("{:.0}/s", (rate / 5.0).round() * 5.0),
    }
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
        other.ended_ms += 1_200;
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
