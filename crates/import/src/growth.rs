//! Twice the input costs twice the time: no importer compares each part with all others.

use std::path::Path;
use std::time::Duration;

use cpu_time::ThreadTime;
use serde_json::{Value, json};

use crate::correlate::correlate;
use crate::{Format, ImportOptions, import};

fn har(count: usize) -> String {
    json!({"log": {"entries": (0..count).map(entry).collect::<Vec<_>>()}}).to_string()
}

fn entry(n: usize) -> Value {
    json!({"startedDateTime": "2026-01-01T10:00:00.000Z", "request": {"method": "GET",
            "url": format!("https://h{}.example/item/{n}?x={n}", n % 50), "headers": [{"name": "Cookie", "value": format!("c{n}=1")}]},
            "response": {"status": 200, "headers": [{"name": "Set-Cookie", "value": format!("s{n}=1")}],
            "content": {"mimeType": "application/json", "text": format!("{{\"own\":\"value-{n}\"}}")}}})
}

fn curl(count: usize) -> String {
    (0..count).map(command).collect()
}

fn command(n: usize) -> String {
    format!("curl 'https://h.example/{n}' -H 'A: {n}' -d 'a={n}'\n")
}

fn powershell(count: usize) -> String {
    let command = |n: usize| {
        format!(
            "Invoke-WebRequest -Uri \"https://h.example/{n}\" -Headers @{{\n\"x\"=\"{n}\"\n}}\n"
        )
    };
    (0..count).map(command).collect()
}

fn access_log(count: usize) -> String {
    (0..count).map(line).collect()
}

fn line(n: usize) -> String {
    format!("::1 - - [10/Oct/2000:13:55:36 -0700] \"GET /{n} HTTP/1.1\" 200 5\n")
}

fn postman(count: usize) -> String {
    json!({"item": (0..count).map(item).collect::<Vec<_>>()}).to_string()
}

fn item(n: usize) -> Value {
    let script = format!(
        "const r = pm.response.json();\npm.globals.set('v{n}', r.id);\npm.globals.set('t{n}', 'x{n}');\nother();"
    );
    json!({"name": format!("r{n}"), "request": {"method": "GET", "url": format!("https://h.example/{{{{t{n}}}}}")},
            "event": [{"listen": "test", "script": {"exec": [script]}}]})
}

fn openapi(count: usize) -> String {
    let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}});
    let mut paths = serde_json::Map::new();
    for n in 0..count {
        let response =
            json!({"responses": {"201": {"content": {"application/json": {"schema": schema}}}}});
        paths.insert(format!("/c{n}"), json!({"post": response}));
        paths.insert(
            format!("/c{n}/{{id{n}}}"),
            json!({"get": {"responses": {"200": {}}}}),
        );
    }
    json!({"openapi": "3.0.0", "paths": Value::Object(paths)}).to_string()
}

fn graphql(count: usize) -> String {
    (0..count).map(operation).collect()
}

fn operation(n: usize) -> String {
    format!("query Q{n}($v{n}: ID!) {{ a(id: $v{n}) {{ ...F{n} }} }}\nfragment F{n} on A {{ b }}\n")
}

/// The time that this thread computes for an import and its plan. The clock of the thread is exact;
/// `/proc/thread-self/schedstat` of a thread that runs is as old as the kernel's last tick.
fn cost(format: Format, input: &str) -> Duration {
    let options = ImportOptions {
        format: Some(format),
        all_domains: true,
        server: Some("https://h.example".to_owned()),
        ..ImportOptions::default()
    };
    let files = [("input".to_owned(), input.as_bytes().to_vec())];
    let before = ThreadTime::now();
    let mut draft = import(&files, &options).expect("an input");
    correlate(&mut draft, None, &[]);
    draft.is_kept = true;
    let plan = drumfire_jmx::write(&draft.tree("data.csv"));
    let took = before.elapsed();
    assert!(drumfire_jmx::read(plan.as_bytes(), Path::new("plan.jmx")).is_ok());
    took
}

#[test]
fn every_importer_is_linear() {
    /// Eight times the input: linear work takes 8 times as long, quadratic 64 times.
    const TIMES: usize = 8;
    const MOST: f64 = 24.0;
    type Input = fn(usize) -> String;
    let inputs: [(Format, usize, Input); 7] = [
        (Format::Har, 120, har),
        (Format::Curl, 120, curl),
        (Format::PowerShell, 120, powershell),
        (Format::AccessLog, 500, access_log),
        (Format::Postman, 120, postman),
        (Format::OpenApi, 80, openapi),
        (Format::GraphQl, 120, graphql),
    ];
    for (format, count, input) in inputs {
        let (few, many) = (input(count), input(count * TIMES));
        let least = (0..3).map(|_| cost(format, &few)).min().expect("a run");
        let ratio = cost(format, &many).as_secs_f64() / least.as_secs_f64();
        assert!(
            ratio <= MOST,
            "{}: {TIMES} times the input cost {ratio:.1} times",
            format.name()
        );
    }
}
