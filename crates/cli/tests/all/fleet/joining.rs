//! Agents that come later than the run, and runs that come later than others.

use std::time::{Duration, Instant};

use drumfire_testkit::nats::has_server;
use drumfire_testkit::ports::free_address;
use drumfire_testkit::program::{LIMIT, finish};

use super::stage::{
    Fleet, column, group, long_plan, pause, plan, sample, start_agent, text, workshop,
};

#[test]
fn agents_that_come_later_take_over_arrivals_and_users() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a"]);
    let schedule = text(
        "OpenModelThreadGroup.schedule",
        "rate(30/sec) even_arrivals(25 sec)",
    );
    let open = format!(
        r#"<OpenModelThreadGroup guiclass="g" testclass="OpenModelThreadGroup" testname="O">{schedule}</OpenModelThreadGroup><hashTree>{}</hashTree>"#,
        sample("arrival ${__threadNum}")
    );
    let body = pause(100) + &sample("user ${__threadNum}");
    let users = group("ThreadGroup", 4, -1, Some(25), &body);
    fleet.home.write("plan.jmx", plan(&(open.clone() + &users)));
    let run = fleet.start_counted(&["--agents", "1..3"], Duration::ZERO);
    let (place, b) = start_agent(&fleet, "b", &["--once"]);
    fleet.agents.push((place, Some(b)));
    let finished = finish(run, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.err.contains("agent `b` joins at"), "{finished:?}");
    let labels = column(&fleet.home, "label");
    fleet.assert_all_rows_count();
    // Each arrival took place once, wherever; all 750 are there.
    let arrivals = labels
        .iter()
        .filter(|(label, _)| label.starts_with("arrival"));
    let arrivals: Vec<u32> = arrivals.map(|(_, count)| *count).collect();
    assert_eq!(arrivals, [1; 750], "{labels:?}");
    for user in 1..=4 {
        let count = labels[&format!("user {user}")];
        // Nobody runs twice at a time.
        assert!((50..=265).contains(&count), "{user}: {count}");
    }
    let b = fleet.agents[1].1.take().expect("it ran");
    let ended = finish(b, LIMIT);
    let samples = ended.out.split("has ended, ").nth(1);
    let samples = samples.and_then(|rest| rest.split(' ').next()?.parse::<u32>().ok());
    assert!(samples.is_some_and(|samples| samples > 50), "{ended:?}");
}

#[test]
fn an_agent_that_is_started_again_after_it_was_told_to_end_goes_on() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a", "b"]);
    fleet.home.write("plan.jmx", long_plan(4, 25));
    let run = fleet.start_counted(&["--agents", "2"], Duration::from_secs(5));
    fleet.signal(1, "TERM");
    let first = fleet.agents[1].1.take().expect("it runs");
    assert_eq!(finish(first, LIMIT).code, Some(143));
    let (place, again) = start_agent(&fleet, "b", &["--once"]);
    fleet.agents.push((place, Some(again)));
    let finished = finish(run, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(finished.err.contains("agent `b` joins at"), "{finished:?}");
    let labels = column(&fleet.home, "label");
    // The rows of both of its lives are there.
    fleet.assert_all_rows_count();
    assert_eq!(labels.len(), 4, "{labels:?}");
    assert!(labels.values().all(|count| *count > 40), "{labels:?}");
}

