//! The live page and `drumfire ctl`: who may ask, what is told, and what orders do to a run.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Child;
use std::time::{Duration, Instant};

use drumfire_testkit::plans::{debug, group, http, pause, plan};
use drumfire_testkit::program::{Finished, LIMIT, Workshop, finish};
use drumfire_testkit::server::{ResponseStep, Server, ok, respond};
use serde_json::Value;

/// A run of a plan that goes on until it is told to end.
struct Run {
    workshop: Workshop,
    child: Child,
    host: String,
    token: String,
}

/// The status and the body of an answer.
fn answer(mut stream: TcpStream) -> (u16, String) {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("text");
    let status = answer.split(' ').nth(1).and_then(|code| code.parse().ok());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap_or_default();
    let body = match head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        true => unchunked(body),
        false => body.to_owned(),
    };
    (status.expect("a status"), body)
}

/// A chunked body of text, whole.
fn unchunked(mut rest: &str) -> String {
    let mut whole = String::new();
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).expect("a length");
        if length == 0 {
            break;
        }
        whole.push_str(&after[..length]);
        rest = &after[length + 2..];
    }
    whole
}

impl Run {
    fn start(more: &[&str]) -> Run {
        Run::of(&[debug("sample"), pause(20)].concat(), more)
    }

    /// Starts a run whose thread group has these elements.
    fn of(elements: &str, more: &[&str]) -> Run {
        let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
        workshop.write("p.jmx", plan(&group(-1, elements)));
        let mut words = vec!["run", "--ui", "p.jmx", "--report", "r.html"];
        words.extend(more);
        let begun = Instant::now();
        let mut child = workshop.start(&words);
        let out = child.stdout.as_mut().expect("it is a pipe");
        // Byte by byte: nothing must be lost in a buffer.
        let mut line = Vec::new();
        while !line.ends_with(b"\n") {
            let mut byte = [0];
            out.read_exact(&mut byte).expect("the address is printed");
            line.push(byte[0]);
        }
        assert!(begun.elapsed() < Duration::from_secs(30));
        let line = String::from_utf8(line).expect("text");
        let url = line.trim().strip_prefix("live page  http://");
        let (host, token) = url
            .and_then(|url| url.split_once("/?token="))
            .unwrap_or_else(|| panic!("{line}"));
        Run {
            host: host.to_owned(),
            token: token.to_owned(),
            workshop,
            child,
        }
    }

    fn ctl(&self, words: &[&str]) -> Finished {
        let words: Vec<&str> = ["ctl"].iter().chain(words).copied().collect();
        self.workshop.run(&words, LIMIT)
    }

    /// The status and the body of an answer.
    fn ask(&self, method: &str, target: &str, fields: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        write!(
            stream,
            "{method} {target} HTTP/1.1\r\n{fields}Connection: close\r\n\r\n"
        )
        .expect("it is sent");
        answer(stream)
    }

