//! Every row of the table of exit codes, staged; and the faults that are refused before the first request.

use std::process::Command;
use std::time::Duration;

use drumfire_testkit::plans::{debug, group, http, pause, plan, users, writer};
use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};
use drumfire_testkit::server::{ResponseStep, Server, ok};

fn workshop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// Runs a plan of one user with this inside.
fn run(inside: &str, words: &[&str]) -> Finished {
    let workshop = workshop();
    workshop.write("p.jmx", plan(&group(1, inside)));
    workshop.write("file", "no folder");
    workshop.run(&[&["run", "p.jmx"], words].concat(), LIMIT)
}

/// Whether the run has opened its results file.
fn has_head(workshop: &Workshop) -> bool {
    std::fs::metadata(workshop.path("r.csv")).is_ok_and(|file| file.len() > 0)
}

fn csv(name: &str) -> String {
    format!(
        r#"<CSVDataSet guiclass="TestBeanGUI" testclass="CSVDataSet" testname="Accounts"><stringProp name="filename">{name}</stringProp><stringProp name="variableNames">a</stringProp></CSVDataSet><hashTree/>"#
    )
}

#[test]
fn each_code_of_the_table() {
    let sample = debug("s");
    assert_eq!(run(&sample, &[]).code, Some(0));
    let lost = run(&sample, &["-l", "file/r.csv"]);
    assert_eq!(lost.code, Some(1), "{lost:?}");
    assert_eq!(run(&sample, &["--bogus"]).code, Some(2));
    assert_eq!(run(&csv("no.csv"), &[]).code, Some(3));
    let broken = run(&sample, &["--fail-on", "samples < 5"]);
    assert_eq!(broken.code, Some(5), "{broken:?}");
    assert_eq!(run("", &[]).code, Some(8));
}

#[test]
fn six_is_for_a_verdict_that_is_not_valid() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(&group(40, &[pause(50), debug("s")].concat())));
    let child = workshop.start(&["run", "p.jmx", "--strict", "-l", "r.csv"]);
    let signal = |name: &str| {
        let words = [format!("-{name}"), child.id().to_string()];
        let sent = Command::new("kill").args(words).status();
        assert!(sent.is_ok_and(|status| status.success()));
    };
    while !has_head(&workshop) {
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    signal("STOP");
    std::thread::sleep(Duration::from_millis(1500));
    signal("CONT");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(6), "{finished:?}");
    assert!(finished.out.contains("verdict  INVALID"), "{finished:?}");
}

#[test]
fn a_missing_file_is_refused_alike_by_run_check_and_plan() {
    for command in ["run", "check", "plan"] {
        let workshop = workshop();
        workshop.write(
            "p.jmx",
            plan(&group(1, &[csv("no.csv"), debug("s")].concat())),
        );
        let refused = workshop.run(&[command, "p.jmx"], LIMIT);
        assert_eq!(refused.code, Some(3), "{command}: {refused:?}");
        for word in [
            "`no.csv`",
            "'Accounts'",
            "looked for /",
            "drumfire.missing_files=jmeter",
        ] {
            assert!(refused.err.contains(word), "{command}: {word}: {refused:?}");
        }
    }
    let inside = [csv("no.csv"), debug("s")].concat();
    let as_jmeter = run(&inside, &["-Jdrumfire.missing_files=jmeter"]);
    assert_eq!(as_jmeter.code, Some(8), "{as_jmeter:?}");
    assert!(
        as_jmeter
            .err
            .contains("nothing was sent: the only user ended"),
        "{as_jmeter:?}"
    );
    assert!(
        as_jmeter
            .out
            .contains("verdict  INVALID\n  nothing was sent"),
        "{as_jmeter:?}"
    );
    assert!(as_jmeter.out.contains("... end of run"), "{as_jmeter:?}");
}

