//! `cargo xtask integrations`: runs the tests of `integrations/`, which start the program from Maven, JUnit, jmeter-java-dsl and
//! Gradle, and checks the files in `ci/` and the compose files against their schemas.

use std::path::Path;
use std::process::Command;

use anyhow::bail;
use xtask::{cargo, root, run, target};

/// Files for CI systems and containers, the schema of each, and the conversion that it needs first.
const SCHEMAS: [(&str, &[&str]); 5] = [
    ("ci/github/action.yml", &["vendor.github-actions"]),
    (
        "ci/gitlab/drumfire.gitlab-ci.yml",
        &["vendor.gitlab-ci", "--data-transform", "gitlab-ci"],
    ),
    (
        "ci/azure/drumfire.yml",
        &[
            "vendor.azure-pipelines",
            "--data-transform",
            "azure-pipelines",
        ],
    ),
    ("deploy/compose.yaml", &["vendor.compose-spec"]),
    (
        "packaging/templates/container/compose.yaml.in",
        &["vendor.compose-spec"],
    ),
];

/// Runs the tests that the installed tools allow, and names those that were skipped. `--compare` also builds the Maven projects
/// with jmeter-maven-plugin, which takes ten minutes and needs Maven 3.9.
pub fn test(options: &[&str]) -> anyhow::Result<()> {
    let compare = match options {
        [] => false,
        ["--compare"] => true,
        _ => bail!(
            "unknown options `{}`; there is --compare",
            options.join(" ")
        ),
    };
    run(cargo().args(["build", "--package", "drumfire"]))?;
    let binary = format!(
        "-Ddrumfire.binary={}",
        target().join("debug/drumfire").display()
    );
    let folder = root().join("integrations");
    if is_there("mvn", "-version") && is_there("javac", "-version") {
        let mut maven = Command::new("mvn");
        maven
            .args(["-q", "-B", "install", &binary])
            .current_dir(&folder);
        if compare {
            maven.arg("-Ddrumfire.compare=true");
        }
        run(&mut maven)?;
        gradle(&folder.join("gradle"), &binary)?;
    } else {
        skipped("integrations/", "there is no Maven or no JDK");
    }
    schemas()
}

/// Tests the Gradle plugin. It needs the launcher, which Maven has put into the local repository.
fn gradle(folder: &Path, binary: &str) -> anyhow::Result<()> {
    if !is_there("gradle", "--version") {
        skipped("integrations/gradle", "there is no Gradle");
        return Ok(());
    }
    let words = ["--no-daemon", "--console=plain", "test", binary];
    run(Command::new("gradle").args(words).current_dir(folder))
}

fn schemas() -> anyhow::Result<()> {
    if !is_there("check-jsonschema", "--version") {
        skipped(
            "the schemas of ci/ and the compose files",
            "there is no check-jsonschema (pip install check-jsonschema)",
        );
        return Ok(());
    }
    for (file, schema) in SCHEMAS {
        let mut check = Command::new("check-jsonschema");
        check
            .arg("--builtin-schema")
            .args(schema)
            .arg(root().join(file));
        run(&mut check)?;
    }
    Ok(())
}

fn is_there(program: &str, word: &str) -> bool {
    Command::new(program).arg(word).output().is_ok()
}

fn skipped(part: &str, why: &str) {
    eprintln!("xtask: SKIPPED: {part}, since {why}");
}
