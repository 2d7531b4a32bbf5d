//! Responses that are read as streams: where samples end, and what their rows say.

use std::time::Duration;

use crate::support::{Ran, get, group, refusals, run_group};
use drumfire_testkit::server::{ReceivedRequest, ResponseStep, Server, ok, respond};

const PAUSE: Duration = Duration::from_millis(20);
const COLUMNS: (&str, &str) = ("drumfire.stream.columns", "true");

/// Ten events, and then nothing for long.
fn endless(request: &ReceivedRequest) -> Vec<ResponseStep> {
    if request.target.starts_with("/page") {
        return vec![ResponseStep::Send(ok("<html>no stream</html>"))];
    }
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n";
    let mut steps = vec![ResponseStep::Send(head.into())];
    for number in 1..=10 {
        steps.push(ResponseStep::Pause(PAUSE));
        let event = format!(
            "id: {number}\ndata: {{\"n\":{number},\"end\":{}}}\n\n",
            number == 7
        );
        steps.push(ResponseStep::Send(event.into_bytes()));
    }
    steps.push(ResponseStep::Hang);
    steps
}

fn set(name: &str, value: &str) -> String {
    format!(r#"<stringProp name="{name}">{value}</stringProp>"#)
}

/// One sample with these properties of the element, under those of the run.
fn read(own: &[(&str, &str)], properties: &[(&str, &str)]) -> Ran {
    let server = Server::start(endless);
    let own: String = own.iter().map(|(name, value)| set(name, value)).collect();
    let keeps = r#"<RegexExtractor guiclass="RegexExtractorGui" testclass="RegexExtractor" testname="r"><stringProp name="RegexExtractor.refname">x</stringProp><stringProp name="RegexExtractor.regex">(x)</stringProp><stringProp name="RegexExtractor.template">$1$</stringProp></RegexExtractor><hashTree/>"#;
    let body = get("s", server.address().port(), "/", &own, keeps);
    run_group(
        &group(1, 1, true),
        &body,
        &[properties, &[COLUMNS]].concat(),
    )
}

fn events(own: &[(&str, &str)], properties: &[(&str, &str)]) -> String {
    let ran = read(own, properties);
    assert_eq!(ran.column("success"), ["true"], "{:?}", ran.rows);
    assert_eq!(ran.column("responseCode"), ["200"]);
    ran.column("events").concat()
}

#[test]
fn a_sample_ends_by_a_rule_of_the_element_or_of_the_run() {
    let form = ("drumfire.stream", "sse");
    let stop = ("drumfire.stream.stop.events", "3");
    assert_eq!(events(&[form, stop], &[]), "3");
    assert_eq!(events(&[], &[form, stop]), "3");
    // The element wins over the run.
    assert_eq!(
        events(&[stop], &[form, ("drumfire.stream.stop.events", "9")]),
        "3"
    );
    let json = ("drumfire.stream.stop.json", "$.end");
    assert_eq!(events(&[form, json], &[]), "7");
    let data = ("drumfire.stream.stop.data", r#"{"n":5,"end":false}"#);
    assert_eq!(events(&[form, data], &[]), "5");
    let value = "${__jexl3(2 + 2)}";
    assert_eq!(
        events(&[form, ("drumfire.stream.stop.events", value)], &[]),
        "4"
    );
}

#[test]
fn a_time_ends_a_sample_with_what_has_come() {
    let ran = read(
        &[
            ("drumfire.stream", "sse"),
            ("drumfire.stream.stop.after_ms", "1000"),
        ],
        &[],
    );
    assert_eq!(ran.column("success"), ["true"]);
    assert_eq!(ran.column("events"), ["10"]);
    let number = |column: &str| -> f64 { ran.rows[0][column].parse().expect("a number") };
    assert!(number("elapsed") >= 1_000.0, "{:?}", ran.rows);
    // Pauses are never shorter than asked for, and the gaps are told by the kernel's stamps.
    assert!(
        number("firstEvent") >= 19.0 && number("gapP50") >= 19.0,
        "{:?}",
        ran.rows
    );
    assert!(number("gapMax") >= number("gapP95"));
    assert_eq!(ran.column("tokens"), [""]);
}

#[test]
fn a_stream_that_is_asked_for_is_kept_up_to_a_limit() {
    let limit = ("drumfire.stream.max_body_bytes", "40");
    let stop = ("drumfire.stream.stop.events", "8");
    let ran = read(&[("drumfire.stream", "sse"), stop], &[limit]);
    assert_eq!(
        (ran.column("success"), ran.column("events")),
        (vec!["true"], vec!["8"])
    );
    let bytes: u64 = ran.column("bytes")[0].parse().expect("a number");
    assert!(bytes > 200, "all bytes count: {bytes}");
    let limit = ("drumfire.stream.max_event_bytes", "10");
    let ran = read(&[("drumfire.stream", "sse"), stop], &[limit]);
    let message = "Non HTTP response message: the response's event exceeds 10 bytes (drumfire.stream.max_event_bytes)";
    assert_eq!(ran.column("responseMessage"), [message]);
}

#[test]
fn rows_of_requests_without_a_stream_have_empty_columns() {
    let server = Server::start(endless);
    let port = server.address().port();
    let form = [("drumfire.stream", "sse"), COLUMNS];
    let page = get("page", port, "/page", "", "");
    let off = get("off", port, "/page", &set("drumfire.stream", "off"), "");
    let ran = run_group(&group(1, 1, true), &[page, off].concat(), &form);
    assert_eq!(ran.column("events"), ["0", ""]);
    assert_eq!(ran.column("firstEvent"), ["", ""]);
}

#[test]
fn values_that_are_none_are_refused_or_fail_the_sample() {
    let sampler = |value: &str| get("s", 1, "/", &set("drumfire.stream", value), "");
    let refused = refusals(&group(1, 1, true), &sampler("grpc"), &[]);
    let text = refused.concat();
    assert!(
        text.contains("`grpc` in drumfire.stream is not a form of streams"),
        "{text}"
    );
    assert!(
        text.contains("write sse, ndjson, chunks, openai or off"),
        "{text}"
    );
    let ran = run_group(&group(1, 1, true), &sampler("${__P(form,grpc)}"), &[]);
    let message = "Non HTTP response message: `grpc` in drumfire.stream is not a form of streams";
    assert_eq!(ran.column("responseMessage"), [message]);
}

fn listen(port: u16, path: &str, seconds: u32) -> String {
    let url = format!("http://127.0.0.1:{port}{path}");
    format!(
        r#"<com.jmeter.sse.SSESampler guiclass="com.jmeter.sse.SSESamplerGui" testclass="com.jmeter.sse.SSESampler" testname="l">{}{}</com.jmeter.sse.SSESampler><hashTree/>"#,
        set("SSESampler.url", &url),
        set("SSESampler.duration", &seconds.to_string())
    )
}

#[test]
fn the_sse_sampler_of_the_plugin_times_its_events_too() {
    let server = Server::start(endless);
    let ran = run_group(
        &group(1, 1, true),
        &listen(server.address().port(), "/", 1),
        &[COLUMNS],
    );
    assert_eq!(ran.column("responseMessage"), ["OK — 10 events received"]);
    assert_eq!(ran.column("events"), ["10"]);
    let first: f64 = ran.rows[0]["firstEvent"].parse().expect("a number");
    assert!(first >= 19.0, "{first}");
}

/// The plugin's client opens five connections to a host at a time.
#[test]
fn more_users_listen_than_the_plugin_lets() {
    let server = Server::start(endless);
    let ran = run_group(
        &group(8, 1, true),
        &listen(server.address().port(), "/", 1),
        &[],
    );
    assert_eq!(
        ran.column("responseMessage"),
        ["OK — 10 events received"; 8]
    );
    assert_eq!(server.connections(), 8);
}

#[test]
fn the_sse_sampler_goes_to_no_host_that_is_not_allowed() {
    let server = Server::start(|_| vec![ResponseStep::Send(respond("500 No", "", ""))]);
    let allowed = [("drumfire.http.allowed_hosts", "shop.test")];
    let ran = run_group(
        &group(1, 1, true),
        &listen(server.address().port(), "/", 1),
        &allowed,
    );
    let message = "Error: `127.0.0.1` is not among the hosts of drumfire.http.allowed_hosts";
    assert_eq!(ran.column("responseMessage"), [message]);
    assert_eq!(server.connections(), 0);
}

#[test]
fn events_of_the_sse_sampler_are_bounded() {
    let server = Server::start(endless);
    let limit = [("drumfire.stream.max_event_bytes", "10")];
    let ran = run_group(
        &group(1, 1, true),
        &listen(server.address().port(), "/", 1),
        &limit,
    );
    let message = "Error: an event exceeds 10 bytes (drumfire.stream.max_event_bytes)";
    assert_eq!(ran.column("responseMessage"), [message]);
    assert_eq!(ran.column("responseCode"), ["200"]);
}
