//! `cargo xtask release-check`: everything that must pass before a release, including the parts that are too slow for every change.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::bail;
use xtask::{cargo, output, root, run};

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
        name: "clone",
        check: clone,
    },
    CheckStep {
        name: "package",
        check: package,
    },
    CheckStep {
        name: "atomics",
        check: super::atomics::check,
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
        name: "truth",
        check: || super::tools(&["truth"]),
    },
    CheckStep {
        name: "soak",
        check: || super::tools(&["soak", "3600"]),
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

/// Does what a newcomer does: clones the project and runs README's first two blocks as they stand. Home and cargo's home are empty;
/// only rustup's toolchain is shared. The first block must print a valid result.
fn clone() -> anyhow::Result<()> {
    let folder = xtask::ScratchFolder::new("clone")?;
    let (clone, home) = (folder.path().join("drumfire"), folder.path().join("home"));
    std::fs::create_dir(&home)?;
    run(Command::new("git")
        .args(["clone", "--quiet"])
        .args([&root(), &clone]))?;
    let readme = std::fs::read_to_string(clone.join("README.md"))?;
    let blocks = command_blocks(&readme);
    let [first, second, ..] = &blocks[..] else {
        bail!("README.md has no two blocks of commands");
    };
    let start = Instant::now();
    let printed = output(&mut newcomers_shell(first, &clone, &home))?;
    println!("the first result took {} s", start.elapsed().as_secs());
    if !is_valid(&printed) {
        bail!("the first block of README.md gives no valid result:\n{printed}");
    }
    run(&mut newcomers_shell(second, &clone, &home))
}

/// The blocks of a page that are tagged `sh`.
fn command_blocks(page: &str) -> Vec<&str> {
    let blocks = page.split("\n```sh\n").skip(1);
    blocks
        .filter_map(|rest| rest.split_once("\n```"))
        .map(|(block, _)| block)
        .collect()
}

/// A shell in the clone with an empty home. It inherits the path, and how to reach the network.
fn newcomers_shell(block: &str, clone: &Path, home: &Path) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", block]).current_dir(clone);
    let inherited = std::env::vars_os().filter(|(name, _)| {
        let name = name.to_string_lossy().to_ascii_uppercase();
        name == "PATH" || name.ends_with("_PROXY") || name.starts_with("SSL_CERT_")
    });
    shell.env_clear().envs(inherited);
    shell
        .env("HOME", home)
        .env("CARGO_HOME", home.join(".cargo"))
        .env("RUSTUP_HOME", rustup_home());
    shell
}

/// The folder of rustup's toolchains.
fn rustup_home() -> PathBuf {
    let usual = || std::env::home_dir().unwrap_or_default().join(".rustup");
    std::env::var_os("RUSTUP_HOME").map_or_else(usual, PathBuf::from)
}

/// Whether a run printed the verdict VALID.
fn is_valid(printed: &str) -> bool {
    let mut verdicts = printed
        .lines()
        .filter_map(|line| line.strip_prefix("verdict "));
    verdicts.any(|verdict| verdict.trim() == "VALID")
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
    fn readme_begins_with_a_run_and_the_tests() {
        let readme = std::fs::read_to_string(root().join("README.md")).expect("it is there");
        let blocks = command_blocks(&readme);
        assert!(blocks[0].starts_with("cargo run --locked -p drumfire -- run --demo"));
        assert!(blocks[1].starts_with("cargo xtask test"));
        assert_eq!(command_blocks("a\n```sh\nb\nc\n```\n"), ["b\nc"]);
    }

    #[test]
    fn only_the_verdict_valid_is_valid() {
        assert!(is_valid("TOTAL 5\nverdict  VALID\n"));
        assert!(!is_valid("verdict  INVALID\n"));
        assert!(!is_valid("verdict  too short to judge\n"));
    }

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
