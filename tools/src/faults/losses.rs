//! Losses that nobody would notice: two runs that write one file, a log on a full disk, destinations that take nothing,
//! a program without threads, and native code that crashes.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use drumfire_testkit::program::{LIMIT, Workshop};

use super::Fault;
use super::bench::{FaultBench, UNACCOUNTED, ensure, expect, group, pause, plan, sample, start};
use super::scripts::{groovy, scripts_folder};

pub const FAULTS: &[Fault] = &[
    Fault {
        name: "results-of-two-runs",
        is_quick: true,
        before: "the rows of both runs in one file, or those of the first removed by -f",
        after: "the second run is refused, exit code 1; the file of a killed run is free",
        stage: |bench| {
            two_runs(bench, &["-l", "r.csv"], &["-l", "r.csv"])?;
            two_runs(bench, &["-l", "r.csv"], &["-l", "r.csv", "-f"])?;
            two_runs(
                bench,
                &["-l", "r.csv"],
                &["-l", "./r.csv", "--report", "p.html"],
            )
        },
    },
    Fault {
        name: "run-file-of-two-runs",
        is_quick: true,
        before: "the second run replaced the file of the first",
        after: "the second run is refused, exit code 1; the file of a killed run is free",
        stage: |bench| {
            two_runs(
                bench,
                &["--run-file", "r.drumfire"],
                &["--run-file", "r.drumfire"],
            )
        },
    },
    Fault {
        name: "json-of-two-runs",
        is_quick: true,
        before: "the second run emptied the file of the first",
        after: "the second run is refused, exit code 1; the file of a killed run is free",
        stage: |bench| two_runs(bench, &["--out", "json=o.json"], &["--out", "json=o.json"]),
    },
    Fault {
        name: "reports-of-two-runs",
        is_quick: true,
        before: "the run that ended last replaced the report and the summary of the other without a word",
        after: "the second run is refused, exit code 1; the files of a killed run are free",
        stage: |bench| {
            for option in [
                "--summary-json",
                "--report",
                "--junit",
                "--markdown",
                "--metrics",
            ] {
                // The results file shows that the first run has begun.
                let first = [option, "out.file", "-l", "r.csv"];
                two_runs(bench, &first, &[option, "./out.file"])?;
            }
            let same = ["--summary-json", "x", "--junit", "x"];
            let finished = bench.run(&sample("s"), &same);
            expect(&finished, 1, &["the JUnit file", "nothing was sent"])
        },
    },
    Fault {
        name: "log-of-two-runs",
        is_quick: true,
        before: "the second run wrote over the lines of the first",
        after: "the log has the lines of both",
        stage: |bench| {
            let workshop = bench.with_plan("1", 20, &[pause(100), sample("s")].concat());
            let first = start(&workshop, &["run", "p.jmx"]);
            until_exists(&workshop, "jmeter.log")?;
            std::thread::sleep(Duration::from_millis(500));
            let second = workshop.run(&["run", "p.jmx"], LIMIT);
            expect(&second, 0, &["... end of run"])?;
            expect(&first.finish()?, 0, &["... end of run"])?;
            let count = workshop
                .read("jmeter.log")
                .matches("Starting 1 threads")
                .count();
            ensure(count == 2, &format!("{count} of two starts in the log"))
        },
    },
    Fault {
        name: "standard-output-on-a-full-disk",
        is_quick: true,
        before: "exit code 0 without a word",
        after: "exit code 1 with the cause; a reader that goes away is none",
        stage: |bench| {
            let workshop = bench.with_plan("1", 1, &sample("s"));
            for words in [
                "show p.jmx > /dev/full",
                "plan p.jmx > /dev/full",
                "run p.jmx > /dev/full",
            ] {
                let finished = bench.run_limited(&workshop, "true", words)?;
                expect(
                    &finished,
                    1,
                    &["standard output cannot be written: the disk is full"],
                )?;
            }
            let gone = bench.run_limited(&workshop, "true", "show p.jmx | true")?;
            ensure(gone.err.is_empty(), &gone.err)
        },
    },
    Fault {
        name: "control-sequences-in-the-log",
        is_quick: true,
        before: "a label cleared the terminal of whoever read the log",
        after: "control characters are escaped",
        stage: |bench| {
            let workshop = bench.folder();
            let named =
                group("1", 1, &sample("s")).replace("users\"", "a&#27;[2J&#155;b&#8238;c&#13;d\"");
            workshop.write("q.jmx", plan(&named));
            let finished = workshop.run(&["run", "q.jmx"], LIMIT);
            expect(&finished, 0, &["verdict  "])?;
            let log = workshop.read("jmeter.log");
            ensure(log.contains(r"a\x1b[2J"), "the log has no label")?;
            let raw = log.chars().find(|c| c.is_control() && !"\n\t".contains(*c));
            ensure(raw.is_none(), &format!("the log has {raw:?}"))
        },
    },
    Fault {
        name: "json-unwritable",
        is_quick: true,
        before: "exit code 2, that of a wrong command line",
        after: "refused before the first request, exit code 1",
        stage: |bench| {
            let finished = bench.run(&sample("s"), &["--out", "json=file/o.json"]);
            expect(&finished, 1, &["`json=file/o.json`", "nothing was sent"])
        },
    },
    Fault {
        name: "log-on-a-full-disk",
        is_quick: true,
        before: "exit code 0 without a word",
        after: "the lost lines are counted: exit code 1 for a log with a name, a warning for the default one",
        stage: log_lost,
    },
    Fault {
        name: "destination-closes-at-once",
        is_quick: false,
        before: "all batches counted as delivered",
        after: "batches that were not taken are counted; exit code 1 with --out-required",
        stage: closes_at_once,
    },
    Fault {
        name: "destination-down-at-the-end",
        is_quick: false,
        before: "the end waited five seconds, and the warning named no address",
        after: "the warning names the address, and the end does not wait",
        stage: down_at_the_end,
    },
    Fault {
        name: "no-threads",
        is_quick: false,
        before: "a bug in Drumfire ended a worker with all its users",
        after: "fewer workers with a warning, or a refusal, with the limit to raise",
        stage: no_threads,
    },
    Fault {
        name: "native-code-crashes",
        is_quick: false,
        before: "SIGABRT: neither rows nor verdict",
        after: "what was measured is written, exit code 1, and the element is named",
        stage: native_crash,
    },
    Fault {
        name: "labels-in-texts-for-people",
        is_quick: true,
        before: "labels brought lines, HTML, colours and megabytes into terminals and Markdown",
        after: "one line of bounded length without any of these",
        stage: labels,
    },
];

