//! The program as a script sees it: exit codes, what is on which output, what is left behind.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, ChildStdout, Command};

use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};
use drumfire_testkit::redact::redact;

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

fn run(words: &[&str]) -> Finished {
    workshop().run(words, LIMIT)
}

#[test]
fn usage_errors_end_with_two() {
    for words in [
        &[][..],
        &["-x"],
        &["-n"],
        &["-n", "-t"],
        &["run"],
        &["frobnicate"],
        &["-r"],
        &["-n", "-t", "p", "-e"],
    ] {
        let finished = run(words);
        assert_eq!(finished.code, Some(2), "{words:?}: {finished:?}");
    }
}

/// JMeter tells a wrong command line on both outputs, and scripts look at either.
#[test]
fn jmeters_words_are_on_both_outputs() {
    let finished = run(&["-n", "-t"]);
    assert_eq!(finished.err, "Error: Missing argument to option -t\n");
    assert!(finished.out.starts_with("Usage\n"), "{}", finished.out);
    assert!(
        finished
            .out
            .ends_with("\nError: Missing argument to option -t\n"),
        "{}",
        finished.out
    );
}

#[test]
fn a_missing_plan_is_told_in_jmeters_words_only_on_jmeters_command_line() {
    const JMETER: &str =
        "An error occurred: The file [FOLDER]/nope.jmx doesn't exist or can't be opened\n";
    for (words, expected) in [
        (&["-n", "-t", "nope.jmx"][..], JMETER),
        (&["run", "nope.jmx"], ""),
        (&["check", "nope.jmx", "--json"], ""),
        (&["plan", "nope.jmx"], ""),
    ] {
        let workshop = workshop();
        let finished = workshop.run(words, LIMIT);
        let folder = workshop.path("").canonicalize().expect("a folder");
        let out = redact(&finished.out, &[(&folder.to_string_lossy(), "[FOLDER]")]);
        assert_eq!(out, expected, "{words:?}");
        assert_eq!(
            finished.err,
            "error: `nope.jmx` does not exist\nhint: check the path; it is relative to the working folder\n"
        );
        assert_eq!(finished.code, Some(3), "{words:?}");
    }
}

#[test]
fn a_plan_that_is_not_one_is_refused_with_its_place() {
    let workshop = workshop();
    workshop.write("p.jmx", "{\"not\": \"a plan\"}");
    let finished = workshop.run(&["-n", "-t", "p.jmx"], LIMIT);
    assert_eq!(finished.code, Some(3), "{finished:?}");
    assert!(finished.err.starts_with("error["), "{}", finished.err);
    let log = redact(&workshop.read("jmeter.log"), &[]);
    assert!(log.starts_with("[DATE] INFO "), "{log}");
    assert!(log.contains("[DATE] ERROR d.console: error["), "{log}");
}

#[test]
fn the_log_goes_where_j_says_and_keeps_to_its_level() {
    let workshop = workshop();
    workshop.write("p.jmx", "nonsense");
    workshop.run(
        &["-n", "-t", "p.jmx", "-j", "logs/run.log", "-LERROR"],
        LIMIT,
    );
    assert_eq!(workshop.files(), ["logs/run.log", "p.jmx"]);
    assert!(!workshop.read("logs/run.log").contains(" INFO "));
}

#[test]
fn options_without_an_effect_are_told() {
    let workshop = workshop();
    workshop.write("p.jmx", "nonsense");
    let finished = workshop.run(&["-n", "-t", "p.jmx", "-i", "log4j2.xml", "-Lx=y"], LIMIT);
    for text in [
        "warning: the Log4j configuration log4j2.xml is not read",
        "warning: Invalid log level, 'y' for 'x'.",
    ] {
        assert!(finished.err.contains(text), "{text} in {}", finished.err);
    }
}

