//! Agents from their start to their end: relative paths, names, and orders to end.

use std::time::{Duration, Instant};

use drumfire_testkit::nats::{Nats, has_server};
use drumfire_testkit::program::{LIMIT, Workshop, finish};

use super::stage::{
    Fleet, column, group, lines, long_plan, plan, sample, start_agent, verdict, workshop,
};

/// The names of the agents that wait for work at a server.
fn idle(home: &Workshop, link: &[&str]) -> Vec<String> {
    let listed = home.run(&[&["agents", "--json"], link].concat(), LIMIT);
    assert_eq!(listed.code, Some(0), "{listed:?}");
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("it is JSON");
    let agents = listed.as_array().expect("it is a list").iter();
    let idle = agents.filter(|agent| agent["run"].is_null());
    idle.map(|agent| agent["name"].as_str().expect("a name").to_owned())
        .collect()
}

#[test]
fn an_agent_that_was_started_with_relative_paths_runs_three_plans() {
    if !has_server() {
        return;
    }
    let home = workshop();
    let nats = Nats::start_with(|_, port| {
        let port = port.to_string();
        let words = [
            "fleet",
            "init",
            "keys",
            "--host",
            "localhost",
            "--agent",
            "a",
        ];
        let made = home.run(&[&words[..], &["--port", &port]].concat(), LIMIT);
        assert_eq!(made.code, Some(0), "{made:?}");
        Some(home.path("keys/nats.conf"))
    });
    let url = format!("tls://localhost:{}", nats.port);
    let link = ["--nats", &url, "--nats-ca", "keys/server.pem"];
    let own = [
        "agent",
        "--name",
        "a",
        "--nats-creds",
        "keys/agents/a.creds",
        "--trust",
        "keys/trust.pub",
        "--cache",
        "cache",
    ];
    let mut agent = home.start(&[&own, &link[..]].concat());
    let creds = ["--nats-creds", "keys/coordinator.creds"];
    for number in 1..=3 {
        let name = format!("plan-{number}.jmx");
        let label = format!("run {number}");
        home.write(
            &name,
            plan(&group("ThreadGroup", 2, number, None, &sample(&label))),
        );
        let order = ["run", &name, "--agents", "1", "-l", "rows.jtl", "-f"];
        let sign = ["--sign", "keys/coordinator.key", "--progress", "lines"];
        let ended = home.run(&[&order, &link[..], &creds, &sign].concat(), LIMIT);
        assert_eq!(ended.code, Some(0), "{ended:?}");
        let rows = column(&home, "label");
        assert_eq!(rows, [(label, 2 * number as u32)].into(), "{ended:?}");
    }
    assert!(home.path("cache/files").is_dir(), "{:?}", home.files());
    let link: Vec<&str> = link.iter().chain(&creds).copied().collect();
    let deadline = Instant::now() + LIMIT;
    while idle(&home, &link) != ["a"] {
        assert!(Instant::now() < deadline, "the agent waits for a run");
    }
    let _ = agent.kill();
    let _ = agent.wait();
}

#[test]
fn an_agent_that_is_told_to_end_delivers_everything() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a", "b"]);
    fleet.home.write("plan.jmx", long_plan(6, 10));
    let run = fleet.start_counted(&["--agents", "2"], Duration::from_secs(5));
    // The first agent would have run the tearDown thread groups.
    fleet.signal(0, "TERM");
    let agent = fleet.agents[0].1.take().expect("it runs");
    let ended = finish(agent, LIMIT);
    assert_eq!(ended.code, Some(143), "{ended:?}");
    let finished = finish(run, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let told = "agent `a` was told to end at";
    assert!(finished.err.contains(told), "{finished:?}");
    assert!(!finished.err.contains("lost"), "{finished:?}");
    // Nobody has had its users since, so the run is not what the plan says.
    let (state, reasons) = verdict(&fleet.home);
    assert_eq!(state, "INVALID", "{reasons:?}");
    let [(what, measured)] = &reasons[..] else {
        panic!("there is one reason: {reasons:?}");
    };
    assert_eq!(what, "a part of the load is missing");
    assert!(measured.starts_with(told), "{measured}");
    assert!(
        measured.ends_with("; nobody has its users since"),
        "{measured}"
    );
    fleet.assert_all_rows_count();
}