/// Starts a run, and a second one that writes to the same file: it is refused. Then kills the first, whose file is free.
fn two_runs(bench: &FaultBench, words: &[&str], others: &[&str]) -> anyhow::Result<()> {
    let workshop = bench.with_plan("1", -1, &[pause(20), sample("s")].concat());
    workshop.write("q.jmx", plan(&group("1", 1, &sample("t"))));
    let child = start(&workshop, &[&["run", "p.jmx"], words].concat());
    let file = words[words.len() - 1].trim_start_matches("json=");
    until_exists(&workshop, file)?;
    let other = || {
        workshop.run(
            &[&["run", "q.jmx", "-j", "other.log"], others].concat(),
            LIMIT,
        )
    };
    expect(&other(), 1, &["another run writes it", "nothing was sent"])?;
    child.signal("KILL")?;
    ensure(child.finish()?.code.is_none(), "the signal did not end it")?;
    expect(&other(), 0, &["... end of run"])
}

fn until_exists(workshop: &Workshop, file: &str) -> anyhow::Result<()> {
    let until = Instant::now() + LIMIT;
    while !workshop.path(file).exists() {
        ensure(Instant::now() < until, &format!("`{file}` is not made"))?;
        std::thread::sleep(Duration::from_millis(10));
    }
    // It is claimed right after it is made.
    std::thread::sleep(Duration::from_millis(100));
    Ok(())
}