#[test]
fn help_and_version_end_well() {
    for words in [
        &["--help"][..],
        &["-?"],
        &["help"],
        &["help", "run"],
        &["-v"],
        &["version"],
        &["run", "--help"],
    ] {
        let finished = run(words);
        assert_eq!(
            (finished.code, finished.err.as_str()),
            (Some(0), ""),
            "{words:?}"
        );
        assert!(
            !finished.out.is_empty() && !finished.out.contains('\x1b'),
            "{words:?}"
        );
    }
}

/// The demo site, the rest of what it says, and the address at which it listens.
fn demo_site(workshop: &Workshop) -> (Child, BufReader<ChildStdout>, String) {
    let mut child = workshop.start(&["demo", "--port", "0", "--https-port", "0"]);
    let mut out = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut line = String::new();
    out.read_line(&mut line).expect("the first line");
    let address = line
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split('/').next())
        .expect("an address");
    let address = address.to_owned();
    (child, out, address)
}

#[test]
fn the_demo_site_ends_well_with_a_signal() {
    for signal in ["INT", "TERM"] {
        let (child, mut out, address) = demo_site(&workshop());
        let mut line = String::new();
        let mut stream = TcpStream::connect(address).expect("the site listens");
        stream
            .write_all(b"GET /api/products/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
            .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.contains("red kettle"), "{answer}");
        // The last line is printed when the signals are listened to.
        while line != "Ctrl-C to stop\n" {
            line.clear();
            assert_ne!(
                out.read_line(&mut line).expect("a line"),
                0,
                "the program goes on"
            );
        }
        let sent = Command::new("kill")
            .args([format!("-{signal}"), child.id().to_string()])
            .status();
        assert!(sent.expect("kill is there").success());
        assert_eq!(finish(child, LIMIT).code, Some(0), "{signal}");
    }
}

/// Runs one example against the demo site.
fn example(name: &str, words: &[&str]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let plan = folder.join(name);
    let workshop = workshop();
    let mut all = vec![
        "run",
        plan.to_str().expect("a path that is text"),
        "--demo",
        "-l",
        "out.jtl",
        "--progress",
        "lines",
    ];
    all.extend(words);
    let finished = workshop.run(&all, LIMIT);
    assert_eq!(finished.code, Some(0), "{name}: {finished:?}");
    assert!(
        finished.out.contains("\nTidying up ...    @ "),
        "{}",
        finished.out
    );
    let rows = workshop.read("out.jtl");
    assert!(
        rows.lines().count() > 1 && !rows.contains(",false,"),
        "{name}: {rows}"
    );
}

#[test]
fn examples_run_without_a_failed_sample() {
    example("quickstart.jmx", &["-Jusers=2", "-Jseconds=3"]);
    example("api-smoke.jmx", &[]);
    example("transactions.jmx", &[]);
    example("data-driven.jmx", &[]);
    example("downloads.jmx", &["-Jmib=1"]);
}

#[test]
fn demo_without_a_plan_runs_the_quickstart_in_any_folder() {
    let workshop = workshop();
    let words = "run --demo -Jusers=2 -Jseconds=2 -l q.jtl --report q.html --run-file q.drumfire --summary-json q.json";
    let words: Vec<&str> = words.split(' ').collect();
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let created = "\nCreated the tree successfully using quickstart\n";
    assert!(finished.out.contains(created), "{}", finished.out);
    let files = ["jmeter.log", "q.drumfire", "q.html", "q.json", "q.jtl"];
    assert_eq!(workshop.files(), files);
    assert!(!workshop.read("q.jtl").contains(",false,"));
    let summary: serde_json::Value =
        serde_json::from_str(&workshop.read("q.json")).expect("it is JSON");
    assert_eq!(summary["name"], "quickstart");
    let listed = workshop.run(&["report", "q.drumfire", "--html", "again.html"], LIMIT);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    for text in [
        &finished.out,
        &finished.err,
        &workshop.read("q.html"),
        &workshop.read("again.html"),
    ] {
        assert!(!text.contains("quickstart.jmx"), "{text}");
    }
}

