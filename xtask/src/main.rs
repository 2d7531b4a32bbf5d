//! The project's own chores: `cargo xtask test`, `compare`, `bench`, `record`, `gen`, `web`, `java`.

mod bench;
mod java;
mod measure;
mod oracle;
mod record;
mod reference;
mod web;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test                          all tests of the workspace, those of the feature http3, and those of the report's page in a
                                browser (node, npm, Chromium)
  test http3                    those of the feature http3, which is off by default
  test web                      those in a browser alone
  compare FOLDER                the program beside recorded runs of JMeter, against the floor in compat/floor.toml
  bench [SCENARIO…] [--rounds N] [--seconds N] [--only PROGRAM,…] [--program FILE]
                                what a sample costs, beside wrk, oha, k6, Gatling, JMeter and curl where they are installed
                                (benches/install_peers.sh; needs nginx); those that there are, and
                                what each aims at, are in xtask/src/bench/scenario
  record [CASE]                 run the plans in compat/ with JMeter (JMETER_HOME) and write what it wrote
  gen                           write docs/reference/ from the code
  web                           build the report's page from web/ (node, npm)
  java                          build the jar that crates/jvm carries from java/ (JDK 17, JMETER_HOME)
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["test"] => run(cargo().args(["test", "--workspace", "--quiet"]))
            .and_then(|()| test_http3())
            .and_then(|()| web::test()),
        ["test", "http3"] => test_http3(),
        ["test", "web"] => web::test(),
        ["compare", folder] => oracle::compare(Path::new(folder)),
        ["bench", ref options @ ..] => bench::bench(options),
        ["record"] => record::record(None),
        ["record", case] => record::record(Some(case)),
        ["gen"] => reference::generate(),
        ["web"] => web::build(),
        ["java"] => java::build(),
        ["measure", report, ref command @ ..] => measure::measure(Path::new(report), command),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// The tests of HTTP/3, and that the program can be built with it.
fn test_http3() -> anyhow::Result<()> {
    let features = ["--features", "http3"];
    let http = ["--package", "drumfire-http", "--test", "http3"];
    let engine = ["--package", "drumfire-engine", "--test", "http3"];
    for test in [http, engine] {
        run(cargo().args(["test", "--quiet"]).args(test).args(features))?;
    }
    let program = ["check", "--quiet", "--package", "drumfire"];
    run(cargo().args(program).args(features))
}

/// The folder of the workspace.
fn root() -> PathBuf {
    let own = Path::new(env!("CARGO_MANIFEST_DIR"));
    own.parent().unwrap_or(own).to_path_buf()
}

fn cargo() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Builds the program with optimisations and says where it is.
fn release_binary() -> anyhow::Result<PathBuf> {
    run(cargo().args(["build", "--release", "--quiet", "--package", "drumfire"]))?;
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    Ok(target.join("release/drumfire"))
}

fn run(command: &mut Command) -> anyhow::Result<()> {
    let status = command.status().with_context(|| format!("{command:?}"))?;
    if !status.success() {
        bail!("{command:?}: {status}");
    }
    Ok(())
}