fn log_lost(bench: &FaultBench) -> anyhow::Result<()> {
    let cause = "lines: the disk is full";
    let named = bench.run(&sample("s"), &["-j", "/dev/full"]);
    expect(
        &named,
        1,
        &["the log `/dev/full` lacks ", cause, "verdict  "],
    )?;
    let workshop = bench.with_plan("1", 1, &sample("s"));
    std::os::unix::fs::symlink("/dev/full", workshop.path("jmeter.log"))?;
    let default = workshop.run(&["run", "p.jmx"], LIMIT);
    expect(
        &default,
        0,
        &["warning: the log `jmeter.log` lacks ", cause],
    )
}

fn closes_at_once(bench: &FaultBench) -> anyhow::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let out = format!("graphite={address}");
    let inside = [pause(500), sample("s")].concat();
    for (required, code) in [(None, 0), (Some("--out-required"), 1)] {
        let workshop = bench.with_plan("1", 5, &inside);
        let mut words = vec!["run", "p.jmx", "--out", &out];
        words.extend(required);
        let finished = workshop.run(&words, LIMIT);
        let failed_output = format!("output graphite at `{address}`: ");
        expect(
            &finished,
            code,
            &[&failed_output, "batches were not delivered"],
        )?;
    }
    Ok(())
}

fn down_at_the_end(bench: &FaultBench) -> anyhow::Result<()> {
    // Dropping the listener leaves a port on which nothing listens.
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let out = format!("influxdb=http://me:secret@{address}/write?db=jmeter");
    let workshop = bench.with_plan("1", 10, &[pause(200), sample("s")].concat());
    let since = Instant::now();
    let finished = workshop.run(&["run", "p.jmx", "--out", &out], LIMIT);
    let took = since.elapsed();
    let failed_output = format!("output influxdb at `http://{address}/write`: ");
    expect(&finished, 0, &[&failed_output, "it refuses the connection"])?;
    ensure(!finished.err.contains("secret"), "the password is told")?;
    // The run itself takes two seconds.
    ensure(took < Duration::from_secs(5), &format!("it took {took:?}"))
}

/// Runs as a user of its own, since a limit on threads counts all of a user's, and does not hold for root.
fn no_threads(bench: &FaultBench) -> anyhow::Result<()> {
    let id = Command::new("id").arg("-u").output()?;
    let can_change =
        id.stdout.trim_ascii() == b"0" && Command::new("setpriv").arg("--version").output().is_ok();
    if !can_change {
        println!("        skipped: it needs root and setpriv");
        return Ok(());
    }
    let workshop = bench.with_plan("8", 1, &sample("s"));
    let opened = Command::new("chmod")
        .args(["-R", "a+rwX"])
        .arg(workshop.path(""))
        .status()?;
    ensure(opened.success(), "the folder cannot be opened")?;
    let mut refused = 0;
    for threads in 2..12 {
        let limits = format!(
            "ulimit -u {threads} 2> /dev/null || ulimit -p {threads}; HOME=/nonexistent; export HOME"
        );
        let words = "run p.jmx --no-run-file -j /dev/null -l r.csv";
        let finished = bench.run_as_nobody(&workshop, &limits, words)?;
        let both = [finished.out.as_str(), finished.err.as_str()].concat();
        ensure(
            !both.contains("a bug in Drumfire") && !both.contains("panicked"),
            &format!("with {threads} threads: {both}"),
        )?;
        match finished.code {
            Some(0) => {}
            Some(1) => {
                refused += 1;
                expect(&finished, 1, &["error: "])?;
            }
            code => anyhow::bail!("exit code {code:?} with {threads} threads: {both}"),
        }
    }
    ensure(refused > 0, "no run was refused")
}

