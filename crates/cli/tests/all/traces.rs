//! Tests `--trace` against a real server: the `traceparent` of each request, what `Server-Timing` says, and what the outputs show.

use std::collections::HashSet;
use std::time::Duration;

use drumfire_report::read_input;
use drumfire_testkit::nats::has_server;
use drumfire_testkit::plans::{group, http, plan, users};
use drumfire_testkit::program::{Finished, LIMIT, Workshop};
use drumfire_testkit::server::{ResponseStep, Server, respond};
use drumfire_web::traceparent::TraceParent;
use serde_json::Value;

/// A server that redirects `/old` to `/new` and names its own time.
fn server() -> Server {
    Server::start(|request| {
        let timing = "Server-Timing: db;dur=1.5, total;dur=2, cache;desc=\"HIT\"\r\n";
        if request.target == "/old" {
            let moved = format!("Location: /new\r\n{timing}");
            return vec![ResponseStep::Send(respond("302 Found", &moved, ""))];
        }
        vec![
            ResponseStep::Pause(Duration::from_millis(5)),
            ResponseStep::Send(respond("200 OK", timing, "fine")),
        ]
    })
}

fn request(server: &Server, name: &str, path: &str, below: &str) -> String {
    let port = server.address().port().to_string();
    let request = http(
        name,
        &[
            ("domain", "127.0.0.1"),
            ("port", &port),
            ("path", path),
            ("method", "GET"),
        ],
    );
    let follows =
        r#"<boolProp name="HTTPSampler.follow_redirects">true</boolProp></HTTPSamplerProxy>"#;
    let request = request.replacen("</HTTPSamplerProxy>", follows, 1);
    let end = request.rfind("<hashTree/>").expect("a sampler has a tree");
    format!("{}<hashTree>{below}</hashTree>", &request[..end])
}

fn run(elements: &str, more: &[&str]) -> (Workshop, Finished) {
    let workshop = Workshop::new(env!("CARGO_BIN_EXE_drumfire"));
    workshop.write("p.jmx", plan(elements));
    let words: Vec<&str> = ["run", "p.jmx"].iter().chain(more).copied().collect();
    let finished = workshop.run(&words, LIMIT);
    (workshop, finished)
}

/// The `traceparent` of each request, in their order.
fn parents(server: &Server) -> Vec<Option<TraceParent>> {
    let requests = server.requests();
    let values = requests.iter().map(|request| request.header("traceparent"));
    values.map(|value| TraceParent::parse(value?)).collect()
}

#[test]
fn requests_and_rows_are_unchanged_without_the_option() {
    let server = server();
    let (workshop, finished) = run(
        &group(2, &request(&server, "Home", "/", "")),
        &["-l", "r.jtl", "--summary-json", "s.json"],
    );
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert_eq!(parents(&server), [None, None]);
    assert!(!workshop.read("r.jtl").contains("traceId"));
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    assert!(summary.get("traces").is_none(), "{summary}");
}

#[test]
fn each_sample_is_a_trace_and_each_request_a_part_of_it() {
    let server = server();
    let elements = users(
        5,
        8,
        "",
        &(request(&server, "Home", "/", "") + &request(&server, "Moved", "/old", "")),
    );
    let (workshop, finished) = run(
        &elements,
        &[
            "--trace",
            "100%",
            "-Jdrumfire.trace.column=true",
            "-l",
            "r.jtl",
        ],
    );
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let parents: Vec<TraceParent> = parents(&server).into_iter().flatten().collect();
    assert_eq!(parents.len(), 5 * 8 * 3);
    assert!(parents.iter().all(|parent| parent.is_sampled));
    let traces: HashSet<u128> = parents.iter().map(|parent| parent.trace_id).collect();
    let spans: HashSet<u64> = parents.iter().map(|parent| parent.parent_id).collect();
    assert_eq!((traces.len(), spans.len()), (80, 120));
    let rows = workshop.read("r.jtl");
    let mut lines = rows.lines();
    assert!(
        lines
            .next()
            .is_some_and(|head| head.ends_with(",Connect,traceId"))
    );
    let told = lines.map(|line| line.rsplit(',').next().unwrap_or_default());
    let told: HashSet<u128> = told
        .map(|id| u128::from_str_radix(id, 16).expect(id))
        .collect();
    assert_eq!(told, traces);
    assert!(
        finished
            .out
            .contains("The slowest 1 % (1 of 80 traced samples) took ")
            || finished
                .out
                .contains("the slowest 1 % (1 of 80 traced samples) took "),
        "{finished:?}"
    );
}

