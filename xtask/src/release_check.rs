//! `cargo xtask release-check`: everything that must pass before a release, including the parts that are too slow for every change.

use std::time::Instant;

use anyhow::bail;
use xtask::{cargo, root, run};

/// One part of the check. To extend the check, add a row to [`STEPS`].
struct CheckStep {
    name: &'static str,
    check: fn() -> anyhow::Result<()>,
}

/// In order of cost: the quick parts report first.
const STEPS: &[CheckStep] = &[
    CheckStep {
        name: "test",
        check: super::test_all,
    },
    CheckStep {
        name: "package",
        check: package,
    },
    CheckStep {
        name: "integrations",
        check: || super::integrations::test(&[]),
    },
    CheckStep {
        name: "compare",
        check: compare,
    },
    CheckStep {
        name: "faults",
        check: || super::tools(&["faults"]),
    },
    CheckStep {
        name: "fuzz",
        check: || super::fuzz::fuzz(&["--seconds", "120"]),
    },
    CheckStep {
        name: "bench",
        check: || super::tools(&["bench"]),
    },
];

/// Runs the steps with these names, or all of them. After a step fails, the others still run.
///
/// # Errors
/// A name is unknown, or at the end if a step has failed.
pub fn check(names: &[&str]) -> anyhow::Result<()> {
    let steps = chosen(names)?;
    let mut failed = Vec::new();
    for step in steps {
        println!("== {}", step.name);
        let start = Instant::now();
        let outcome = (step.check)();
        let seconds = start.elapsed().as_secs();
        match outcome {
            Ok(()) => println!("== {} passed after {seconds} s", step.name),
            Err(error) => {
                println!("== {} FAILED after {seconds} s: {error:#}", step.name);
                failed.push(step.name);
            }
        }
    }
    if !failed.is_empty() {
        bail!("release-check failed in: {}", failed.join(", "));
    }
    Ok(())
}

fn chosen(names: &[&str]) -> anyhow::Result<Vec<&'static CheckStep>> {
    for name in names {
        if !STEPS.iter().any(|step| step.name == *name) {
            let known: Vec<&str> = STEPS.iter().map(|step| step.name).collect();
            bail!("unknown step `{name}`; choose from {}", known.join(", "));
        }
    }
    let is_chosen = |step: &&CheckStep| names.is_empty() || names.contains(&step.name);
    Ok(STEPS.iter().filter(is_chosen).collect())
}

/// Checks that the program builds with the profile of the packages.
fn package() -> anyhow::Result<()> {
    run(cargo().args(["build", "--profile", "dist", "--package", "drumfire"]))
}

/// Compares with recorded runs of JMeter, which are stored beside the repository. Without them the step is skipped.
fn compare() -> anyhow::Result<()> {
    let folder = root().join("../shared/oracle");
    if !folder.is_dir() {
        eprintln!("xtask: SKIPPED: there are no recorded plans in ../shared/oracle");
        return Ok(());
    }
    super::oracle::compare(&folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name_and_an_unknown_name_lists_them() {
        assert_eq!(chosen(&[]).expect("all").len(), STEPS.len());
        let some = chosen(&["bench", "test"]).expect("both exist");
        let names: Vec<&str> = some.iter().map(|step| step.name).collect();
        assert_eq!(names, ["test", "bench"]);
        let Err(error) = chosen(&["tests"]) else {
            panic!("there is no such step");
        };
        assert!(
            error
                .to_string()
                .starts_with("unknown step `tests`; choose from test, ")
        );
    }
}
