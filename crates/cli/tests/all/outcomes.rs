//! Tests the words of a run on its thresholds and its end: outcomes that were not measured are no passes, labels that the plan does
//! not have are refused, and a run that sends nothing or lasts too long says why.

use std::time::Duration;

use drumfire_testkit::plans::{debug, group, http, pause, plan, users};
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, ok};
use serde_json::Value;

fn workshop(elements: &str) -> Workshop {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(elements));
    workshop
}

/// A group without end that runs for some seconds.
fn scheduled(seconds: &str, children: &str) -> String {
    let schedule = format!(
        r#"<boolProp name="ThreadGroup.scheduler">true</boolProp><stringProp name="ThreadGroup.duration">{seconds}</stringProp>"#
    );
    users(1, -1, &schedule, children)
}

fn run(workshop: &Workshop, more: &[&str]) -> Finished {
    let words: Vec<&str> = ["run", "p.jmx"].iter().chain(more).copied().collect();
    workshop.run(&words, LIMIT)
}

#[test]
fn a_window_longer_than_the_run_is_not_judged_in_any_output() {
    let workshop = workshop(&group(20, &(pause(50) + &debug("a"))));
    let words = [
        "--fail-on",
        "p95 > 1us over 10s",
        "--fail-on",
        "errors > 1%",
        "--summary-json",
        "s.json",
        "--junit",
        "j.xml",
        "--markdown",
        "m.md",
        "--report",
        "r.html",
    ];
    let finished = run(&workshop, &words);
    assert_eq!(finished.code, Some(5), "{finished:?}");
    let line = "not judged  p95   fails if > 1 µs over 10 s   it needs 10 whole seconds; the run ended before that\n";
    assert!(finished.out.contains(line), "{finished:?}");
    let good = "ok      errors 0 %   fails if > 1 %\n";
    assert!(finished.out.contains(good), "{finished:?}");
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    let unjudged = &summary["thresholds"][0];
    assert_eq!(unjudged["outcome"], "not judged", "{summary}");
    assert_eq!(unjudged["passed"], false, "{summary}");
    assert_eq!(unjudged["message"], line.trim_end(), "{summary}");
    let junit = workshop.read("j.xml");
    assert!(
        junit.contains("<failure message=\"not judged  p95 "),
        "{junit}"
    );
    let markdown = workshop.read("m.md");
    assert!(
        markdown.starts_with("### NOT JUDGED: p.jmx, "),
        "{markdown}"
    );
    assert!(
        markdown.contains("| **not judged** | p95   fails if "),
        "{markdown}"
    );
    assert!(
        workshop
            .read("r.html")
            .contains("<title>NOT JUDGED – p.jmx")
    );
    let allowed = run(
        &workshop,
        &[
            "--fail-on",
            "p95 > 1us over 10s",
            "--allow-unjudged",
            "--junit",
            "j.xml",
        ],
    );
    assert_eq!(allowed.code, Some(0), "{allowed:?}");
    let junit = workshop.read("j.xml");
    assert!(
        junit.contains("<skipped message=\"not judged  p95 "),
        "{junit}"
    );
}

#[test]
fn a_label_that_the_plan_does_not_have_is_refused_before_the_start() {
    let target = Server::start(|_| vec![ResponseStep::Send(ok(""))]);
    let port = target.address().port().to_string();
    let place = [("domain", "127.0.0.1"), ("port", &port), ("path", "/")];
    let workshop = workshop(&group(1, &http("Check out", &place)));
    workshop.write(
        "drumfire.toml",
        "[profiles.ci]\nfail-on = [\"p95 of Chekout > 1s\"]\n",
    );
    for words in [
        &["--fail-on", "p95 of Chekout > 1s"][..],
        &["--abort-on", "p95 of Chekout > 1s over 2s"],
        &["--until", "p95 of Chekout within 5%"],
        &["-Jdrumfire.fail_on=p95 of Chekout > 1s"],
        &["--profile", "ci"],
    ] {
        let finished = run(&workshop, words);
        assert_eq!(finished.code, Some(2), "{words:?}: {finished:?}");
        for part in [
            "no sample of the plan has the label `Chekout`",
            "hint: did you mean `Check out`?",
        ] {
            assert!(finished.err.contains(part), "{words:?}: {finished:?}");
        }
    }
    assert_eq!(target.requests().len(), 0);
    let corrected = run(&workshop, &["--fail-on", "p95 of Check out > 10s"]);
    assert_eq!(corrected.code, Some(0), "{corrected:?}");
}