#[test]
fn findings_in_the_quickstart_name_no_temporary_file() {
    let finished = run(&["run", "--demo", "-Jusers=many"]);
    assert_eq!(finished.code, Some(3), "{finished:?}");
    assert!(finished.err.contains("--> quickstart:"), "{}", finished.err);
    assert!(!finished.err.contains("quickstart.jmx"), "{}", finished.err);
}

#[test]
fn a_run_without_a_plan_names_the_option_for_the_quickstart() {
    let finished = run(&["run"]);
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(finished.err.starts_with("error: "), "{}", finished.err);
    assert!(
        finished.err.contains("`drumfire run --demo`"),
        "{}",
        finished.err
    );
    let attached = run(&["attach"]);
    assert_eq!(attached.code, Some(2), "{attached:?}");
    assert!(attached.err.contains("<RUN>"), "{}", attached.err);
}

/// Does in a shell what the help of a command shows first.
fn first_example(workshop: &Workshop, command: &str) {
    let help = workshop.run(&["help", command], LIMIT).out;
    let line = help
        .lines()
        .nth(1)
        .expect("an example is below the heading")
        .trim();
    let line = line.split_once("   ").map_or(line, |(line, _)| line);
    let folder = Path::new(env!("CARGO_BIN_EXE_drumfire")).parent();
    let folder = folder.expect("it lies in a folder").to_string_lossy();
    let path = std::env::var("PATH").expect("there is a PATH");
    let done = Command::new("bash")
        .args(["-c", line])
        .current_dir(workshop.path("."))
        .env("PATH", format!("{folder}:{path}"))
        .env("HOME", workshop.path("."))
        .output()
        .expect("bash is there");
    assert!(done.status.success(), "{line}: {done:?}");
}

#[test]
fn the_first_example_of_each_help_text_works() {
    let workshop = workshop();
    let (site, _out, address) = demo_site(&workshop);
    let port = address.rsplit(':').next().expect("it has a port");
    let settings = format!(
        "[properties]\n\"demo.host\" = \"127.0.0.1\"\n\"demo.port\" = \"{port}\"\n[matrix.axes]\nusers = [1, 2]\n"
    );
    workshop.write("drumfire.toml", settings);
    for name in ["before.jmx", "after.jmx"] {
        assert_eq!(workshop.run(&["new", name], LIMIT).code, Some(0));
    }
    for command in [
        "new", "check", "plan", "doctor", "show", "diff", "set", "fmt", "k8s",
    ] {
        first_example(&workshop, command);
    }
    // A plan that takes less than the minute of the new one.
    for name in ["plan.jmx", "shop.jmx"] {
        workshop.write(name, include_str!("../../../../examples/api-smoke.jmx"));
    }
    first_example(&workshop, "run");
    let rows = workshop.run(&["run", "plan.jmx", "-l", "results.jtl"], LIMIT);
    assert_eq!(rows.code, Some(0), "{rows:?}");
    for name in ["before.jtl", "after.jtl"] {
        workshop.write(name, workshop.read("results.jtl"));
    }
    for command in [
        "report", "compare", "merge", "runs", "matrix", "schema", "version",
    ] {
        first_example(&workshop, command);
    }
    let stopped = Command::new("kill").arg(site.id().to_string()).status();
    assert!(stopped.expect("kill is there").success());
    assert_eq!(finish(site, LIMIT).code, Some(0));
}

#[test]
fn examples_are_plans_without_a_finding() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut plans = 0;
    for entry in std::fs::read_dir(folder).expect("the examples").flatten() {
        if entry
            .path()
            .extension()
            .is_some_and(|ending| ending == "jmx")
        {
            let read = drumfire_jmx::read_file(&entry.path())
                .unwrap_or_else(|faults| panic!("{}", faults[0].render(false)));
            assert!(
                read.warnings.is_empty(),
                "{}: {}",
                entry.path().display(),
                read.warnings[0].render(false)
            );
            plans += 1;
        }
    }
    assert_eq!(plans, 5);
}