#[test]
fn runs_wait_for_their_turn_and_agents_tells_who_waits() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&[]);
    let (_place, mut agent) = start_agent(&fleet, "a", &[]);
    fleet.home.write("plan.jmx", long_plan(1, 20));
    let first = fleet.start(&["--agents", "1"]);
    fleet.until_running();
    let url = fleet.nats.url();
    let one = plan(&group("ThreadGroup", 1, 1, None, &sample("x")));
    let waiting = ["second", "third"].map(|name| {
        let home = workshop();
        home.write(&format!("{name}.jmx"), &one);
        let file = format!("{name}.jmx");
        let words = [
            "run", &file, "--nats", &url, "--agents", "1", "--wait", "-l", "rows.jtl",
        ];
        let child = home.start(&words);
        let deadline = Instant::now() + LIMIT;
        loop {
            let listed = fleet.home.run(&["agents", "--nats", &url], LIMIT);
            if listed.out.contains(&format!("{file} on ")) {
                assert!(listed.out.contains("busy: `a`"), "{listed:?}");
                break;
            }
            assert!(Instant::now() < deadline, "it waits: {listed:?}");
        }
        (home, child)
    });
    let listed = fleet.home.run(&["agents", "--nats", &url, "--json"], LIMIT);
    let listed: serde_json::Value = serde_json::from_str(&listed.out).expect("it is JSON");
    assert!(listed[0]["run"].is_string(), "{listed:#}");
    let plans = listed[0]["waiting"].as_array().expect("a list").iter();
    let plans: Vec<_> = plans
        .map(|run| run["plan"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(plans, ["second.jmx", "third.jmx"], "{listed:#}");
    assert_eq!(finish(first, LIMIT).code, Some(0));
    let started = waiting.map(|(home, child)| {
        let finished = finish(child, LIMIT);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        let times = column(&home, "timeStamp");
        times.keys().next().expect("a row").clone()
    });
    assert!(started[0] < started[1], "{started:?}");
    let _ = agent.kill();
    let _ = agent.wait();
}

#[test]
fn agents_and_coordinator_have_metrics() {
    if !has_server() {
        return;
    }
    let fleet = Fleet::of(&[]);
    let [of_agent, of_run] = [(); 2].map(|()| free_address().to_string());
    let (_place, mut agent) = start_agent(&fleet, "a", &["--metrics", &of_agent]);
    fleet.home.write("plan.jmx", long_plan(3, 8));
    let out = format!("prometheus={of_run}");
    let run = fleet.start(&["--agents", "1", "--out", &out]);
    fleet.until_running();
    let until = |address: &str, word: &str| {
        let deadline = Instant::now() + LIMIT;
        loop {
            let text = get(address);
            if text.contains(word) {
                return text;
            }
            assert!(Instant::now() < deadline, "{word}: {text}");
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    let text = until(&of_agent, r#"drumfire_agent_users{agent="a"} 3"#);
    assert!(
        text.contains(r#"drumfire_agent_state{agent="a",state="running"} 1"#),
        "{text}"
    );
    assert!(text.contains("drumfire_agent_undelivered"), "{text}");
    let text = until(&of_run, r#"agent="a"} 3"#);
    assert!(text.contains("drumfire_agent_samples_total{run="), "{text}");
    assert_eq!(finish(run, LIMIT).code, Some(0));
    until(&of_agent, r#"state="idle"} 1"#);
    let _ = agent.kill();
    let _ = agent.wait();
}

/// The metrics that a server at this address sends for `/metrics`; empty if nothing listens there.
fn get(address: &str) -> String {
    use std::io::{Read as _, Write as _};
    let asked = || -> std::io::Result<String> {
        let mut stream = std::net::TcpStream::connect(address)?;
        write!(
            stream,
            "GET /metrics HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"
        )?;
        let mut text = String::new();
        stream.read_to_string(&mut text)?;
        Ok(text)
    };
    asked().unwrap_or_default()
}

#[test]
fn rows_of_large_files_are_sent_as_they_are_used() {
    if !has_server() {
        return;
    }
    let mut fleet = Fleet::of(&["a", "b", "c"]);
    let rows: String = (0..4_000)
        .map(|row| format!("r{row},\"two\nlines\"\n"))
        .collect();
    fleet
        .home
        .write("data/rows.csv", format!("row,note\n{rows}"));
    let path = fleet.home.path("data/rows.csv");
    let file = std::fs::OpenOptions::new().append(true).open(path);
    let file = file.expect("it is there");
    // The rest of the file has no line ends, and no user reads so far.
    file.set_len(4 << 30).expect("the file is sparse");
    let csv = format!(
        r#"<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c">{}{}</CSVDataSet><hashTree/>"#,
        text("filename", "data/rows.csv"),
        text("quotedData", "true"),
    );
    let body = csv + &sample("${row}");
    fleet
        .home
        .write("plan.jmx", plan(&group("ThreadGroup", 6, 200, None, &body)));
    let run = fleet.start(&["--agents", "3", "-l", "rows.jtl"]);
    let finished = finish(run, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let labels = column(&fleet.home, "label");
    assert_eq!(labels.len(), 1_200, "each row is another one: {finished:?}");
    for (place, child) in &mut fleet.agents {
        let child = child.take().expect("it runs");
        assert_eq!(finish(child, LIMIT).code, Some(0));
        let kept = place.path(".cache/drumfire/files");
        let kept = std::fs::read_dir(kept).expect("it is there");
        let bytes: u64 = kept
            .map(|file| file.expect("it is there").metadata().expect("it has").len())
            .sum();
        assert!(bytes < 1 << 20, "{bytes} bytes are kept");
    }
}
