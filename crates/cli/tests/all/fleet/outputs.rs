//! The outputs of a run on one machine, from a run on two agents.

use std::io::Read as _;
use std::time::{Duration, Instant};

use drumfire_testkit::nats::has_server;
use drumfire_testkit::program::{LIMIT, capacity_found, finish};

use super::stage::{group, json, long_plan, pause, plan, sample, text, workshop};

#[test]
fn thresholds_end_a_run_and_outputs_hear_of_all_agents() {
    if !has_server() {
        return;
    }
    let workshop = workshop();
    workshop.write("plan.jmx", long_plan(4, 60));
    let words = [
        "run",
        "plan.jmx",
        "--agents",
        "local:2",
        "--progress",
        "lines",
        "--abort-on",
        "samples > 100",
        "--out",
        "json=out.json",
        "--summary-json",
        "run.json",
        "--report",
        "report.html",
        "--run-file",
        "kept.json",
    ];
    let since = Instant::now();
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(5), "{}{}", finished.out, finished.err);
    assert!(
        since.elapsed() < Duration::from_secs(40),
        "it was ended early"
    );
    assert!(
        finished.err.contains("ended the run early"),
        "{}",
        finished.err
    );
    let total = json(&workshop, "run.json")["total"]["count"]
        .as_u64()
        .expect("a count");
    assert!(total > 100, "{total}");
    let sent = workshop.read("out.json");
    let counts = sent.lines().flat_map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let labels = line["labels"].as_array().cloned().unwrap_or_default();
        labels
            .into_iter()
            .filter_map(|label| label["count"].as_u64())
    });
    assert_eq!(counts.sum::<u64>(), total, "{sent}");
    let shown = workshop.run(&["report", "kept.json", "--html", "again.html"], LIMIT);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(workshop.path("report.html").is_file());
}

#[test]
fn the_live_page_and_ctl_steer_all_agents() {
    if !has_server() {
        return;
    }
    let workshop = workshop();
    workshop.write("plan.jmx", long_plan(4, 60));
    let words = [
        "run",
        "plan.jmx",
        "--agents",
        "local:2",
        "--progress",
        "lines",
        "--ui",
    ];
    let mut child = workshop.start(&words);
    let mut line = Vec::new();
    let out = child.stdout.as_mut().expect("it is a pipe");
    while !line.ends_with(b"\n") {
        let mut byte = [0];
        out.read_exact(&mut byte).expect("the address is printed");
        line.push(byte[0]);
    }
    let ctl = |words: &[&str]| workshop.run(&[&["ctl"], words].concat(), LIMIT);
    let status = || -> serde_json::Value {
        let told = ctl(&["status", "--json"]);
        serde_json::from_str(&told.out).unwrap_or_else(|_| panic!("{}{}", told.out, told.err))
    };
    let until = |what: &str, is_so: &dyn Fn(&serde_json::Value) -> bool| {
        let deadline = Instant::now() + LIMIT;
        loop {
            let now = status();
            if is_so(&now) {
                return;
            }
            assert!(Instant::now() < deadline, "{what}: {now}");
            std::thread::sleep(Duration::from_millis(200));
        }
    };
    until("users of both agents run", &|now| {
        now["standing"]["active"] == 4
    });
    until("the run is judged while it goes on", &|now| {
        now["verdict"]["state"].is_string() || now["verdict"].is_string()
    });
    assert_eq!(ctl(&["users", "G", "6"]).code, Some(0));
    until("users are added on both", &|now| {
        now["standing"]["active"] == 6
    });
    assert_eq!(ctl(&["stop"]).code, Some(0));
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
}

#[test]
fn the_capacity_of_a_target_is_searched_with_agents() {
    if !has_server() {
        return;
    }
    let workshop = workshop();
    let place = [
        ("HTTPSampler.domain", "${__P(demo.host)}"),
        ("HTTPSampler.port", "${__P(demo.port)}"),
        ("HTTPSampler.path", "/limited?rate=60"),
    ];
    let place: String = place
        .iter()
        .map(|(name, value)| text(name, value))
        .collect();
    let http = format!(
        r#"<HTTPSamplerProxy guiclass="g" testclass="HTTPSamplerProxy" testname="limited">{place}</HTTPSamplerProxy><hashTree/>"#
    );
    workshop.write("plan.jmx", plan(&group("ThreadGroup", 1, 1, None, &http)));
    let words = [
        "capacity",
        "plan.jmx",
        "--until",
        "p95 > 300ms or errors > 1%",
        "--from",
        "30/s",
        "--max",
        "500/s",
        "--users",
        "200",
        "--",
        "--demo",
        "--agents",
        "local:2",
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let found = capacity_found(&finished);
    assert!((54.0..=66.0).contains(&found), "{finished:?}");
}

#[test]
fn lines_and_logs_name_their_agent() {
    if !has_server() {
        return;
    }
    let workshop = workshop();
    let logs = sample("${__log(said here,WARN)}");
    workshop.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 2, 1, None, &(pause(10) + &logs))),
    );
    let words = [
        "run",
        "plan.jmx",
        "--agents",
        "local:2",
        "--progress",
        "lines",
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    let log = workshop.read("jmeter.log");
    for agent in ["local-001", "local-002"] {
        let lines = log.lines().filter(|line| line.contains("said here"));
        let own = format!("[{agent}]");
        assert!(lines.into_iter().any(|line| line.contains(&own)), "{log}");
    }
}
