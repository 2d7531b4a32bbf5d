//! Stages every exit code of the documented table, and signals.

use std::time::{Duration, Instant};

use drumfire_testkit::program::LIMIT;

use super::Fault;
use super::bench::{FaultBench, ensure, expect, pause, sample, start, until_bytes};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "exit-0",
        is_quick: true,
        before: "0",
        after: "a run that came to its end",
        stage: |bench| {
            expect(
                &bench.run(&sample("s"), &[]),
                0,
                &["verdict  ", "... end of run"],
            )
        },
    },
    Fault {
        name: "exit-1",
        is_quick: true,
        before: "load was sent although the results file could not be opened",
        after: "refused before the first request",
        stage: |bench| {
            expect(
                &bench.run(&sample("s"), &["-l", "file/r"]),
                1,
                &["nothing was sent"],
            )
        },
    },
    Fault {
        name: "exit-2",
        is_quick: true,
        before: "2",
        after: "a wrong command line",
        stage: |bench| expect(&bench.run(&sample("s"), &["--bogus"]), 2, &["--bogus"]),
    },
    Fault {
        name: "exit-3",
        is_quick: true,
        before: "VALID, exit code 0, no sample sent",
        after: "a missing data file is refused with its places",
        stage: |bench| {
            expect(
                &bench.run(&super::inputs::data("no.csv"), &[]),
                3,
                &["`no.csv`", "looked for"],
            )
        },
    },
    Fault {
        name: "exit-5",
        is_quick: true,
        before: "5",
        after: "a failed threshold",
        stage: |bench| {
            expect(
                &bench.run(&sample("s"), &["--fail-on", "samples < 9"]),
                5,
                &["FAILED  samples 1"],
            )
        },
    },
    Fault {
        name: "exit-6",
        is_quick: false,
        before: "6",
        after: "a generator that was stopped for half of a strict run",
        stage: stopped,
    },
    Fault {
        name: "exit-8",
        is_quick: true,
        before: "VALID, exit code 0",
        after: "nothing was sent, with the reason",
        stage: |bench| expect(&bench.run("", &[]), 8, &["nothing was sent: "]),
    },
    Fault {
        name: "exit-130",
        is_quick: true,
        before: "130",
        after: "Ctrl-C once: users finish their sample, rows are whole",
        stage: |bench| interrupted(bench, 1),
    },
    Fault {
        name: "ctrl-c-twice",
        is_quick: true,
        before: "ended at once",
        after: "Ctrl-C twice: ends at once, rows are whole",
        stage: |bench| interrupted(bench, 2),
    },
    Fault {
        name: "sigkill",
        is_quick: true,
        before: "at most 145 ms of rows lost",
        after: "the rows until then are whole",
        stage: killed,
    },
    Fault {
        name: "end-of-the-last-user",
        is_quick: false,
        before: "the process stayed 200 ms for the message port",
        after: "a run ends when its last user has ended",
        stage: one_sample,
    },
];

fn interrupted(bench: &FaultBench, times: u32) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", -1, &[pause(20), sample("s")].concat());
    let child = start(&workshop, &["run", "p.jmx", "-l", "r.csv"]);
    until_bytes(&workshop, "r.csv", 300)?;
    for _ in 0..times {
        child.signal("INT")?;
        std::thread::sleep(Duration::from_millis(5));
    }
    expect(&child.finish()?, 130, &["... end of run"])?;
    ensure(
        workshop.read("r.csv").ends_with('\n'),
        "the last row is not whole",
    )
}

fn killed(bench: &FaultBench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", -1, &[pause(5), sample("s")].concat());
    let child = start(&workshop, &["run", "p.jmx", "-l", "r.csv"]);
    until_bytes(&workshop, "r.csv", 300)?;
    child.signal("KILL")?;
    let finished = child.finish()?;
    ensure(finished.code.is_none(), "the signal did not end it")?;
    ensure(
        workshop.read("r.csv").ends_with('\n'),
        "the last row is not whole",
    )
}

fn stopped(bench: &FaultBench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 40, &[pause(50), sample("s")].concat());
    let child = start(&workshop, &["run", "p.jmx", "--strict", "-l", "r.csv"]);
    until_bytes(&workshop, "r.csv", 300)?;
    child.signal("STOP")?;
    std::thread::sleep(Duration::from_millis(2000));
    child.signal("CONT")?;
    expect(&child.finish()?, 6, &["verdict  INVALID", "stopped"])
}

/// Compares runs with and without the message port, because how long a run of one sample takes depends on the machine. Takes the
/// fastest of several, because other programs run beside it.
fn one_sample(bench: &FaultBench) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", 1, &sample("s"));
    let time = |port: &str| {
        let since = Instant::now();
        let words = ["run", "p.jmx", "--progress", "quiet", port];
        expect(&workshop.run(&words, LIMIT), 0, &[])?;
        Ok::<_, anyhow::Error>(since.elapsed())
    };
    let [mut without, mut with] = [Duration::MAX; 2];
    for _ in 0..10 {
        without = without.min(time("-Jjmeterengine.nongui.port=0")?);
        with = with.min(time("-Jjmeterengine.nongui.port=4445")?);
    }
    ensure(
        with < without + Duration::from_millis(100),
        &format!("one sample took {with:?}, and {without:?} without the message port"),
    )
}
