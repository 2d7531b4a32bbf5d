//! Outputs that cannot be written, before and during a run.

use std::io::Read as _;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use drumfire_testkit::program::LIMIT;
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};

use super::Fault;
use super::bench::{FaultBench, ensure, expect, pause, plan, sample, start, until_bytes};

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
                &["there is no log in `jmeter.log`"],
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
            expect(
                &finished,
                1,
                &["the file is larger than the system allows", "verdict  "],
            )?;
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
            expect(&finished, 1, &["1 sample could not be written"])?;
            ensure(
                finished.err.matches("the disk is full").count() == 1,
                &format!("the cause is not told once: {}", finished.err),
            )
        },
    },
    Fault {
        name: "destination-gone",
        is_quick: false,
        before: "as now",
        after: "an open model sends all it was to send, lost batches are counted, exit code 0",
        stage: |bench| {
            // Dropping the listener leaves a port on which nothing listens.
            let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
            sends_all(bench, &format!("graphite={address}"), Some("graphite"))
        },
    },
    Fault {
        name: "destination-stops",
        is_quick: false,
        before: "as now",
        after: "the same, where the destination goes away while the run goes on",
        stage: |bench| {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let out = format!("graphite={}", listener.local_addr()?);
            std::thread::spawn(move || {
                // Accepts one connection, reads one byte, and closes it.
                let (mut stream, _) = listener.accept()?;
                stream.read_exact(&mut [0])
            });
            sends_all(bench, &out, Some("graphite"))
        },
    },
    Fault {
        name: "destination-hangs",
        is_quick: false,
        before: "as now",
        after: "the same, where the destination takes connections and never answers",
        stage: |bench| {
            let listener = TcpListener::bind("127.0.0.1:0")?;
            let out = format!("influxdb=http://{}/write", listener.local_addr()?);
            std::thread::spawn(move || {
                let taken: Vec<TcpStream> = listener.incoming().flatten().collect();
                drop(taken);
            });
            sends_all(bench, &out, Some("influxdb"))
        },
    },
    Fault {
        name: "destination-slow",
        is_quick: false,
        before: "as now",
        after: "the same, where each answer takes 0.3 s; nothing is lost",
        stage: |bench| {
            let server = Server::start(|_| {
                let late = ResponseStep::Pause(Duration::from_millis(300));
                vec![late, ResponseStep::Send(ok(""))]
            });
            let out = format!("clickhouse=http://{}/", server.address());
            sends_all(bench, &out, None)
        },
    },
    Fault {
        name: "destination-fails",
        is_quick: false,
        before: "as now",
        after: "the same, where each answer is 500",
        stage: |bench| {
            let server = Server::start(|_| vec![ResponseStep::Send(respond("500 Oops", "", "no"))]);
            let out = format!("otlp=http://{}/v1/metrics", server.address());
            sends_all(bench, &out, Some("otlp"))
        },
    },
    Fault {
        name: "destination-full",
        is_quick: false,
        before: "as now",
        after: "the same, where the disk of a JSON file is full",
        stage: |bench| sends_all(bench, "json=/dev/full", Some("json")),
    },
];

/// 300 arrivals per second for three seconds.
const ARRIVALS: usize = 900;

/// Checks that an open model with an output runs all of its samples and writes all rows. The output may lose batches,
/// but must report that.
fn sends_all(bench: &FaultBench, out: &str, loses: Option<&str>) -> anyhow::Result<()> {
    let workshop = bench.folder();
    let group = format!(
        r#"<OpenModelThreadGroup guiclass="OpenModelThreadGroupGui" testclass="OpenModelThreadGroup" testname="users"><stringProp name="OpenModelThreadGroup.schedule">rate(300/sec) even_arrivals(3 sec)</stringProp><longProp name="OpenModelThreadGroup.random_seed">1</longProp><elementProp name="ThreadGroup.main_controller" elementType="OpenModelThreadGroupController"/></OpenModelThreadGroup><hashTree>{}</hashTree>"#,
        sample("s")
    );
    workshop.write("p.jmx", plan(&group));
    let words = ["run", "p.jmx", "-l", "r.csv", "--out", out];
    let finished = workshop.run(&words, LIMIT);
    expect(&finished, 0, &[])?;
    let rows = workshop.read("r.csv").lines().count() - 1;
    ensure(
        rows == ARRIVALS,
        &format!("{rows} rows instead of {ARRIVALS}"),
    )?;
    let lost = finished.err.contains("batches were not delivered");
    match loses {
        Some(output) => expect(&finished, 0, &[&format!("output {output} at `")])
            .and_then(|()| ensure(lost, "what was lost is not told")),
        None => ensure(!lost, "a slow destination is no reason to lose batches"),
    }
}

fn report_lost(bench: &FaultBench) -> anyhow::Result<()> {
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
        &["p.html` cannot be written", "verdict  "],
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

fn results_removed(bench: &FaultBench) -> anyhow::Result<()> {
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