#[test]
fn a_bad_number_from_the_command_line_is_refused() {
    let workshop = workshop();
    let text = plan(&group(1, &debug("s")));
    let text = text.replace(r#"num_threads">1<"#, r#"num_threads">${__P(users,1)}<"#);
    workshop.write("p.jmx", &text);
    let refused = workshop.run(&["-n", "-t", "p.jmx", "-Jusers=abc"], LIMIT);
    assert_eq!(refused.code, Some(3), "{refused:?}");
    for word in ["`users`", "`abc`", "'users'"] {
        assert!(refused.err.contains(word), "{word}: {refused:?}");
    }
    let misspelt = workshop.run(&["run", "p.jmx", "-Jusres=5"], LIMIT);
    assert_eq!(misspelt.code, Some(0), "{misspelt:?}");
    assert!(
        misspelt.err.contains("did you mean `users`?"),
        "{misspelt:?}"
    );
}

#[test]
fn outputs_are_proved_before_the_first_request_and_told_at_once() {
    let server = Server::start(|_| vec![ResponseStep::Send(ok(""))]);
    let port = server.address().port().to_string();
    let request = http(
        "r",
        &[("domain", "127.0.0.1"), ("port", &port), ("path", "/")],
    );
    let words = [
        "-l",
        "file/r.csv",
        "--report",
        "file/page.html",
        "--run-file",
        "file/run",
        "--junit",
        "file/j.xml",
    ];
    let refused = run(&[request, writer("file/w.csv", &[])].concat(), &words);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert_eq!(
        refused.err.matches("cannot be written").count(),
        5,
        "{refused:?}"
    );
    assert!(server.requests().is_empty());
    let log = run(&debug("s"), &["-j", "file/log"]);
    assert_eq!(log.code, Some(1), "{log:?}");
}

#[test]
fn a_report_that_is_lost_at_the_end_costs_only_itself() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(&group(10, &[pause(50), debug("s")].concat())));
    let words = [
        "run",
        "p.jmx",
        "-l",
        "r.csv",
        "--report",
        "gone/page.html",
        "--run-file",
        "run.drumfire",
    ];
    let child = workshop.start(&words);
    while !has_head(&workshop) {
        std::thread::sleep(Duration::from_millis(5));
    }
    // A file where the folder was: it cannot be made again.
    let _ = std::fs::remove_dir_all(workshop.path("gone"));
    workshop.write("gone", "a file");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished.err.contains("page.html` cannot be written"),
        "{finished:?}"
    );
    assert!(finished.out.contains("verdict  "), "{finished:?}");
    assert!(workshop.path("run.drumfire").exists());
    assert_eq!(workshop.read("r.csv").lines().count(), 11);
}

#[test]
fn a_limit_of_file_sizes_costs_rows_and_not_the_run() {
    let workshop = Workshop::new("/bin/sh");
    workshop.write(
        "p.jmx",
        plan(&group(
            200,
            &[pause(5), debug("a sample with a long name")].concat(),
        )),
    );
    let script = format!(
        "ulimit -f 8; exec {} run p.jmx -l r.csv -j /dev/null",
        env!("CARGO_BIN_EXE_drumfire")
    );
    let finished = workshop.run(&["-c", &script], LIMIT);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(
        finished
            .err
            .contains("the file is larger than the system allows"),
        "{finished:?}"
    );
    assert!(finished.out.contains("verdict  "), "{finished:?}");
    assert!(workshop.read("r.csv").ends_with('\n'));
}

#[test]
fn groups_without_users_are_fine_beside_one_that_sends() {
    let workshop = workshop();
    let both = [users(0, 1, "", &debug("none")), group(1, &debug("s"))].concat();
    workshop.write("p.jmx", plan(&both));
    assert_eq!(workshop.run(&["p.jmx"], LIMIT).code, Some(0));
    workshop.write("q.jmx", plan(&users(0, 1, "", &debug("none"))));
    let none = workshop.run(&["q.jmx"], LIMIT);
    assert_eq!(none.code, Some(8), "{none:?}");
    assert!(
        none.err.contains("every thread group has 0 users"),
        "{none:?}"
    );
}

#[test]
fn no_label_reaches_terminal_or_ci_as_a_command() {
    let label = "a&#27;]0;title&#7;&#10;::error::injected";
    let finished = run(&debug(label), &["--fail-on", "samples < 1"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(!finished.out.contains('\u{1b}'), "{finished:?}");
    let mut lines = finished.out.lines();
    assert!(
        lines.all(|line| !line.trim_start().starts_with("::")),
        "{finished:?}"
    );
}

#[test]
fn the_summary_for_programs_says_how_it_ended() {
    let workshop = workshop();
    workshop.write("p.jmx", plan(&group(3, &debug("s"))));
    let words = [
        "p.jmx",
        "--summary-json",
        "s.json",
        "--fail-on",
        "samples < 5",
    ];
    assert_eq!(workshop.run(&words, LIMIT).code, Some(5));
    let text = workshop.read("s.json");
    for part in [
        r#""exit_code": 5"#,
        r#""count": 3"#,
        r#""passed": false"#,
        r#""state": "#,
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}
