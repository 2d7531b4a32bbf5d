//! Runs on several agents: processes of the program on this machine, and a real NATS server. Without one on the path these
//! tests are skipped.

mod attach;
mod joining;
mod kubernetes;
mod lifetime;
mod options;
mod outputs;
mod room;
mod security;
mod stage;

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use drumfire_testkit::nats::{Nats, has_server};
use drumfire_testkit::program::{Finished, LIMIT, finish};
use stage::{Fleet, column, group, json, long_plan, pause, plan, sample, text, workshop};

#[test]
fn local_agents_run_a_plan_as_one_machine_does() {
    if !has_server() {
        return;
    }
    let workshop = workshop();
    let rows: String = (0..300).map(|row| format!("r{row}\n")).collect();
    workshop.write("data/rows.csv", rows);
    workshop.write("data/word.txt", "sent");
    let csv = format!(
        r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c">{}{}{}{}</CSVDataSet><hashTree/>"#,
        text("filename", "data/rows.csv"),
        text("variableNames", "row"),
        text("recycle", "false"),
        text("stopThread", "true")
    );
    let once = |class: &str, label: &str| group(class, 1, 1, None, &sample(label));
    let groups = once("SetupThreadGroup", "set ${__setProperty(seen,yes)}")
        + &group(
            "ThreadGroup",
            7,
            -1,
            None,
            &(csv
                + &pause(5)
                + &sample(
                    "${row} ${__P(seen,no)} ${__P(agent.count)} ${__FileToString(data/word.txt)}",
                )),
        )
        + &once("PostThreadGroup", "end");
    workshop.write("plan.jmx", plan(&groups));
    let words = [
        "run",
        "plan.jmx",
        "--agents",
        "local:3",
        "-l",
        "rows.jtl",
        "--progress",
        "lines",
        "--report",
        "report.html",
        "--summary-json",
        "run.json",
        "--fail-on",
        "samples < 302",
    ];
    let Finished { code, out, err } = workshop.run(&words, LIMIT);
    assert_eq!(code, Some(0), "{out}{err}");
    let labels = column(&workshop, "label");
    assert_eq!(labels.len(), 302, "{labels:?}");
    assert!(labels.values().all(|count| *count == 1), "{labels:?}");
    for row in 0..300 {
        assert!(
            labels.contains_key(&format!("r{row} yes 3 sent")),
            "{row}: {labels:?}"
        );
    }
    let users = column(&workshop, "threadName");
    let expected = (1..=7).map(|user| format!("G 1-{user}"));
    assert!(
        expected.clone().all(|user| users.contains_key(&user)),
        "{users:?}"
    );
    assert_eq!(
        users.len(),
        7,
        "setUp and tearDown have a user of a name that is there: {users:?}"
    );
    assert!(
        out.contains("local-001") && out.contains("local-003"),
        "{out}"
    );
    assert!(workshop.path("report.html").is_file());
    assert_eq!(json(&workshop, "run.json")["total"]["count"], 302);
}

#[test]
fn without_a_server_there_is_a_hint() {
    let workshop = workshop().variable("PATH", "/nowhere");
    workshop.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("a"))),
    );
    // `env` is found by its path; the program finds nothing.
    let mut child = Command::new(env!("CARGO_BIN_EXE_drumfire"));
    let child = child
        .args([
            "run",
            "plan.jmx",
            "--agents",
            "local:2",
            "--progress",
            "lines",
        ])
        .current_dir(workshop.path(""))
        .env("PATH", "/nowhere")
        .env("HOME", workshop.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(1), "{}", finished.err);
    assert!(
        finished.err.contains("apt-get install nats-server"),
        "{}",
        finished.err
    );
}