#[test]
fn a_run_lasts_until_its_numbers_are_known() {
    let workshop = workshop(&scheduled("90", &(pause(20) + &debug("a"))));
    let words = [
        "--until",
        "rate of a within 20%",
        "--summary-json",
        "s.json",
    ];
    let finished = run(&workshop, &words);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let told = finished
        .out
        .lines()
        .find(|line| line.starts_with("`rate of a within 20%`: "));
    assert!(
        told.is_some_and(|line| line.contains(" … ")),
        "{finished:?}"
    );
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    let length_ms = summary["ended_ms"]
        .as_i64()
        .zip(summary["started_ms"].as_i64());
    let length_ms = length_ms.map(|(ended, started)| ended - started);
    assert!(
        length_ms.is_some_and(|ms| (20_000..80_000).contains(&ms)),
        "{summary}"
    );
    let bounds = &summary["labels"][0]["intervals"]["rate_per_s"];
    let rate = &summary["labels"][0]["rate_per_s"];
    let [low, high, rate] =
        [&bounds[0], &bounds[1], rate].map(|number| number.as_f64().expect("a number"));
    assert!(
        rate - low <= 0.2 * rate && high - rate <= 0.2 * rate,
        "{summary}"
    );
}

#[test]
fn a_run_that_ends_before_its_numbers_are_known_says_how_exactly_they_are() {
    let workshop = workshop(&group(20, &(pause(20) + &debug("a"))));
    let finished = run(&workshop, &["--until", "p95 within 2%"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let line = "warning: `p95 within 2%`: not enough samples; let the run last longer, such as with `--duration 1h`";
    assert!(finished.err.contains(line), "{finished:?}");
    let refused = run(&workshop, &["--until", "p95 < 2%"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(
        refused.err.contains("such as `p95 within 2%`"),
        "{refused:?}"
    );
}

/// A target that counts its requests as nginx does, with `more` of other clients in each poll.
fn counting_target(more: u64) -> Server {
    let all = std::sync::atomic::AtomicU64::new(0);
    Server::start(move |request| {
        let is_poll = request.target == "/status";
        let grown = if is_poll { 1 + more } else { 1 };
        let all = all.fetch_add(grown, std::sync::atomic::Ordering::Relaxed) + grown;
        let status = format!(
            "Active connections: 1 \nserver accepts handled requests\n 1 1 {all} \nReading: 0 Writing: 1 Waiting: 0 \n"
        );
        vec![ResponseStep::Send(ok(if is_poll { &status } else { "" }))]
    })
}

#[test]
fn what_a_server_counted_is_compared_with_what_was_sent() {
    for (more, line) in [
        (0, " counted all 40 requests that were sent\n"),
        (3, " more): other clients sent requests, too"),
    ] {
        let target = counting_target(more);
        let port = target.address().port().to_string();
        let place = [("domain", "127.0.0.1"), ("port", &port), ("path", "/")];
        let workshop = workshop(&group(40, &(pause(20) + &http("a", &place))));
        let watch = format!("nginx=http://127.0.0.1:{port}/status");
        let finished = run(&workshop, &["--watch", &watch, "--summary-json", "s.json"]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert!(finished.out.contains(line), "{more}: {finished:?}");
        let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
        let count = &summary["counts"][0];
        assert_eq!(
            count["source"],
            format!("nginx 127.0.0.1:{port}"),
            "{summary}"
        );
        assert_eq!(
            (&count["sent"], count["cause"].is_null()),
            (&40.into(), more == 0),
            "{summary}"
        );
    }
}

#[test]
fn the_demo_site_counts_what_was_sent() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    let words = ["run", "--demo", "-Jseconds=3", "--summary-json", "s.json"];
    let finished = workshop.run(&words, LIMIT);
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    let count = &summary["counts"][0];
    assert_eq!(count["source"], "the demo site", "{summary}");
    assert!(
        count["sent"].as_u64() >= summary["total"]["count"].as_u64(),
        "{summary}"
    );
    assert_eq!(count["counted"], count["sent"], "{finished:?}");
}

#[test]
fn repeated_runs_are_judged_as_one() {
    let workshop = workshop(&group(120, &(pause(20) + &debug("a"))));
    let words = [
        "--repeat",
        "3",
        "-l",
        "rows.jtl",
        "--fail-on",
        "samples < 300",
        "--fail-on",
        "errors > 90% over 1s",
        "--summary-json",
        "s.json",
        "--report",
        "r.html",
        "--run-file",
        "all.drumfire",
    ];
    // Each run has 120 samples, so only all of them together pass.
    let finished = run(&workshop, &words);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    for line in [
        "run 3 of 3\n",
        "all 3 runs\n",
        "ok      samples 360   fails if < 300\n",
    ] {
        assert!(finished.out.contains(line), "{line}: {finished:?}");
    }
    let rows = workshop.read("rows.jtl");
    assert_eq!(rows.lines().count(), 361, "{rows}");
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    assert_eq!(summary["total"]["count"], 360);
    assert_eq!(summary["repeats"]["runs"], 3);
    let values = summary["repeats"]["numbers"][1]["values"].as_array();
    assert_eq!(values.map(Vec::len), Some(3), "{summary}");
    let page = workshop.read("r.html");
    assert!(
        page.contains("<title>PASSED"),
        "the page is that of all runs"
    );
    let again = workshop.run(
        &["report", "all.drumfire", "--fail-on", "samples > 359"],
        LIMIT,
    );
    assert_eq!(again.code, Some(5), "{again:?}");
    let failed = run(&workshop, &["--repeat", "2", "--fail-on", "samples < 300"]);
    assert_eq!(failed.code, Some(5), "{failed:?}");
    assert!(
        !failed.out.contains("FAILED  samples 120 "),
        "no run is judged alone: {failed:?}"
    );
}

#[test]
fn a_criterion_of_taurus_on_a_label_that_the_plan_does_not_have_is_refused() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write(
        "t.yml",
        "execution: [{iterations: 1, scenario: {requests: [{url: 'http://127.0.0.1:1/', label: search}]}}]\n\
         reporting: [{module: passfail, criteria: ['avg-rt of serch>1s']}]\n",
    );
    let finished = workshop.run(&["run", "t.yml"], LIMIT);
    assert_eq!(finished.code, Some(2), "{finished:?}");
    assert!(
        finished.err.contains("did you mean `search`?"),
        "{finished:?}"
    );
}

#[test]
fn a_label_that_a_result_file_does_not_have_is_not_judged() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write(
        "r.jtl",
        "timeStamp,elapsed,label,responseCode,success\n1,5,Check out,200,true\n",
    );
    let words = ["report", "r.jtl", "--fail-on", "p95 of Chekout > 1s"];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(5), "{finished:?}");
    let line = "not judged  p95 of Chekout   fails if > 1 s   no sample has the label `Chekout`; did you mean `Check out`?\n";
    assert!(finished.out.contains(line), "{finished:?}");
    let words: Vec<&str> = words.iter().chain(&["--allow-unjudged"]).copied().collect();
    assert_eq!(workshop.run(&words, LIMIT).code, Some(0));
}

#[test]
fn think_time_beyond_the_duration_is_named_by_the_run_and_by_check() {
    let workshop = workshop(&scheduled("1", &(pause(60_000) + &debug("a"))));
    let finished = run(
        &workshop,
        &[
            "--fail-on",
            "samples < 1",
            "--markdown",
            "m.md",
            "--report",
            "r.html",
        ],
    );
    assert_eq!(finished.code, Some(8), "{finished:?}");
    let why = "nothing was sent: the timer `pause` waits 60 s before `a`, which is longer than the users run";
    assert!(finished.err.contains(why), "{finished:?}");
    assert!(finished.out.contains("no sample was taken"), "{finished:?}");
    assert!(workshop.read("m.md").starts_with("### FAILED: p.jmx"));
    assert!(workshop.read("r.html").contains("<title>FAILED – p.jmx"));
    let checked = workshop.run(&["check", "p.jmx"], LIMIT);
    assert!(
        checked
            .out
            .contains("timers that wait longer than their thread group runs"),
        "{checked:?}"
    );
}

#[test]
fn a_condition_that_is_never_true_is_named() {
    let never = format!(
        r#"<IfController guiclass="IfControllerPanel" testclass="IfController" testname="On sale"><stringProp name="IfController.condition">false</stringProp></IfController><hashTree>{}</hashTree>"#,
        debug("a")
    );
    let finished = run(&workshop(&group(1, &never)), &[]);
    assert_eq!(finished.code, Some(8), "{finished:?}");
    let why = "nothing was sent: the condition of the If Controller `On sale` was false";
    assert!(finished.err.contains(why), "{finished:?}");
}

#[test]
fn a_run_that_lasts_longer_than_planned_names_the_response_that_held_it() {
    let slow = Duration::from_millis(3_500);
    let target =
        Server::start(move |_| vec![ResponseStep::Pause(slow), ResponseStep::Send(ok(""))]);
    let port = target.address().port().to_string();
    let place = [("domain", "127.0.0.1"), ("port", &port), ("path", "/")];
    let workshop = workshop(&group(-1, &http("Slow", &place)));
    let finished = run(&workshop, &["--duration", "1s"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let told = finished.err.lines().find(|line| line.contains("planned"));
    let told = told.unwrap_or_else(|| panic!("{finished:?}"));
    assert!(
        told.starts_with("warning: the run lasted ")
            && told.contains(" instead of the planned 1 s: 1 user waited ")
            && told.ends_with(" for the response of `Slow`"),
        "{told}"
    );
}

// Users of a Concurrency Thread Group finish their timers, while those of a Thread Group end instead.
#[test]
fn a_run_that_lasts_longer_than_planned_names_the_timer_that_held_it() {
    let concurrency = format!(
        r#"<com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup guiclass="com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroupGui" testclass="com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup" testname="C"><elementProp name="ThreadGroup.main_controller" elementType="com.blazemeter.jmeter.control.VirtualUserController"/><stringProp name="TargetLevel">1</stringProp><stringProp name="RampUp">0</stringProp><stringProp name="Steps">1</stringProp><stringProp name="Hold">${{__P(seconds,60)}}</stringProp><stringProp name="Unit">S</stringProp></com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup><hashTree>{}</hashTree>"#,
        pause(3_500) + &debug("a")
    );
    let finished = run(&workshop(&concurrency), &["-Jseconds=1"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished
            .err
            .contains(" instead of the planned 1 s: 1 user waited ")
            && finished.err.contains(" s in the timer `pause`\n"),
        "{finished:?}"
    );
}

#[test]
fn a_run_that_its_set_up_makes_longer_names_that() {
    let target = Server::start(|_| {
        vec![
            ResponseStep::Pause(Duration::from_millis(2_500)),
            ResponseStep::Send(ok("")),
        ]
    });
    let port = target.address().port().to_string();
    let place = [("domain", "127.0.0.1"), ("port", &port), ("path", "/")];
    let set_up = group(1, &http("Log in", &place))
        .replace("ThreadGroupGui", "SetupThreadGroupGui")
        .replace("<ThreadGroup ", "<SetupThreadGroup ")
        .replace("</ThreadGroup>", "</SetupThreadGroup>")
        .replace(
            "testclass=\"ThreadGroup\"",
            "testclass=\"SetupThreadGroup\"",
        );
    let main = scheduled("1", &(pause(50) + &debug("a")));
    let finished = run(&workshop(&(set_up + &main)), &[]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let told = finished.err.lines().find(|line| line.contains("planned"));
    assert!(
        told.is_some_and(
            |told| told.contains(" instead of the planned 1 s: the setUp thread groups took ")
        ),
        "{finished:?}"
    );
}
