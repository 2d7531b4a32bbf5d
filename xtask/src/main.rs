//! The development commands: `cargo xtask test`, `compare`, `optimize`, `web`, `java`, and more.
//!
//! Commands that need the project's crates live in the package `drumfire-tools`, which this program starts. This program does
//! not depend on those crates, so it builds in seconds.

mod atomics;
mod callgrind;
mod forms;
mod fuzz;
mod integrations;
mod java;
mod layout;
#[cfg(test)]
mod manifests;
mod optimize;
mod oracle;
mod pictures;
mod release_check;
mod site;
mod tidy;
mod web;
mod wine;

use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use xtask::{cargo, run};

const USAGE: &str = "\
usage: cargo xtask COMMAND

  test                          check format and lints, then run all tests: the workspace, the feature http3, java/ (JDK 17,
                                JMETER_HOME), and the report page in a browser (node, npm, Chromium)
  test lint                     check format and lints only; dependencies, too, where cargo-deny and cargo-machete are installed
  test http3                    run the tests of the feature http3, which is off by default
  test java                     run the tests of java/ only
  test web                      run the tests of the report page only
  compare FOLDER                run recorded plans and compare with JMeter, against the floor in compat/floor.toml
  release-check [STEP…]         run everything that must pass before a release: test, clone, package, compare, faults,
                                soak, fuzz, bench (hours)
  forms                         record what JMeter's own forms say about its elements, and compare the facts in crates/elements
                                with it (JDK 17, JMETER_HOME with the plugins of the record)
  fuzz [TARGET…] [--seconds N]  run the targets of fuzz/ for N seconds each (cargo-fuzz)
  optimize                      make a profile-guided build, in optimized/ of cargo's target folder (nginx, rustup's component
                                llvm-tools; allow half an hour)
  layout                        list the functions that ordinary runs execute, for the linker, in crates/cli/hot_code.ld (Valgrind)
  atomics                       count the locked instructions of a sample; fails if there are more than before, or if one writes
                                what all workers share (x86_64 Linux, Valgrind, objdump)
  bench [SCENARIO…] [--rounds N] [--seconds N] [--only PROGRAM,…] [--program FILE] [--out FOLDER]
                                measure the cost of a sample, beside wrk, oha, k6, Gatling, JMeter and curl where they are
                                installed (benches/install_peers.sh; needs nginx); tools/src/bench/scenario defines the
                                scenarios and their targets; `bench --page` makes docs/performance.md from the latest runs
  fleet [agents|throughput|network] [--program FILE]
                                what runs on several machines cost: 1,000 made-up agents at one coordinator, local agents beside
                                one process, 8 agents behind a slow network (needs nats-server, and nginx for throughput)
  faults [NAME…] [--quick] [--list] [--times N] [--program FILE]
                                stage every kind of trouble against the program over loopback (needs no peer)
  soak [SECONDS] [--program FILE]
                                run everything that holds memory, descriptors or threads for an hour; none may grow
  streams [--streams N] [--rate N] [--seconds N] [--program FILE]
                                CPU of N open streams of events, and how far the times between events are from the server's
  record [CASE]                 run the plans in compat/ with JMeter (JMETER_HOME) and write what it wrote
  trust [NAME…] [--times N] [--neighbour] [--program FILE]
                                whether the verdict is right in staged situations, half of them healthy; `trust matrix` lists them,
                                --neighbour puts a process beside them that uses half a core
  truth [--runs N] [--side-by-side N] [--seconds N] [--short] [--neighbour] [--keep FILE] [--peers] [--program FILE]
                                whether intervals, the generator's part and counts are right: 1,000 runs against a target of known
                                times, ten minutes; --short takes 20 runs, which prove little; --keep writes the numbers of each
                                run as a line of JSON; --peers prints the errors of wrk2, oha, k6 and JMeter in the same situations
                                instead, as far as they are installed
  sinks                         run outputs and dashboards/ against InfluxDB, Prometheus, VictoriaMetrics, carbon, StatsD
                                (DRUMFIRE_STATSD: npm's folder) and ClickHouse (DRUMFIRE_CHDB: a Python with chdb), where installed
  gen                           write docs/reference/ from the code
  web                           build the report's page from web/ (node, npm)
  pictures                      take the pictures of docs/ from today's program (node, npm, Chromium)
  dist [--check] [--all] [--packed] [--profile FILE] [--dynamic FILE] [--static FILE]
                                make the packages of a release in dist/packages of cargo's target folder; --check installs each with
                                its own client and runs the quickstart; --all adds aarch64, lays out the dynamic program for x86_64
                                by a profile as optimize does (nginx), and builds again, which must give the same bytes; --profile
                                gives a recorded profile; --dynamic and --static pack a program that is built already; --packed only
                                checks the packages that are there
  integrations [--compare]      run the tests of integrations/ (Maven, JDK 17, Gradle) and check ci/ against schemas
                                (check-jsonschema); --compare also builds the Maven projects with jmeter-maven-plugin (Maven 3.9)
  site                          build docs/ as a site into site/ of cargo's target folder, and check its links (mdBook)
  tidy                          check what CONTRIBUTING.md promises of files, paths in prose, pages and commits
  wine                          build the program for Windows, and test and try it under Wine (Wine, MinGW; agents with the folder of
                                nats-server.exe in WINEPATH)
  java                          build the jar that crates/jvm carries from java/ (JDK 17, JMETER_HOME)
";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words[..] {
        ["test"] => test_all(),
        ["test", "lint"] => lint(),
        ["test", "http3"] => test_http3(),
        ["test", "web"] => web::test(),
        ["test", "java"] => java::test(),
        ["compare", folder] => oracle::compare(Path::new(folder)),
        ["release-check", ref steps @ ..] => release_check::check(steps),
        ["forms"] => forms::record(),
        ["fuzz", ref options @ ..] => fuzz::fuzz(options),
        ["optimize"] => optimize::optimize(),
        ["layout"] => layout::record(),
        ["atomics"] => atomics::check(),
        [
            "bench" | "faults" | "fleet" | "record" | "soak" | "streams" | "trust" | "truth"
            | "gen",
            ..,
        ] => tools(&words),
        ["dist", ref options @ ..] => packaging(options),
        ["sinks"] => sinks(),
        ["web"] => web::build(),
        ["pictures"] => pictures::take(),
        ["integrations", ref options @ ..] => integrations::test(options),
        ["site"] => site::build(),
        ["tidy"] => tidy::tidy(),
        ["java"] => java::build(),
        ["wine"] => wine::test(),
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

/// Tests outputs and dashboards against the programs that they target, as far as those are installed.
fn sinks() -> anyhow::Result<()> {
    let options = [
        "--test",
        "all",
        "--",
        "sinks::",
        "--ignored",
        "--nocapture",
        "--test-threads=2",
    ];
    // Build the whole workspace, so that its features equal those of the other tests and nothing is built again.
    run(cargo().args(["test", "--workspace"]).args(options))
}

/// All checks and tests that every change must pass.
fn test_all() -> anyhow::Result<()> {
    lint()?;
    run(&mut test(&["--quiet"]))?;
    test_http3()?;
    java::test()?;
    web::test()
}

/// Checks the format and the lints. Warnings are errors here and nowhere else, so that work in progress still builds.
fn lint() -> anyhow::Result<()> {
    run(cargo().args(["fmt", "--all", "--check"]))?;
    let clippy = ["clippy", "--quiet", "--workspace", "--all-targets"];
    run(cargo().args(clippy).args(["--", "-D", "warnings"]))?;
    dependencies()
}

/// Checks licences, sources and use of the dependencies with the installed tools. Advisories need the network, so CI checks
/// them.
fn dependencies() -> anyhow::Result<()> {
    let tools: [(&str, &[&str]); 2] = [
        (
            "deny",
            &["--locked", "check", "bans", "licenses", "sources"],
        ),
        // A library's name may differ from its crate's, such as md5 in md-5.
        ("machete", &["--with-metadata"]),
    ];
    for (tool, options) in tools {
        if xtask::is_on_path(&format!("cargo-{tool}")) {
            run(cargo().arg(tool).args(options))?;
        } else {
            println!("skipped: cargo-{tool} is not installed");
        }
    }
    advisories()
}

/// Looks for known holes in the dependencies, in the newest database. It changes without a change of ours, so a machine without a
/// network can pass.
fn advisories() -> anyhow::Result<()> {
    if !xtask::is_on_path("cargo-deny") {
        return Ok(());
    }
    const DATABASE: &str = "https://github.com/RustSec/advisory-db";
    let reached = Command::new("git")
        .args(["ls-remote", "--quiet", "--exit-code", DATABASE, "HEAD"])
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_HTTP_LOW_SPEED_LIMIT", "1")
        .env("GIT_HTTP_LOW_SPEED_TIME", "20")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if reached.is_ok_and(|status| status.success()) {
        run(cargo().args(["deny", "--locked", "check", "advisories"]))
    } else {
        println!("skipped: advisories, since {DATABASE} cannot be reached");
        Ok(())
    }
}

/// `cargo test` for the workspace with its default features. Most tests of the program wait for it, for servers and for clocks, so
/// several run on each core: on two cores they take 5 minutes instead of 14.
fn test(options: &[&str]) -> Command {
    const TESTS_PER_CORE: usize = 3;
    const THREADS: &str = "RUST_TEST_THREADS";
    let mut command = cargo();
    command.args(["test", "--workspace"]).args(options);
    if std::env::var_os(THREADS).is_none() {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        command.env(THREADS, (cores * TESTS_PER_CORE).to_string());
    }
    command
}

/// Runs the tests of HTTP/3. Builds with the whole workspace's features, so that these stay the same and little is built again:
/// only the crates up to the engine, since none above it depends on the feature.
fn test_http3() -> anyhow::Result<()> {
    run(&mut test(&[
        "--quiet",
        "--features",
        "http3",
        "--test",
        "http3",
    ]))
}

fn packaging(options: &[&str]) -> anyhow::Result<()> {
    run(xtask::program("drumfire-packaging")?.args(options))
}

fn tools(words: &[&str]) -> anyhow::Result<()> {
    run(xtask::program("drumfire-tools")?.args(words))
}