#[test]
fn agents_are_listed_and_chosen_by_label() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&["a", "b"]);
    let url = fleet.nats.url();
    let deadline = Instant::now() + LIMIT;
    loop {
        let listed = fleet.home.run(&["agents", "--nats", &url, "--json"], LIMIT);
        assert_eq!(listed.code, Some(0), "{}", listed.err);
        let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("it is JSON");
        if listed.as_array().is_some_and(|agents| agents.len() == 2) {
            assert_eq!(listed[0]["labels"]["place"], "a");
            let most = &listed[0]["ceilings"]["samples a second, by CPU"];
            assert!(most.as_u64().is_some_and(|most| most > 0), "{listed:#}");
            break;
        }
        assert!(Instant::now() < deadline, "both are there");
    }
    fleet.home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 3, 2, None, &sample("x"))),
    );
    let missing = fleet.start(&["--agents", "a,c", "--agents-wait", "1s"]);
    let missing = finish(missing, LIMIT);
    assert_eq!(missing.code, Some(1));
    assert!(
        missing.err.contains("Waited 1 s for `c`"),
        "{}",
        missing.err
    );
    let run = finish(
        fleet.start(&["--agents", "place=b", "--summary-json", "run.json"]),
        LIMIT,
    );
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    assert_eq!(json(&fleet.home, "run.json")["total"]["count"], 6);
}

#[test]
fn jmeters_switches_run_the_whole_plan_on_each_server() {
    if !has_server() {
        return;
    }
    let nats = Nats::start();
    let at = format!("-Jdrumfire.nats={}", nats.url());
    let server = |host: &str| {
        let home = workshop();
        let name = format!("-Djava.rmi.server.hostname={host}");
        let child = home.start(&["-s", &at, &name]);
        (home, child)
    };
    let servers = [server("10.9.8.7"), server("box")];
    let home = workshop();
    let body = sample("${__P(who,nobody)} ${__P(more,nothing)}");
    home.write("plan.jmx", plan(&group("ThreadGroup", 2, 3, None, &body)));
    home.write("more.properties", "more=file\n");
    let words = [
        "-n",
        "-t",
        "plan.jmx",
        "-R",
        "10.9.8.7:1099,box",
        "-Gwho=all",
        "-Gmore.properties",
        "-X",
        "-l",
        "rows.jtl",
        "-Jmode=Statistical",
        &at,
    ];
    let Finished { code, out, err } = home.run(&words, LIMIT);
    assert_eq!(code, Some(0), "{out}{err}");
    assert_eq!(column(&home, "label"), [("all file".to_owned(), 12)].into());
    let users = ["10-9-8-7-G 1-1", "10-9-8-7-G 1-2", "box-G 1-1", "box-G 1-2"];
    assert!(column(&home, "threadName").keys().eq(users), "{out}");
    let lines = [
        "Starting distributed test with remote engines: [10.9.8.7:1099, box] @ ",
        "each of 2 agents runs the whole plan",
        "mode=Statistical: agents send sums",
    ];
    assert!(lines.iter().all(|line| out.contains(line)), "{out}");
    for (_, child) in servers {
        let ended = finish(child, LIMIT);
        assert_eq!(
            ended.code,
            Some(0),
            "-X ends it: {}{}",
            ended.out,
            ended.err
        );
    }
}

#[test]
fn a_plan_that_an_agent_refuses_does_not_start() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&["a", "b"]);
    let csv = format!(
        r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c">{}</CSVDataSet><hashTree/>"#,
        text(
            "filename",
            &fleet.home.path("only-here.csv").to_string_lossy()
        )
    );
    fleet.home.write("only-here.csv", "a\n1\n");
    fleet.home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 2, 1, None, &(csv + &sample("x")))),
    );
    // The file has an absolute path: it is not sent, and here it goes away before the agents look.
    let child = fleet.start(&["--agents", "2"]);
    std::thread::sleep(Duration::from_millis(300));
    let _ = std::fs::remove_file(fleet.home.path("only-here.csv"));
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(1), "{}", finished.out);
    assert!(
        finished.err.contains("nothing was sent"),
        "{}",
        finished.err
    );
    assert!(finished.err.contains("only-here.csv"), "{}", finished.err);
}

#[test]
fn a_killed_agent_is_told_of_and_spoils_the_verdict() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&["a", "b", "c"]);
    fleet.home.write("plan.jmx", long_plan(6, 20));
    let child = fleet.start(&["--agents", "3", "--strict", "--summary-json", "run.json"]);
    fleet.until_running();
    std::thread::sleep(Duration::from_secs(3));
    fleet.signal(1, "KILL");
    let killed = Instant::now();
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(6), "{}{}", finished.out, finished.err);
    assert!(
        finished.err.contains("agent `b` lost at"),
        "{}",
        finished.err
    );
    assert!(finished.out.contains("INVALID"), "{}", finished.out);
    assert!(killed.elapsed() < Duration::from_secs(60));
}