/// Runs a script that writes to address 0 beside a user that takes samples, in place and on a thread of its own.
fn native_crash(bench: &FaultBench) -> anyhow::Result<()> {
    let Some(workshop) = scripts_folder(bench) else {
        return Ok(());
    };
    let script = "def f = Class.forName('sun.misc.Unsafe').getDeclaredField('theUnsafe'); f.accessible = true; if (vars.getIteration() > 1 || !vars.get('x')) { vars.put('x', '1'); f.get(null).putAddress(0L, 0L) }";
    let busy = group("1", -1, &[pause(20), sample("busy")].concat());
    let crashes = group(
        "1",
        1,
        &[pause(300), sample("before"), groovy("crashes", script)].concat(),
    );
    workshop.write("p.jmx", plan(&[busy, crashes].concat()));
    let since = Instant::now();
    let finished = workshop.run(
        &["run", "p.jmx", "-l", "r.csv", "--report", "p.html"],
        LIMIT,
    );
    let took = since.elapsed();
    let expected = [
        "JSR223Sampler 'crashes'",
        "has crashed",
        // The sample that crashed is the only one without a row.
        UNACCOUNTED,
        "1 sample without a result",
        "... end of run",
        "verdict  ",
    ];
    expect(&finished, 1, &expected)?;
    let rows = workshop.read("r.csv");
    ensure(
        rows.ends_with('\n') && rows.contains(",busy,") && rows.contains(",before,"),
        "rows are missing",
    )?;
    ensure(workshop.path("p.html").exists(), "the report is missing")?;
    ensure(took < Duration::from_secs(40), &format!("it took {took:?}"))
}

/// Names a sampler by the answer of a server, and looks at all texts for people.
fn labels(bench: &FaultBench) -> anyhow::Result<()> {
    const EVIL: &str = "a&#10;::error::owned&#10;##[error]x &lt;script&gt;alert(1)&lt;/script&gt; ${__unescape(\\u001b)}[31mred";
    let workshop = bench.folder();
    let long = "x".repeat(1 << 20);
    for (file, ms) in [("one", 1), ("two", 30)] {
        let inside = [pause(ms), sample(EVIL), sample(&format!("{EVIL}{long}"))];
        workshop.write("p.jmx", plan(&group("2", 20, &inside.concat())));
        let run = format!("{file}.drumfire");
        let words = [
            "run",
            "p.jmx",
            "--run-file",
            &run,
            "--markdown",
            "run.md",
            "--junit",
            "run.xml",
            "--fail-on",
            "samples < 1",
        ];
        let finished = workshop.run(&words, LIMIT);
        ensure(
            finished.code == Some(0),
            &format!("exit code {:?}", finished.code),
        )?;
        harmless("the terminal of a run", &finished.out)?;
        harmless("the messages of a run", &finished.err)?;
    }
    let words = [
        "compare",
        "one.drumfire",
        "two.drumfire",
        "--anyway",
        "--markdown",
        "c.md",
        "--junit",
        "c.xml",
        "--annotations",
    ];
    let finished = workshop.run(&words, LIMIT);
    let summary = finished
        .out
        .lines()
        .filter(|line| !line.starts_with("::"))
        .collect::<Vec<_>>();
    harmless("the terminal of a comparison", &summary.join("\n"))?;
    let annotations = finished.out.lines().filter(|line| line.starts_with("::"));
    for line in annotations {
        ensure(
            line.contains("title=compared with"),
            "a label is an annotation",
        )?;
        ensure(line.len() < 10_000, "an annotation is too long")?;
    }
    for file in ["run.md", "run.xml", "c.md", "c.xml"] {
        let text = workshop.read(file);
        harmless(file, &text)?;
        ensure(
            !text.contains("<script"),
            &format!("{file} has a label's HTML"),
        )?;
    }
    Ok(())
}

fn harmless(what: &str, text: &str) -> anyhow::Result<()> {
    ensure(
        !text.contains('\u{1b}'),
        &format!("{what} has an escape sequence"),
    )?;
    for line in text.lines() {
        let is_log = !what.ends_with(".xml");
        let is_command =
            line.trim_start().starts_with("::error") || (is_log && line.contains("##[error"));
        ensure(
            !is_command,
            &format!("a line of {what} is a command: {line:.80}"),
        )?;
        ensure(
            line.len() < 200_000,
            &format!("{what} has a line of {} bytes", line.len()),
        )?;
    }
    Ok(())
}
