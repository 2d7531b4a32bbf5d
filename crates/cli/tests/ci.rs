//! The files of `ci/`, as far as they run without their systems.

use std::path::{Path, PathBuf};
use std::process::Command;

use drumfire_testkit::program::{LIMIT, Workshop};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn workshop() -> Workshop {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let plan = std::fs::read(root().join("examples/api-smoke.jmx")).expect("the example is there");
    workshop.write("smoke.jmx", plan);
    workshop
}

/// Runs the step of GitHub's action with its inputs, and gives the exit code that the action ends with.
fn step(workshop: &Workshop, inputs: &[(&str, &str)]) -> String {
    for file in ["output", "summary.md"] {
        workshop.write(file, "");
    }
    let program = Path::new(env!("CARGO_BIN_EXE_drumfire"));
    let folder = program.parent().expect("it lies in a folder");
    let path = std::env::var("PATH").expect("there is a PATH");
    let status = Command::new("bash")
        .arg(root().join("ci/github/run.sh"))
        .current_dir(workshop.path("."))
        .env("PATH", format!("{}:{path}", folder.display()))
        .env("HOME", workshop.path("."))
        .env("GITHUB_OUTPUT", workshop.path("output"))
        .env("GITHUB_STEP_SUMMARY", workshop.path("summary.md"))
        .env("PLAN", "smoke.jmx")
        .env("FOLDER", workshop.path("results"))
        .env("CACHED", workshop.path("baseline/run.drumfire"))
        .envs(inputs.iter().copied())
        .status()
        .expect("bash is there");
    assert!(status.success(), "the step itself never fails: {status}");
    let output = workshop.read("output");
    let code = output
        .lines()
        .find_map(|line| line.strip_prefix("exit-code="));
    code.expect("the exit code is an output").to_owned()
}

#[test]
fn githubs_step_leaves_its_files_and_keeps_a_good_run_as_baseline() {
    let workshop = workshop();
    let inputs = [
        ("FAIL_ON", "errors > 1%\np95 > 60s"),
        ("OPTIONS", "--demo"),
        ("BASELINE", "cache"),
    ];
    assert_eq!(step(&workshop, &inputs), "0");
    for file in ["report.html", "results.jtl", "summary.json", "junit.xml"] {
        assert!(workshop.path("results").join(file).is_file(), "{file}");
    }
    let summary = workshop.read("summary.md");
    assert!(summary.contains("| List products | 1 |"), "{summary}");
    assert!(summary.contains("| p95 &gt; 60s | met: "), "{summary}");
    assert!(workshop.path("baseline/run.drumfire").is_file());
    // The next run is compared with it; so short ones are within noise.
    assert_eq!(step(&workshop, &inputs), "0");
}

#[test]
fn githubs_step_hands_on_the_exit_code_of_a_broken_threshold() {
    let workshop = workshop();
    let inputs = [
        ("FAIL_ON", "samples < 1000"),
        ("OPTIONS", "--demo\n--users\n2"),
        ("BASELINE", "cache"),
    ];
    assert_eq!(step(&workshop, &inputs), "5");
    assert!(workshop.read("summary.md").contains("**not met**"));
    assert!(!workshop.path("baseline/run.drumfire").exists());
    assert!(
        workshop
            .read("results/junit.xml")
            .contains("failures=\"1\"")
    );
}

#[test]
fn annotations_are_those_of_the_system_that_the_run_is_in() {
    let words = [
        "run",
        "smoke.jmx",
        "--demo",
        "--annotations",
        "--fail-on",
        "samples < 1000",
    ];
    for (variable, line) in [
        ("GITHUB_ACTIONS", "::error title=smoke.jmx::not met"),
        (
            "TF_BUILD",
            "##vso[task.logissue type=error]smoke.jmx: not met",
        ),
        (
            "TEAMCITY_VERSION",
            "##teamcity[testFailed name='samples < 1000' message='not met",
        ),
    ] {
        let finished = workshop().variable(variable, "1").run(&words, LIMIT);
        assert_eq!(finished.code, Some(5), "{finished:?}");
        assert!(finished.out.contains(line), "{finished:?}");
    }
}
