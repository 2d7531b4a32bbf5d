//! The project's own chores: `cargo xtask test`, `compare`, `optimize`, `web`, `java`; and those of the package `drumfire-tools`, which need
//! the project's crates: building those for this program too would make each of its calls wait for them.

mod java;
mod optimize;
mod oracle;
mod web;

use std::path::Path;
use std::process::{Command, ExitCode};

use xtask::{cargo, run};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test                          all tests of the workspace, those of the feature http3, those of java/ (JDK 17, JMETER_HOME), and
                                those of the report's page in a browser (node, npm, Chromium)
  test http3                    those of the feature http3, which is off by default
  test java                     those of java/ alone
  test web                      those in a browser alone
  compare FOLDER                the program beside recorded runs of JMeter, against the floor in compat/floor.toml
  optimize                      build the program laid out by what it does under load, in optimized/ of cargo's target folder (nginx,
                                rustup's component llvm-tools; half an hour)
  bench [SCENARIO…] [--rounds N] [--seconds N] [--only PROGRAM,…] [--program FILE] [--out FOLDER]
                                what a sample costs, beside wrk, oha, k6, Gatling, JMeter and curl where they are installed
                                (benches/install_peers.sh; needs nginx); those that there are, and
                                what each aims at, are in tools/src/bench/scenario
  record [CASE]                 run the plans in compat/ with JMeter (JMETER_HOME) and write what it wrote
  gen                           write docs/reference/ from the code
  web                           build the report's page from web/ (node, npm)
  java                          build the jar that crates/jvm carries from java/ (JDK 17, JMETER_HOME)
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["test"] => run(&mut test(&["--quiet"]))
            .and_then(|()| test_http3())
            .and_then(|()| java::test())
            .and_then(|()| web::test()),
        ["test", "http3"] => test_http3(),
        ["test", "web"] => web::test(),
        ["test", "java"] => java::test(),
        ["compare", folder] => oracle::compare(Path::new(folder)),
        ["optimize"] => optimize::optimize(),
        ["bench" | "record" | "gen", ..] => tools(&words),
        ["web"] => web::build(),
        ["java"] => java::build(),
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

/// The tests of the workspace as it is by default.
fn test(options: &[&str]) -> Command {
    let mut command = cargo();
    command.args(["test", "--workspace"]).args(options);
    command
}

/// The tests of HTTP/3, and that the program can be built with it. Of the whole workspace, so that its other features are the
/// same and little is built anew.
fn test_http3() -> anyhow::Result<()> {
    run(&mut test(&[
        "--quiet",
        "--features",
        "http3",
        "--test",
        "http3",
        "--bin",
        "drumfire",
    ]))
}

fn tools(words: &[&str]) -> anyhow::Result<()> {
    let tools = ["run", "--quiet", "--package", "drumfire-tools", "--"];
    run(cargo().args(tools).args(words))
}
