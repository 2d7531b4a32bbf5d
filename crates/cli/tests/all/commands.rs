//! The commands with a small plan: what is printed when, what reaches the plan, and the exit codes.

use drumfire_testkit::plans::{debug, group, http, plan};
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::redact::redact;

/// A folder with `p.jmx`, whose user does this once.
fn workshop(elements: &str) -> Workshop {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(1, elements)));
    workshop
}

fn run(workshop: &Workshop, line: &str) -> Finished {
    let words: Vec<&str> = line.split_whitespace().collect();
    workshop.run(&words, LIMIT)
}

/// Runs a plan of one Debug Sampler.
fn run_one(line: &str) -> Finished {
    run(&workshop(&debug("look")), line)
}

/// The labels of a result file.
fn labels(workshop: &Workshop, file: &str) -> Vec<String> {
    let rows = workshop.read(file);
    let mut rows = csv::Reader::from_reader(rows.as_bytes());
    let column = rows.headers().expect("a header").clone();
    let column = column.iter().position(|name| name == "label");
    let column = column.expect("a column of labels");
    rows.records()
        .map(|row| row.expect("a row")[column].to_owned())
        .collect()
}

#[test]
fn run_of_jmeters_command_line_prints_jmeters_lines_in_jmeters_order() {
    let finished = run_one("-n -t p.jmx -Jjmeterengine.nongui.port=0");
    let out = redact(&finished.out, &[]);
    let lines: Vec<&str> = out
        .lines()
        .take_while(|line| *line != "... end of run")
        // A run across a full half minute of the clock has a line of that half minute too.
        .filter(|line| !line.starts_with("summary + "))
        .collect();
    let [created, tree, starting, summary, tidying] = lines[..] else {
        panic!("{out}");
    };
    assert_eq!(
        [created, tree, starting, tidying],
        [
            "Creating summariser <summary>",
            "Created the tree successfully using p.jmx",
            "Starting standalone test @ [DATE] ([MS])",
            "Tidying up ...    @ [DATE] ([MS])",
        ]
    );
    assert!(summary.starts_with("summary =      1 in 00:00:0"), "{out}");
    assert!(out.contains("\n... end of run\n"), "{out}");
    assert_eq!(finished.code, Some(0));
}

#[test]
fn run_of_jmeters_command_line_names_its_port_for_messages() {
    let finished = run_one("-n -t p.jmx");
    let line = finished.out.lines().find(|line| line.contains(" on port "));
    let line = line.expect("a port");
    assert!(
        line.starts_with(
            "Waiting for possible Shutdown/StopTestNow/HeapDump/ThreadDump message on port 44"
        ),
        "{line}"
    );
}

#[test]
fn quiet_run_prints_nothing_and_run_without_summariser_names_none() {
    let finished = run_one("run p.jmx --progress quiet");
    assert_eq!((finished.out.as_str(), finished.code), ("", Some(0)));
    let finished = run_one("-n -t p.jmx -Jsummariser.name");
    assert!(finished.out.starts_with("Created the tree"), "{finished:?}");
}

#[test]
fn results_file_is_deleted_first_and_properties_reach_the_plan() {
    let workshop = workshop(&debug("${__P(users)}"));
    workshop.write("out.jtl", "an earlier run\n");
    let finished = run(&workshop, "-n -t p.jmx -l out.jtl -f -Jusers=7");
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(labels(&workshop, "out.jtl"), ["7"]);
}

#[test]
fn thresholds_of_options_and_of_the_property_decide_the_exit_code() {
    let failed = "FAILED  samples 1   fails if < 2\n";
    for line in [
        "run p.jmx --fail-on errors>0 --fail-on samples<2",
        "-n -t p.jmx -Jdrumfire.fail_on=errors>0;samples<2;",
    ] {
        let finished = run_one(line);
        assert_eq!(finished.code, Some(5), "{line}: {finished:?}");
        assert!(finished.out.contains("errors 0"), "{line}: {finished:?}");
        assert!(finished.out.contains(failed), "{line}: {finished:?}");
    }
    let quiet = run_one("run p.jmx --progress quiet --fail-on samples<2");
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("", failed));
}

#[test]
fn threshold_that_was_not_judged_fails_the_run_unless_that_is_allowed() {
    let workshop = workshop(&debug("look"));
    let threshold = "p95 > 1s for 10min";
    let property = format!("-Jdrumfire.fail_on={threshold}");
    for (words, code) in [
        (&["run", "p.jmx", "--fail-on", threshold][..], 5),
        (&["-n", "-t", "p.jmx", &property], 5),
        (
            &["run", "p.jmx", "--fail-on", threshold, "--allow-unjudged"],
            0,
        ),
        (
            &[
                "-n",
                "-t",
                "p.jmx",
                &property,
                "-Jdrumfire.allow_unjudged=true",
            ],
            0,
        ),
    ] {
        let finished = workshop.run(words, LIMIT);
        assert_eq!(finished.code, Some(code), "{words:?}: {finished:?}");
        assert!(finished.out.contains("not judged  p95"), "{finished:?}");
    }
}

#[test]
fn threshold_that_fails_good_runs_draws_a_warning() {
    let warned = run_one("run p.jmx --fail-on p95<300ms");
    let warning = "warning: `p95<300ms` fails runs whose p95 is below 300 ms; write `p95>300ms`\n";
    assert!(warned.err.contains(warning), "{warned:?}");
    let fine = run_one("run p.jmx --fail-on p95>300ms");
    assert!(!fine.err.contains("warning"), "{fine:?}");
}