    /// Sends a body behind the fields of a request.
    fn post(&self, path: &str, body: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(&self.host).expect("it listens");
        let (token, host, length) = (&self.token, &self.host, body.len());
        write!(
            stream,
            "POST {path}?token={token} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )
        .expect("it is sent");
        answer(stream)
    }

    fn get(&self, path: &str) -> (u16, String) {
        let target = format!("{path}?token={}", self.token);
        self.ask("GET", &target, &format!("Host: {}\r\n", self.host))
    }

    fn status(&self) -> Value {
        serde_json::from_str(&self.get("/api/status").1).expect("JSON")
    }

    /// Waits until the status is as it should be.
    fn until(&self, what: &str, is_so: impl Fn(&Value) -> bool) {
        let deadline = Instant::now() + LIMIT;
        loop {
            let status = self.status();
            if is_so(&status) {
                return;
            }
            assert!(Instant::now() < deadline, "{what}: {status}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn end(self) -> (Finished, Workshop) {
        (finish(self.child, LIMIT), self.workshop)
    }
}

#[test]
fn only_the_token_opens_the_page_and_only_under_its_own_name() {
    let run = Run::start(&[]);
    let own = format!("Host: {}\r\n", run.host);
    let token = format!("?token={}", run.token);
    let (status, page) = run.get("/");
    assert_eq!(status, 200);
    assert!(page.contains("connect-src 'self'") && page.contains("id=\"payload\""));
    assert!(
        !page.contains("https://") || !page.contains("src=\"http"),
        "nothing is loaded"
    );
    for path in [
        "/",
        "/api/status",
        "/api/events",
        "/api/openapi.json",
        "/api/stop",
        "/else",
    ] {
        for (token, fields) in [
            ("", own.as_str()),
            ("?token=", &own),
            ("?token=0123456789abcdef0123456789abcdef", &own),
            ("", "Host: evil.example\r\n"),
        ] {
            let (status, body) = run.ask("GET", &format!("{path}{token}"), fields);
            assert_eq!(status, 401, "{path}{token} {fields}");
            assert!(!body.contains(&run.token), "{body}");
        }
    }
    for fields in [
        "Host: evil.example\r\n",
        "Host: localhost\r\n",
        "Host: 127.0.0.1:1\r\n",
    ] {
        let (status, _) = run.ask("GET", &format!("/{token}"), fields);
        assert_eq!(status, 421, "{fields}");
    }
    for origin in ["http://evil.example", "null", "https://127.0.0.1"] {
        let fields = format!("{own}Origin: {origin}\r\n");
        let (status, _) = run.ask("POST", &format!("/api/stop{token}"), &fields);
        assert_eq!(status, 403, "{origin}");
    }
    let bearer = format!("{own}Authorization: Bearer {}\r\n", run.token);
    assert_eq!(run.ask("GET", "/api/status", &bearer).0, 200);
    assert_eq!(
        run.ask("OPTIONS", &format!("/api/stop{token}"), &own).0,
        405
    );
    assert_eq!(run.ask("GET", &format!("/api/stop{token}"), &own).0, 405);
    assert_eq!(run.get("/api/none").0, 404);
    run.until("samples", |status| status["samples"].as_u64() > Some(0));
    assert_eq!(run.ctl(&["stop"]).code, Some(0));
    assert_eq!(run.end().0.code, Some(0));
}

#[test]
fn every_path_of_the_description_is_there() {
    let run = Run::start(&[]);
    let (_, text) = run.get("/api/openapi.json");
    let description: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(description["openapi"], "3.1.0");
    let paths = description["paths"].as_object().expect("paths");
    assert_eq!(paths.len(), 11);
    for (path, methods) in paths {
        // A wrong method shows that the path is known, and gives no order.
        let wrong = if methods.get("post").is_some() {
            "GET"
        } else {
            "POST"
        };
        let target = format!("{path}?token={}", run.token);
        let (status, _) = run.ask(wrong, &target, &format!("Host: {}\r\n", run.host));
        assert_eq!(status, 405, "{path}");
    }
    run.ctl(&["stop"]);
    run.end();
}

/// A Constant Throughput Timer that hardly delays.
const THROUGHPUT: &str = r#"<ConstantThroughputTimer guiclass="TestBeanGUI" testclass="ConstantThroughputTimer" testname="rate"><intProp name="calcMode">0</intProp><doubleProp><name>throughput</name><value>6000000.0</value><savedValue>0.0</savedValue></doubleProp></ConstantThroughputTimer><hashTree/>"#;

#[test]
fn a_rate_factor_is_refused_where_the_plan_has_no_rate() {
    let run = Run::start(&[]);
    run.until("samples", |status| status["samples"].as_u64() > Some(0));
    let refused = run.ctl(&["rate", "2"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("no rate to change"), "{refused:?}");
    assert_eq!(run.ctl(&["rate", "1"]).code, Some(0), "it changes nothing");
    assert_eq!(run.ctl(&["users", "users", "2"]).code, Some(0));
    assert_eq!(run.ctl(&["stop"]).code, Some(0));
    run.end();
}

#[test]
fn orders_change_the_run_and_are_marks_of_it() {
    let elements = [debug("sample"), pause(20), THROUGHPUT.to_owned()].concat();
    let run = Run::of(
        &elements,
        &["--run-file", "run.drumfire", "--out", "json=out.jsonl"],
    );
    run.until("samples", |status| status["samples"].as_u64() > Some(3));
    let status = run.ctl(&["status"]);
    assert_eq!(status.code, Some(0), "{status:?}");
    assert!(
        status.out.starts_with("p.jmx  running, 00:00:"),
        "{status:?}"
    );
    let users = run.ctl(&["users", "users", "4"]);
    assert_eq!(
        (users.code, users.out.as_str()),
        (Some(0), "accepted: users of `users` set to 4\n")
    );
    run.until("four users", |status| status["standing"]["active"] == 4);
    run.until("the group has four", |status| {
        status["groups"][0]["active"] == 4
    });
    assert_eq!(run.ctl(&["users", "users", "2"]).code, Some(0));
    run.until("two users", |status| status["standing"]["active"] == 2);
    for (words, why) in [
        (
            &["users", "nobody", "1"][..],
            "No thread group is called `nobody`; the plan has `users`",
        ),
        (&["rate", "5000"], "give a number from 0 to 1000"),
        (
            &["users", "users", "900000"],
            "confirm the order with `anyway`",
        ),
    ] {
        let refused = run.ctl(words);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert!(refused.err.contains(why), "{refused:?}");
    }
    let many = run.ctl(&["users", "users", "23", "--anyway"]);
    assert_eq!(many.code, Some(0), "{many:?}");
    run.until("the target is what was ordered", |status| {
        status["standing"]["planned_users"] == 23 && status["groups"][0]["ordered"] == 23
    });
    assert_eq!(run.ctl(&["users", "users", "2"]).code, Some(0));
    let url = format!("http://{}/?token={}", run.host, run.token);
    assert_eq!(run.ctl(&["pause", "--ui", &url]).code, Some(0));
    run.until("paused", |status| status["standing"]["phase"] == "paused");
    for words in [
        &["resume"][..],
        &["rate", "2"],
        &["mark", "deployed"],
        &["set", "a", "b"],
        &["stop"],
    ] {
        assert_eq!(run.ctl(words).code, Some(0), "{words:?}");
    }
    let (finished, workshop) = run.end();
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let rows = workshop.read("out.jsonl");
    let shown = workshop.run(&["report", "run.drumfire", "--html", "again.html"], LIMIT);
    assert_eq!(shown.code, Some(0), "{shown:?}");
    for mark in [
        "users of `users` set to 4",
        "users of `users` set to 2",
        "paused",
        "resumed",
        "rate factor set to 2",
        "deployed",
        "property `a` set",
        "asked to end",
    ] {
        assert!(rows.contains(mark), "{mark}: {rows}");
    }
    let gone = workshop.run(&["ctl", "status"], LIMIT);
    assert_eq!(gone.code, Some(1), "{gone:?}");
    assert!(gone.err.contains("drumfire run plan.jmx --ui"), "{gone:?}");
}

#[test]
fn a_readonly_page_takes_no_orders() {
    let run = Run::start(&["--ui-readonly", "--out", "json=out.jsonl"]);
    run.until("samples", |status| status["samples"].as_u64() > Some(0));
    let refused = run.ctl(&["stop"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.err.contains("--ui-readonly"), "{refused:?}");
    assert_eq!(run.ctl(&["status", "--json"]).code, Some(0));
    let mut run = run;
    run.child.kill().expect("it runs");
    run.end();
}

#[test]
fn a_page_hears_each_second_and_becomes_the_report() {
    let run = Run::start(&[]);
    let mut stream = TcpStream::connect(&run.host).expect("it listens");
    write!(
        stream,
        "GET /api/events?token={} HTTP/1.1\r\nHost: {}\r\n\r\n",
        run.token, run.host
    )
    .expect("it is sent");
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut next = |name: &str| -> String {
        let head = format!("event: {name}");
        assert!(lines.any(|line| line == head), "no {name} comes");
        let data = lines.next().expect("its content");
        data.strip_prefix("data: ").expect("its content").to_owned()
    };
    let state: Value = serde_json::from_str(&next("state")).expect("JSON");
    assert_eq!(state["kind"], "live");
    let second: Value = serde_json::from_str(&next("second")).expect("JSON");
    assert!(second["count"].as_u64() > Some(0), "{second}");
    assert_eq!(second["rows"][0][0], "sample");
    let more: Value = serde_json::from_str(&next("second")).expect("JSON");
    assert!(more["total"]["count"].as_u64() > second["total"]["count"].as_u64());
    assert!(next("facts").contains("\"health\":[{"));
    run.ctl(&["stop"]);
    let report: String = serde_json::from_str(&next("ended")).expect("a text");
    let (finished, workshop) = run.end();
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        workshop.read("r.html").contains(&report),
        "the same as the report's"
    );
}

#[test]
fn a_page_that_stays_gives_the_report_and_the_files_until_it_is_closed() {
    let run = Run::start(&["--ui-stay", "-l", "rows.jtl", "--run-file", "run.drumfire"]);
    run.until("samples", |status| status["samples"].as_u64() > Some(0));
    let post = |path: &str, body: &str| run.post(path, body);
    assert_eq!(post("/api/close", "").0, 409);
    assert_eq!(run.get("/api/files/0").0, 404);
    let (status, label) = post("/api/label", r#"{"label": "sample"}"#);
    let label: Value = serde_json::from_str(&label).expect("JSON");
    assert_eq!(status, 200);
    assert!(
        label["row"]["steps"]["count"][0].as_u64() > Some(0),
        "{label}"
    );
    assert_eq!(post("/api/label", r#"{"label": "Pay"}"#).0, 404);
    assert_eq!(run.ctl(&["stop"]).code, Some(0));
    run.until("the end", |status| status["standing"]["phase"] == "ended");
    // As after a reload.
    let (_, events) = run.get("/api/events");
    let names: Vec<&str> = events
        .lines()
        .filter_map(|line| line.strip_prefix("event: "))
        .collect();
    assert_eq!(names, ["state", "standing", "ended"]);
    assert!(
        events.contains(r#""stays":true,"files":["rows.jtl","r.html","run.drumfire"]"#),
        "{events}"
    );
    let (status, rows) = run.get("/api/files/0");
    assert_eq!((status, rows), (200, run.workshop.read("rows.jtl")));
    assert_eq!(run.get("/api/files/1").1, run.workshop.read("r.html"));
    for missing in ["/api/files/9", "/api/files/..%2Fp.jmx", "/api/files/"] {
        assert_eq!(run.get(missing).0, 404, "{missing}");
    }
    assert_eq!(post("/api/close", "").0, 200);
    let (finished, _) = run.end();
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(
        finished.out.contains("the page stays until you close it"),
        "{finished:?}"
    );
}

#[cfg(unix)]
#[test]
fn a_signal_closes_a_page_that_stays() {
    let run = Run::start(&["--ui-stay"]);
    run.until("samples", |status| status["samples"].as_u64() > Some(0));
    assert_eq!(run.ctl(&["stop"]).code, Some(0));
    run.until("the end", |status| status["standing"]["phase"] == "ended");
    let id = run.child.id().to_string();
    let sent = std::process::Command::new("kill").arg(&id).status();
    assert!(sent.expect("kill exists").success());
    assert_eq!(run.end().0.code, Some(0));
}

#[test]
fn a_page_that_stays_needs_a_page() {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(1, &debug("sample"))));
    let refused = workshop.run(&["run", "p.jmx", "--ui-stay"], LIMIT);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.err.contains("--ui-stay needs --ui"), "{refused:?}");
}

#[test]
fn a_threshold_about_a_stretch_ends_the_run() {
    let server = Server::start(|_| vec![ResponseStep::Send(respond("500 Out of order", "", ""))]);
    let port = server.address().port().to_string();
    let place = [("domain", "127.0.0.1"), ("port", &port), ("path", "/")];
    let elements = [http("check out", &place), pause(20)];
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(-1, &elements.concat())));
    let words = [
        "run",
        "p.jmx",
        "--fail-on",
        "errors of /check/ > 100000 for 50s",
        "--abort-on",
        "errors of check out > 10% over 2s",
        "--summary-json",
        "s.json",
        "--run-file",
        "r.drumfire",
        "--fail-on",
        "p95 > 60s for 3s",
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(5), "{finished:?}");
    let early = "warning: `errors of check out > 10% over 2s` ended the run early";
    assert!(finished.err.contains(early), "{finished:?}");
    for line in [
        "not judged  errors of /check/   fails if > 100000 for 50 s   it needs 50 whole seconds; the run had ",
        "FAILED  errors of check out 100 %   fails if > 10 % over 2 s",
        "p95",
    ] {
        assert!(finished.out.contains(line), "{line}: {finished:?}");
    }
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    assert_eq!(summary["thresholds"][2]["passed"], false, "{summary}");
    let late = workshop.run(
        &["report", "r.drumfire", "--fail-on", "errors > 1 for 2s"],
        LIMIT,
    );
    assert_eq!(late.code, Some(2), "{late:?}");
    assert!(late.err.contains("give it to `drumfire run`"), "{late:?}");
}

#[test]
fn the_targets_own_metrics_are_in_the_run_file_and_a_dead_source_costs_nothing() {
    let metrics =
        "node_load1 1.5\nnode_memory_MemTotal_bytes 4\nnode_memory_MemAvailable_bytes 1\n";
    let server = Server::start(|_| vec![ResponseStep::Send(ok(metrics))]);
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write(
        "p.jmx",
        plan(&group(60, &[debug("sample"), pause(50)].concat())),
    );
    let node = format!("node=http://{}/metrics", server.address());
    let nginx = "nginx=http://127.0.0.1:1/status";
    let words = [
        "run",
        "p.jmx",
        "--watch",
        &node,
        "--watch",
        nginx,
        "--run-file",
        "r.drumfire",
    ];
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let silent = "warning: nginx 127.0.0.1:1 does not answer: ";
    assert!(finished.err.contains(silent), "{finished:?}");
    let mut warnings = Vec::new();
    let file = workshop.path("r.drumfire");
    let run = drumfire_report::read_input(&file, &Default::default(), &mut warnings);
    let run = run.expect("a run file");
    let name = format!("Load, node {}", server.address());
    let load = run.health.iter().find(|health| health.name == name);
    let load = load.unwrap_or_else(|| panic!("{:?}", run.health));
    assert!(load.at_ms.len() >= 2, "{load:?}");
    assert!(
        load.lines[0].values.iter().all(|value| *value == 1.5),
        "{load:?}"
    );
    let wrong = workshop.run(&["run", "p.jmx", "--watch", "web=x"], LIMIT);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(
        wrong.err.contains("`web` is not a kind of source"),
        "{wrong:?}"
    );
}

#[test]
fn the_agents_of_a_plan_are_asked() {
    let agent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = agent.local_addr().expect("an address");
    std::thread::spawn(move || {
        let (mut stream, _) = agent.accept().expect("a visitor");
        for busy in 0..100 {
            if writeln!(stream, "{busy}\t50").is_err() {
                return;
            }
            std::thread::sleep(Duration::from_millis(200));
        }
    });
    let class = "kg.apc.jmeter.perfmon.PerfMonCollector";
    let cells = format!(
        r#"<stringProp name="1">127.0.0.1</stringProp><stringProp name="2">{}</stringProp><stringProp name="3">CPU</stringProp><stringProp name="4"></stringProp>"#,
        address.port()
    );
    let perfmon = format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="p"><collectionProp name="metricConnections"><collectionProp name="1">{cells}</collectionProp><collectionProp name="2">{cells}</collectionProp></collectionProp></{class}><hashTree/>"#
    );
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write(
        "p.jmx",
        plan(&group(50, &[debug("sample"), pause(50), perfmon].concat())),
    );
    let finished = workshop.run(&["run", "p.jmx", "--run-file", "r.drumfire"], LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let run = drumfire_report::read_input(
        &workshop.path("r.drumfire"),
        &Default::default(),
        &mut Vec::new(),
    );
    let run = run.expect("a run file");
    let name = format!("CPU, agent {address}");
    let found = run
        .health
        .iter()
        .filter(|health| health.name == name)
        .count();
    assert_eq!(found, 1, "{finished:?}");
}

#[test]
fn outputs_that_hang_fail_or_are_gone_cost_no_sample() {
    let hung = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let broken = Server::start(|_| vec![ResponseStep::Send(respond("500 Oops", "", ""))]);
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write(
        "p.jmx",
        plan(&group(40, &[debug("sample"), pause(25)].concat())),
    );
    let outs = [
        format!("graphite={}", hung.local_addr().expect("an address")),
        format!(
            "influxdb=http://{}/write",
            hung.local_addr().expect("an address")
        ),
        format!("otlp=http://{}/v1/metrics", broken.address()),
        "clickhouse=http://127.0.0.1:1/".to_owned(),
        "json=/dev/full".to_owned(),
    ];
    let mut words = vec![
        "run",
        "p.jmx",
        "--ui",
        "-l",
        "r.jtl",
        "--summary-json",
        "s.json",
    ];
    for out in &outs {
        words.extend(["--out", out]);
    }
    let finished = workshop.run(&words, LIMIT);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    assert_eq!(summary["total"]["count"], 40);
    assert_eq!(workshop.read("r.jtl").lines().count(), 41);
    for sink in ["influxdb", "otlp", "clickhouse", "json"] {
        assert!(
            finished.err.contains(&format!("output {sink} at `")),
            "{sink}: {finished:?}"
        );
    }
}

#[test]
fn an_address_that_cannot_be_had_is_told_before_the_load() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(&group(1, &debug("sample"))));
    let refused = workshop.run(&["run", "p.jmx", "-l", "r.jtl", "--ui", &address], LIMIT);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(
        refused
            .err
            .contains(&format!("`--ui {address}`: the port is in use")),
        "{refused:?}"
    );
    assert!(!workshop.path("r.jtl").exists());
    let wrong = workshop.run(&["run", "p.jmx", "-Jdrumfire.ui=nowhere"], LIMIT);
    assert_eq!(wrong.code, Some(2), "{wrong:?}");
    assert!(
        wrong
            .err
            .contains("`nowhere` is not a value of the property `drumfire.ui`"),
        "{wrong:?}"
    );
}

#[test]
fn a_page_without_an_address_is_had_for_a_url_too() {
    let server = Server::start(|_| vec![ResponseStep::Send(ok("yes"))]);
    let url = format!("http://{}/", server.address());
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    for words in [
        ["run", "--ui", &url, "-n", "3"],
        ["run", &url, "--ui", "-n", "3"],
    ] {
        let finished = workshop.run(&words, LIMIT);
        assert_eq!(finished.code, Some(0), "{words:?}: {finished:?}");
        let address = "live page  http://127.0.0.1:";
        assert!(finished.out.contains(address), "{finished:?}");
    }
    assert_eq!(server.requests().len(), 6);
}