#[test]
fn the_users_of_an_agent_that_is_told_to_end_go_to_the_others_at_once() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a", "b"]);
    let tear_down = group("PostThreadGroup", 1, 1, None, &sample("torn down"));
    let groups = long_plan(6, 10).replace(
        "</hashTree></hashTree></jmeterTestPlan>",
        &format!("{tear_down}</hashTree></hashTree></jmeterTestPlan>"),
    );
    assert!(groups.contains("torn down"), "{groups}");
    fleet.home.write("plan.jmx", groups);
    let words = ["--agents", "2", "--on-lost", "redistribute"];
    let run = fleet.start_counted(&words, Duration::from_secs(5));
    fleet.signal(0, "TERM");
    let agent = fleet.agents[0].1.take().expect("it runs");
    assert_eq!(finish(agent, LIMIT).code, Some(143));
    let finished = finish(run, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.err.contains("its users go to `b`"), "{finished:?}");
    // All load ran, so nothing about the agents spoils the numbers.
    assert_eq!(verdict(&fleet.home).1, []);
    let mut labels = column(&fleet.home, "label");
    fleet.assert_all_rows_count();
    assert_eq!(labels.remove("torn down"), Some(1), "another agent does it");
    // Each user has a sample every tenth of a second, but for the time of the handover.
    assert_eq!(labels.len(), 6, "{labels:?}");
    assert!(labels.values().all(|count| *count > 20), "{labels:?}");
}

#[test]
fn an_idle_agent_ends_at_once_when_it_is_told_to() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a"]);
    let url = fleet.nats.url();
    let deadline = Instant::now() + LIMIT;
    while idle(&fleet.home, &["--nats", &url]) != ["a"] {
        assert!(Instant::now() < deadline, "the agent waits for a run");
    }
    fleet.signal(0, "TERM");
    let agent = fleet.agents[0].1.take().expect("it runs");
    assert_eq!(finish(agent, LIMIT).code, Some(143));
}

#[test]
fn an_agent_is_idle_as_soon_after_a_run_as_a_new_one_after_its_start() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&[]);
    let (_place, mut agent) = start_agent(&fleet, "a", &[]);
    let told = lines(&mut agent);
    told.until("waits for work");
    fleet.home.write("plan.jmx", long_plan(2, 1));
    for number in 0..3 {
        let run = fleet.start(&["--agents", "1"]);
        assert_eq!(finish(run, LIMIT).code, Some(0));
        let ended = Instant::now();
        // A new agent, started at the same moment, feels the load of the machine as much, and does more before it is idle.
        let (_place, mut new) = start_agent(&fleet, &format!("new-{number}"), &[]);
        let new_is_idle = lines(&mut new).until("waits for work");
        let _ = (new.kill(), new.wait());
        told.until("has ended");
        let is_idle = told.until("waits for work");
        let [after, after_start] = [is_idle, new_is_idle].map(|at| at.duration_since(ended));
        let most = after_start + Duration::from_secs(3);
        assert!(after < most, "{after:?}, a new one after {after_start:?}");
    }
    let _ = (agent.kill(), agent.wait());
}

#[test]
fn a_second_agent_of_a_name_is_refused() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&["a"]);
    let url = fleet.nats.url();
    let deadline = Instant::now() + LIMIT;
    while idle(&fleet.home, &["--nats", &url]) != ["a"] {
        assert!(Instant::now() < deadline, "the agent waits for a run");
    }
    let second = || {
        let words = ["agent", "--nats", &url, "--name", "a"];
        fleet.home.run(&words, LIMIT)
    };
    let refused = second();
    assert_eq!(refused.code, Some(1), "{refused:?}");
    let why = "is called `a` already; give this one another `--name`";
    assert!(refused.err.contains(why), "{refused:?}");
    // The first one also has its name while it is busy.
    fleet.home.write("plan.jmx", long_plan(1, 10));
    let run = fleet.start(&["--agents", "1"]);
    fleet.until_running();
    let refused = second();
    assert!(refused.err.contains(why), "{refused:?}");
    assert_eq!(finish(run, LIMIT).code, Some(0));
}