#[test]
fn wrong_threshold_is_refused_before_anything_is_sent() {
    let workshop = workshop(&debug("look"));
    let finished = run(&workshop, "run p.jmx -l out.jtl --fail-on p95>300");
    let message = "error: threshold `p95>300`: `300` is not a limit for p95, which is a time \
                   and needs its unit: us, ms, s or min\nhint: write `p95 > 300ms`\n";
    assert_eq!((finished.code, finished.err.as_str()), (Some(2), message));
    assert!(!workshop.path("out.jtl").exists(), "nothing was sent");
}

/// A class that no jar has.
const UNKNOWN: &str = r#"<com.example.Listener guiclass="g" testclass="com.example.Listener" testname="own"/><hashTree/>"#;

#[test]
fn skip_unsupported_is_a_property_and_warnings_do_not_stop_a_run() {
    let workshop = workshop(&format!(
        "{UNKNOWN}{}",
        debug("${__P(drumfire.skip_unsupported)}")
    ));
    let refused = run(&workshop, "run p.jmx -l out.jtl --offline");
    assert_eq!(refused.code, Some(3), "{refused:?}");
    assert!(!workshop.path("out.jtl").exists(), "nothing was sent");
    let finished = run(
        &workshop,
        "run p.jmx -l out.jtl --offline --skip-unsupported",
    );
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.err.contains("warning["), "{finished:?}");
    assert_eq!(labels(&workshop, "out.jtl"), ["true"]);
}

#[test]
fn demo_site_is_there_for_the_plan() {
    let workshop = workshop(&debug(
        "${__P(demo.host,-)} ${__P(demo.port,-)} ${__P(demo.https.port,-)}",
    ));
    let finished = run(&workshop, "run p.jmx --demo -l out.jtl");
    let out = redact(&finished.out, &[]);
    assert!(
        out.starts_with("demo site  http://127.0.0.1:[PORT]/"),
        "{out}"
    );
    let labels = labels(&workshop, "out.jtl");
    let [host, ports @ ..] = &labels[0].split(' ').collect::<Vec<_>>()[..] else {
        panic!("{labels:?}");
    };
    assert_eq!(*host, "127.0.0.1");
    assert!(
        ports.iter().all(|port| port.parse::<u16>().is_ok()),
        "{labels:?}"
    );
}

#[test]
fn refused_plan_sends_nothing_and_prints_nothing_to_standard_output() {
    let workshop = workshop(UNKNOWN);
    let finished = run(&workshop, "-n -t p.jmx -l out.jtl");
    assert_eq!((finished.code, finished.out.as_str()), (Some(3), ""));
    assert!(finished.err.contains("error["), "{finished:?}");
    assert!(!workshop.path("out.jtl").exists(), "nothing was sent");
}

#[test]
fn failed_samples_are_no_failed_run() {
    let workshop = workshop(&http(
        "Home",
        &[("domain", "127.0.0.1"), ("port", "1"), ("path", "/")],
    ));
    let finished = run(&workshop, "-n -t p.jmx -l out.jtl");
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.out.contains("failures\n"), "{finished:?}");
    assert!(
        finished.out.contains("\nresults  out.jtl\n"),
        "{finished:?}"
    );
}

#[test]
fn check_says_whether_the_plan_runs() {
    let workshop = workshop(&debug("look"));
    let good = run(&workshop, "check p.jmx");
    assert_eq!(good.code, Some(0), "{good:?}");
    assert!(
        good.out
            .ends_with("the plan runs: 3 native, 0 need a JVM, 0 skipped, 0 refused\n"),
        "{good:?}"
    );
    workshop.write("bad.jmx", plan(&group(1, UNKNOWN)));
    let bad = run(&workshop, "check bad.jmx");
    assert_eq!(bad.code, Some(3), "{bad:?}");
    assert!(bad.out.contains("the plan does not run"), "{bad:?}");
    assert!(bad.err.contains("com.example.Listener"), "{bad:?}");
    assert_eq!(run(&workshop, "check bad.jmx --json").code, Some(3));
}

#[test]
fn plan_shows_the_load_and_sends_nothing() {
    let workshop = workshop(&debug("look"));
    let shown = run(&workshop, "plan p.jmx");
    assert!(
        shown.out.ends_with(
            "\nload\n  users: 1 user, one iteration each\n    user 1 starts at 0.000 s, stops after its iterations\n"
        ),
        "{shown:?}"
    );
    let shown = run(&workshop, "plan p.jmx --json");
    let value: serde_json::Value = serde_json::from_str(&shown.out).expect("JSON");
    assert_eq!(value["groups"][0]["users"][0]["start_ms"], 0);
    assert_eq!(workshop.files(), ["p.jmx"]);
}

#[test]
fn last_is_the_plan_of_the_last_run_and_names_its_results() {
    let workshop = workshop(&debug("look"));
    let refused = run(&workshop, "-n -t LAST");
    assert_eq!(
        (refused.code, refused.err.as_str()),
        (Some(2), "error: -t LAST: no plan has been run yet\n")
    );
    run(&workshop, "-n -t p.jmx");
    let finished = run(&workshop, "-n -t LAST -l LAST");
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(labels(&workshop, "p.jtl"), ["look"]);
}