#[test]
fn users_of_a_killed_agent_go_to_the_others() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&["a", "b", "c"]);
    fleet.home.write("plan.jmx", long_plan(6, 25));
    let child = fleet.start(&[
        "--agents",
        "3",
        "--on-lost",
        "redistribute",
        "-l",
        "rows.jtl",
    ]);
    fleet.until_running();
    std::thread::sleep(Duration::from_secs(3));
    fleet.signal(2, "KILL");
    let finished = finish(child, LIMIT);
    assert!(
        finished.err.contains("its users go to `a`, `b`"),
        "{}",
        finished.err
    );
    // The rows of the agent that is gone are gone with it; its users are in those of the others.
    let users = column(&fleet.home, "label");
    assert_eq!(users.len(), 6, "{users:?}");
}

#[test]
fn an_agent_that_is_started_again_takes_its_part_again() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a", "b"]);
    fleet.home.write("plan.jmx", long_plan(4, 30));
    let child = fleet.start(&["--agents", "2", "-l", "rows.jtl"]);
    fleet.until_running();
    std::thread::sleep(Duration::from_secs(2));
    fleet.signal(1, "KILL");
    let url = fleet.nats.url();
    let place = workshop();
    let again = place.start(&["agent", "--nats", &url, "--name", "b", "--once"]);
    fleet.agents.push((place, Some(again)));
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    assert!(
        finished.err.contains("agent `b` was started again"),
        "{}",
        finished.err
    );
    assert!(finished.out.contains("INVALID"), "{}", finished.out);
    // The rows of its second life are there: its users ran again.
    let users = column(&fleet.home, "label");
    assert_eq!(users.len(), 4, "{users:?}");
}

#[test]
fn a_server_that_restarts_costs_nothing() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a", "b"]);
    fleet.home.write("plan.jmx", long_plan(4, 12));
    let child = fleet.start_counted(&["--agents", "2"], Duration::from_secs(2));
    fleet.nats.restart(Duration::from_secs(2));
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    fleet.assert_all_rows_count();
}

#[test]
fn an_agent_outlives_a_server_that_is_away_between_two_runs() {
    if !has_server() {
        return;
    }
    let (mut nats, home, place) = (Nats::start(), workshop(), workshop());
    let url = nats.url();
    let mut agent = place.start(&["agent", "--nats", &url, "--name", "a"]);
    home.write(
        "plan.jmx",
        plan(&group("ThreadGroup", 1, 1, None, &sample("x"))),
    );
    let words = ["run", "plan.jmx", "--nats", &url, "--agents", "1"];
    let first = home.run(&words, LIMIT);
    assert_eq!(first.code, Some(0), "{first:?}");
    // The agent begins anew after its run, and finds no server.
    nats.restart(Duration::from_secs(3));
    let second = home.run(&words, LIMIT);
    let _ = agent.kill();
    let ended = finish(agent, LIMIT);
    assert_eq!(second.code, Some(0), "{second:?} {ended:?}");
}

#[test]
fn a_frozen_agent_is_heard_again_and_nothing_counts_twice() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&["a", "b"]);
    fleet.home.write("plan.jmx", long_plan(4, 15));
    let child = fleet.start_counted(&["--agents", "2"], Duration::from_secs(2));
    fleet.signal(0, "STOP");
    std::thread::sleep(Duration::from_secs(5));
    fleet.signal(0, "CONT");
    let finished = finish(child, LIMIT);
    assert_eq!(finished.code, Some(0), "{}{}", finished.out, finished.err);
    assert!(finished.err.contains("silent"), "{}", finished.err);
    fleet.assert_all_rows_count();
}

#[test]
fn a_plan_shows_who_gets_what() {
    let workshop = workshop();
    workshop.write("plan.jmx", long_plan(10, 5));
    let shown = workshop.run(&["plan", "plan.jmx", "--agents", "4"], LIMIT);
    assert_eq!(shown.code, Some(0), "{}", shown.err);
    assert!(shown.out.contains("G: 3, 3, 2, 2 users"), "{}", shown.out);
    let path: PathBuf = workshop.path("plan.jmx");
    assert!(path.is_file());
}
