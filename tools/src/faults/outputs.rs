//! Outputs that cannot be written, before and while the program runs.

use drumfire_testkit::program::LIMIT;

use super::Fault;
use super::bench::{Bench, ensure, expect, pause, sample, start, until_bytes};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "all-outputs-unwritable",
        is_quick: true,
        before: "found one by one, the report only after the load",
        after: "one message lists them before the first request",
        stage: |bench| {
            let words = [
                "-l",
                "file/r",
                "--report",
                "file/p.html",
                "--run-file",
                "file/run",
                "--junit",
                "file/j",
                "--summary-json",
                "file/s",
            ];
            let finished = bench.run(&sample("s"), &words);
            expect(&finished, 1, &["nothing was sent"])?;
            ensure(
                finished.err.matches("cannot be written").count() == 5,
                "not all are listed",
            )
        },
    },
    Fault {
        name: "log-unwritable",
        is_quick: true,
        before: "a warning",
        after: "refused if it was asked for by name, else a warning",
        stage: |bench| {
            expect(
                &bench.run(&sample("s"), &["-j", "file/log"]),
                1,
                &["file/log"],
            )?;
            let workshop = bench.with_plan("1", 1, &sample("s"));
            workshop.write("jmeter.log/x", "a folder");
            expect(
                &workshop.run(&["run", "p.jmx"], LIMIT),
                0,
                &["there is no log in jmeter.log"],
            )
        },
    },
    Fault {
        name: "report-lost-at-the-end",
        is_quick: true,
        before: "neither verdict nor run file",
        after: "everything else is written, exit code 1",
        stage: report_lost,
    },
    Fault {
        name: "file-size-limit",
        is_quick: true,
        before: "SIGXFSZ ended the run without a word",
        after: "whole rows, the lost ones counted, exit code 1",
        stage: |bench| {
            let workshop = bench.with_plan(
                "1",
                300,
                &[pause(2), sample("a label of some length")].concat(),
            );
            let finished =
                bench.run_limited(&workshop, "ulimit -f 8", "run p.jmx -l r.csv -j /dev/null")?;
            expect(&finished, 1, &["File too large", "verdict  "])?;
            ensure(workshop.read("r.csv").ends_with('\n'), "half a row is left")
        },
    },
    Fault {
        name: "results-removed",
        is_quick: true,
        before: "told at the end, without verdict and report",
        after: "told at the end, exit code 1",
        stage: results_removed,
    },
    Fault {
        name: "full-device",
        is_quick: true,
        before: "exit code 1 without verdict",
        after: "the lost rows are counted, exit code 1, with verdict",
        stage: |bench| {
            let finished = bench.run(&sample("s"), &["-l", "/dev/full"]);
            expect(&finished, 1, &["No space left on device"])
        },
    },
];

fn report_lost(bench: &Bench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 10, &[pause(50), sample("s")].concat());
    let words = [
        "run",
        "p.jmx",
        "-l",
        "r.csv",
        "--report",
        "gone/p.html",
        "--run-file",
        "run.drumfire",
    ];
    let child = start(&workshop, &words);
    until_bytes(&workshop, "r.csv", 1)?;
    std::fs::remove_dir_all(workshop.path("gone"))?;
    workshop.write("gone", "a file");
    expect(
        &child.finish()?,
        1,
        &["p.html could not be written", "verdict  "],
    )?;
    ensure(
        workshop.path("run.drumfire").exists(),
        "the run file is missing",
    )?;
    ensure(
        workshop.read("r.csv").lines().count() == 11,
        "rows are missing",
    )
}

fn results_removed(bench: &Bench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 10, &[pause(50), sample("s")].concat());
    let child = start(
        &workshop,
        &["run", "p.jmx", "-l", "r.csv", "--report", "p.html"],
    );
    until_bytes(&workshop, "r.csv", 1)?;
    std::fs::remove_file(workshop.path("r.csv"))?;
    expect(
        &child.finish()?,
        1,
        &["was removed or replaced", "verdict  "],
    )?;
    ensure(workshop.path("p.html").exists(), "the report is missing")
}
