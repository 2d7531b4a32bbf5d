//! Refuses to compare runs whose difference would mean nothing: another load, another plan, or numbers that
//! cannot be trusted.

use std::collections::HashSet;

use drumfire_platform::words::counted;

use crate::escape;
use crate::run_file::RunFile;

/// If the numbers of users differ by more than this share, the load is another.
const OTHER_LOAD: f64 = 0.1;
/// If two different plans have less than this share of their labels in common, they are unrelated.
const COMMON_LABELS: f64 = 0.5;

/// Why two runs must not be compared, each reason in a sentence.
pub fn refusals(base: &RunFile, other: &RunFile) -> Vec<String> {
    let mut refusals = Vec::new();
    for run in [base, other] {
        if let Some(verdict) = run
            .verdict
            .as_ref()
            .filter(|verdict| verdict.state == "INVALID")
        {
            let reasons = verdict.reasons.iter().map(|reason| reason.what.as_str());
            refusals.push(format!(
                "{} is INVALID: {}",
                escape::name(&run.name),
                reasons.collect::<Vec<_>>().join(", ")
            ));
        }
    }
    let is_other_plan = match (&base.plan, &other.plan) {
        (Some(first), Some(second)) => first.sha256 != second.sha256,
        _ => false,
    };
    let common = common_labels(base, other);
    if is_other_plan && common < COMMON_LABELS {
        refusals.push(format!(
            "the plans differ, and only {:.0} % of the labels are in both",
            common * 100.0
        ));
    }
    let [first, second] = [base, other].map(users);
    let apart = f64::from(first.abs_diff(second)) / f64::from(first.max(second).max(1));
    if first > 0 && second > 0 && apart > OTHER_LOAD {
        refusals.push(format!(
            "the load differs: {} in {}, {second} in {}",
            counted(first.into(), "user"),
            escape::name(&base.name),
            escape::name(&other.name)
        ));
    }
    refusals
}

/// The largest number of users that ran at the same time; 0 if it was not recorded.
pub fn users(run: &RunFile) -> u32 {
    let steps = run.recording.timeline.total().iter();
    steps.map(|step| step.users).max().unwrap_or(0)
}

fn common_labels(base: &RunFile, other: &RunFile) -> f64 {
    let (here, there) = (labels(base), labels(other));
    let all = here.union(&there).count();
    here.intersection(&there).count() as f64 / all.max(1) as f64
}

fn labels(run: &RunFile) -> HashSet<String> {
    let labels = run.recording.labels.iter();
    labels.map(|label| label.label.clone()).collect()
}

#[cfg(test)]
mod tests {
    use drumfire_results::{Recording, Sample};

    use super::*;
    use crate::run_file::{PlanIdentity, RunVerdict, VerdictReason};

    fn run(name: &str, label: &str, users: u32) -> RunFile {
        let mut sample = Sample::new(label.to_owned().into(), "t".into());
        sample.set_ok();
        sample.start_ms = 1_772_359_200_000;
        sample.set_end(sample.start_ms + 5);
        sample.all_threads = users;
        let mut recording = Recording::default();
        recording.add(&sample);
        let mut run = RunFile::new(name, recording);
        run.plan = Some(PlanIdentity {
            path: format!("{name}.jmx"),
            sha256: name.to_owned(),
        });
        run
    }

    #[test]
    fn another_load_or_plan_and_invalid_numbers_are_no_comparison() {
        let base = run("a", "Login", 10);
        assert_eq!(refusals(&base, &run("b", "Login", 10)), [""; 0]);
        assert_eq!(refusals(&base, &run("b", "Login", 11)), [""; 0]);
        assert_eq!(
            refusals(&base, &run("b", "Login", 20)),
            ["the load differs: 10 users in a, 20 in b"]
        );
        assert_eq!(
            refusals(&base, &run("b", "Other", 10)),
            ["the plans differ, and only 0 % of the labels are in both"]
        );
        let mut invalid = run("b", "Login", 10);
        invalid.verdict = Some(RunVerdict {
            state: "INVALID".to_owned(),
            reasons: vec![VerdictReason {
                what: "the generator was stopped".to_owned(),
                measured: String::new(),
                remedy: String::new(),
                spans_ms: Vec::new(),
            }],
        });
        assert_eq!(
            refusals(&base, &invalid),
            ["b is INVALID: the generator was stopped"]
        );
    }
}