#[test]
fn a_share_of_the_traces_is_recorded() {
    let server = server();
    let elements = users(4, 100, "", &request(&server, "Home", "/", ""));
    let (_, finished) = run(&elements, &["--trace", "1/4"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let parents: Vec<TraceParent> = parents(&server).into_iter().flatten().collect();
    let sampled = parents.iter().filter(|parent| parent.is_sampled).count();
    // Eight standard deviations around 100 of 400.
    assert!(
        parents.len() == 400 && (31..=169).contains(&sampled),
        "{sampled}"
    );
}

#[test]
fn the_parts_of_the_slowest_add_up_in_the_summary_and_the_page() {
    let server = server();
    let elements = users(3, 50, "", &request(&server, "Home", "/", ""));
    let (workshop, finished) = run(
        &elements,
        &[
            "--trace",
            "1",
            "--trace-link",
            "https://t.example/{trace_id}",
            "--summary-json",
            "s.json",
            "--report",
            "r.html",
            "--run-file",
            "a.drumfire",
        ],
    );
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    let traces = &summary["traces"];
    let number = |value: &Value| value.as_f64().expect("a number");
    let adds_up = |elapsed: &Value, parts: &Value| {
        let parts = parts.as_object().expect("parts").values();
        let sum: f64 = parts.map(number).sum();
        assert!((sum - number(elapsed)).abs() < 0.001, "{traces}");
    };
    let split = &traces["total"]["slowest_percent"];
    assert_eq!((&split["samples"], &split["of"]), (&1.into(), &150.into()));
    adds_up(&split["elapsed_ms"], &split["parts"]);
    assert_eq!(number(&split["parts"]["server_ms"]), 2.0);
    let slowest = traces["slowest"].as_array().expect("a list");
    assert_eq!(slowest.len(), 10);
    for slow in slowest {
        adds_up(&slow["elapsed_ms"], &slow["parts"]);
    }
    let served = &traces["labels"][0]["server_timing"];
    assert_eq!(served[0]["name"], "total");
    assert_eq!(
        (&served[1]["name"], &served[1]["samples"]),
        (&"db".into(), &150.into())
    );
    let sent: HashSet<String> = parents(&server)
        .into_iter()
        .flatten()
        .map(|parent| format!("{:032x}", parent.trace_id))
        .collect();
    assert!(
        slowest
            .iter()
            .all(|slow| sent.contains(slow["trace_id"].as_str().expect("an id")))
    );
    let again = workshop.run(&["report", "a.drumfire", "--report", "b.html"], LIMIT);
    assert_eq!(again.code, Some(0), "{again:?}");
}

#[test]
fn a_plans_own_traceparent_stays() {
    let server = server();
    let own = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let manager = format!(
        r#"<HeaderManager guiclass="HeaderPanel" testclass="HeaderManager" testname="h"><collectionProp name="HeaderManager.headers"><elementProp name="" elementType="Header"><stringProp name="Header.name">TraceParent</stringProp><stringProp name="Header.value">{own}</stringProp></elementProp></collectionProp></HeaderManager><hashTree/>"#
    );
    let (workshop, finished) = run(
        &group(1, &request(&server, "Home", "/", &manager)),
        &[
            "--trace",
            "0%",
            "-Jdrumfire.trace.column=true",
            "-Jjmeter.save.saveservice.output_format=xml",
            "-l",
            "r.jtl",
        ],
    );
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let requests = server.requests();
    assert_eq!(requests[0].header("traceparent"), Some(own));
    let rows = workshop.read("r.jtl");
    assert!(
        rows.contains(r#" traceId="4bf92f3577b34da6a3ce929d0e0e4736""#),
        "{rows}"
    );
}

#[test]
fn the_implementation_java_is_traced_too() {
    let server = server();
    let java = request(&server, "Home", "/", "").replacen(
        "</HTTPSamplerProxy>",
        r#"<stringProp name="HTTPSampler.implementation">Java</stringProp></HTTPSamplerProxy>"#,
        1,
    );
    let (_, finished) = run(&group(1, &java), &["--trace", "1"]);
    assert_eq!(finished.code, Some(0), "{finished:?}");
    assert!(matches!(parents(&server).as_slice(), [Some(_)]));
}

#[test]
fn wrong_shares_and_links_are_refused_with_an_example() {
    for (words, told) in [
        (&["--trace", "often"][..], "1/100"),
        (&["--trace", "1", "--trace-link", "tempo"], "{trace_id}"),
        (
            &["-Jdrumfire.trace=2"],
            "drumfire.trace: `2` is not a share",
        ),
    ] {
        let server = server();
        let (_, finished) = run(&group(1, &request(&server, "Home", "/", "")), words);
        assert!(matches!(finished.code, Some(2 | 3)), "{finished:?}");
        assert!(finished.err.contains(told), "{finished:?}");
        assert!(server.requests().is_empty());
    }
}

#[test]
fn agents_of_a_fleet_send_ids_of_their_own() {
    if !has_server() {
        return;
    }
    let server = server();
    let elements = users(6, 10, "", &request(&server, "Home", "/", ""));
    let (workshop, finished) = run(
        &elements,
        &[
            "--trace",
            "1",
            "--trace-link",
            "https://t.example/{trace_id}",
            "--run-file",
            "a.drumfire",
            "--agents",
            "local:3",
            "--summary-json",
            "s.json",
        ],
    );
    assert_eq!(finished.code, Some(0), "{finished:?}");
    let parents: Vec<TraceParent> = parents(&server).into_iter().flatten().collect();
    let traces: HashSet<u128> = parents.iter().map(|parent| parent.trace_id).collect();
    assert_eq!((parents.len(), traces.len()), (60, 60));
    let summary: Value = serde_json::from_str(&workshop.read("s.json")).expect("JSON");
    let file = workshop.path("a.drumfire");
    let kept = read_input(&file, &Default::default(), &mut Vec::new()).expect("a run file");
    let link = ("-Jdrumfire.trace.link", "https://t.example/{trace_id}");
    let mut properties = kept.properties.iter();
    assert!(properties.any(|(name, value)| (name.as_str(), value.as_str()) == link));
    let split = &summary["traces"]["total"]["slowest_percent"];
    assert_eq!(split["of"], 60, "{summary}");
    assert_eq!(summary["balance"]["lost"], 0, "{summary}");
    assert_eq!(summary["balance"]["begun"], 60, "{summary}");
}
