//! Addresses with every ASCII character: what clients send as it is, and `java.net.URI` refuses, reaches the server from
//! every input.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;
use std::time::Duration;

use drumfire_testkit::ports::free_address;
use drumfire_testkit::program::{Workshop, finish};
use drumfire_testkit::server::{ResponseStep, Server, ok};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(120);

/// The request targets of curl 7.88.1 with `--globoff`: character, its place, target. curl refuses blanks and control
/// characters.
const CURL: &str = include_str!("../addresses/curl_targets.txt");

/// An address, and the target under which the server sees it.
struct Case {
    address: String,
    target: String,
}

/// Each character in a path, in a query and in a fragment.
fn cases() -> Vec<Case> {
    let sent: BTreeMap<(&str, &str), &str> = CURL
        .lines()
        .map(|line| {
            let mut words = line.splitn(3, ' ');
            let mut word = || words.next().expect("three words");
            ((word(), word()), word())
        })
        .collect();
    let mut all = Vec::new();
    for code in 0..128_u8 {
        let sign = char::from(code);
        for (place, address) in [
            ("path", format!("/a{sign}b")),
            ("query", format!("/a?b{sign}c")),
            ("fragment", format!("/a#b{sign}c")),
        ] {
            let hexadecimal = format!("{code:02x}");
            let target = match sent.get(&(hexadecimal.as_str(), place)) {
                Some(target) => sendable(target),
                None => sendable(address.split('#').next().expect("a path")),
            };
            all.push(Case { address, target });
        }
    }
    all
}

/// The target with the characters encoded that Java refuses.
fn sendable(target: &str) -> String {
    let mut is_query = false;
    let mut out = String::new();
    for sign in target.chars() {
        is_query |= sign == '?';
        let is_refused = sign.is_ascii_control()
            || " \"<>\\^`{|}%".contains(sign)
            || (!is_query && "[]".contains(sign));
        if is_refused {
            out.push_str(&format!("%{:02X}", u32::from(sign)))
        } else {
            out.push(sign)
        }
    }
    out
}

fn decoded(encoded: &str) -> String {
    let mut pieces = encoded.split('%');
    let mut bytes = pieces.next().expect("a first piece").as_bytes().to_vec();
    for piece in pieces {
        bytes.push(u8::from_str_radix(&piece[..2], 16).expect("a code"));
        bytes.extend_from_slice(&piece.as_bytes()[2..]);
    }
    String::from_utf8(bytes).expect("UTF-8")
}

fn server() -> Server {
    Server::start(|_| vec![ResponseStep::Send(ok("{}"))])
}

fn shop() -> Workshop {
    Workshop::new(env!("CARGO_BIN_EXE_drumfire"))
}

/// The targets that the server has seen, sorted.
fn seen(server: &Server) -> Vec<String> {
    let requests = server.requests().into_iter();
    sorted(requests.map(|request| request.target).collect())
}

fn sorted(mut all: Vec<String>) -> Vec<String> {
    all.sort_unstable();
    all
}

fn targets(cases: &[Case]) -> Vec<String> {
    sorted(cases.iter().map(|case| case.target.clone()).collect())
}

/// Imports the text and runs the plan: every request succeeds.
fn import_and_run(shop: &Workshop, input: &str, words: &[&str]) {
    shop.write("input", input);
    let mut all = vec!["import", "input", "-o", "plan.jmx", "--force"];
    all.extend(["--no-correlation", "--no-think-time"]);
    all.extend(words);
    let imported = shop.run(&all, LIMIT);
    assert_eq!(imported.code, Some(0), "{}{}", imported.out, imported.err);
    let words = ["run", "plan.jmx", "--fail-on", "errors > 0"];
    let run = shop.run(&words, LIMIT);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
}

fn har(server: &Server, cases: &[Case]) -> String {
    let entries = cases.iter().map(|case| {
        json!({"request": {"method": "GET", "url": server.url(&case.address), "headers": []},
               "response": {"status": 200, "content": {"mimeType": "application/json", "text": "{}"}}})
    });
    json!({"log": {"entries": entries.collect::<Vec<_>>()}}).to_string()
}

fn curl(server: &Server, cases: &[Case]) -> String {
    let command = |case: &Case| {
        let address = server.url(&case.address).replace('\'', "'\\''");
        format!("curl -g '{address}'\n")
    };
    cases.iter().map(command).collect()
}

fn postman(server: &Server, cases: &[Case]) -> String {
    let items = cases
        .iter()
        .map(|case| json!({"name": "r", "request": {"method": "GET", "url": {"raw": server.url(&case.address)}}}));
    json!({"info": {"name": "c"}, "item": items.collect::<Vec<_>>()}).to_string()
}

/// As nginx writes it.
fn access_log(_: &Server, cases: &[Case]) -> String {
    let line = |case: &Case| {
        let escaped = |sign: char| {
            if sign.is_ascii_control() || "\"\\".contains(sign) {
                format!("\\x{:02X}", u32::from(sign))
            } else {
                sign.to_string()
            }
        };
        let target: String = case.address.chars().map(escaped).collect();
        format!("::1 - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.1\" 200 5\n")
    };
    cases.iter().map(line).collect()
}

fn openapi(_: &Server, cases: &[Case]) -> String {
    let operation = json!({"get": {"responses": {"200": {"description": "ok"}}}});
    let paths = cases.iter();
    let paths: BTreeMap<&str, &Value> = paths
        .map(|case| (case.address.as_str(), &operation))
        .collect();
    json!({"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": paths}).to_string()
}

#[test]
fn every_character_of_an_address_is_sent_as_curl_sends_it() {
    let cases = cases();
    assert_eq!(cases.len(), 3 * 128);
    type Input = fn(&Server, &[Case]) -> String;
    let inputs: [(&str, Input); 5] = [
        ("har", har),
        ("curl", curl),
        ("postman", postman),
        ("access-log", access_log),
        ("openapi", openapi),
    ];
    for (name, input) in inputs {
        let (server, shop) = (server(), shop());
        let origin = server.url("");
        let words = ["--from", name, "--server", &origin];
        import_and_run(&shop, &input(&server, &cases), &words);
        assert_eq!(seen(&server), targets(&cases), "{name}");
    }
}

#[test]
fn json_in_the_path_of_an_api_is_sent() {
    let (server, shop) = (server(), shop());
    let all: String = (1..128_u8).map(char::from).collect();
    let object = json!({"a": [1, "{x}|\\^`% ?#"], "b": all});
    let parameter = |place: &str| json!({"name": place, "in": place, "required": true, "content": {"application/json": {"example": object}}});
    let operation = json!({"get": {"parameters": [parameter("path"), parameter("query")], "responses": {"200": {"description": "ok"}}}});
    let paths = json!({"/of/{path}/end": operation});
    let api = json!({"openapi": "3.0.0", "info": {"title": "t", "version": "1"}, "paths": paths});
    let origin = server.url("");
    import_and_run(&shop, &api.to_string(), &["--server", &origin]);
    let seen = seen(&server);
    let target = seen[0].strip_prefix("/of/").expect("the path");
    let (path, query) = target.split_once("/end?query=").expect("the query");
    for sent in [path, query] {
        let decoded = decoded(sent);
        let sent: Value = serde_json::from_str(&decoded).expect("JSON");
        assert_eq!(sent, object);
    }
}

#[test]
fn run_sends_every_character_of_its_address() {
    let (server, shop) = (server(), shop());
    // A process cannot get a NUL. All characters of a place go together, as a process for each would take long.
    let all = cases()
        .into_iter()
        .filter(|case| !case.address.contains('\0'));
    let (paths, others): (Vec<Case>, Vec<Case>) =
        all.partition(|case| !case.address.contains(['?', '#']));
    let (queries, fragments): (Vec<Case>, Vec<Case>) = others
        .into_iter()
        .partition(|case| !case.address.contains('#'));
    let joined = |cases: &[Case], part: fn(&Case) -> &String| -> String {
        cases.iter().map(|case| part(case).as_str()).collect()
    };
    let place = |cases: &[Case]| Case {
        address: joined(cases, |case| &case.address),
        target: joined(cases, |case| &case.target),
    };
    let few = [
        place(&paths),
        place(&queries),
        Case {
            target: "/a".to_owned(),
            ..place(&fragments)
        },
    ];
    for case in &few {
        let url = server.url(&case.address);
        let run = shop.run(&["run", &url, "-n", "1", "--fail-on", "errors > 0"], LIMIT);
        assert_eq!(run.code, Some(0), "{url}: {}{}", run.out, run.err);
    }
    assert_eq!(seen(&server), targets(&few));
}

/// Ctrl-C.
fn interrupt(program: &std::process::Child) {
    let ended = Command::new("kill")
        .args(["-INT", &program.id().to_string()])
        .status();
    assert!(ended.is_ok_and(|status| status.success()));
}

#[test]
fn a_recording_holds_every_character_that_reaches_the_proxy() {
    let (server, shop) = (server(), shop());
    let proxy = free_address();
    let (origin, listens) = (server.url("/"), proxy.to_string());
    let words = ["record", &origin, "--proxy", &listens, "-o", "plan.jmx"];
    let recording = shop.start(&[&words[..], &["--no-correlation", "--no-think-time"]].concat());
    // No client sends blanks and control characters in an address.
    let cases: Vec<Case> = cases()
        .into_iter()
        .filter(|case| case.address.bytes().all(|byte| byte.is_ascii_graphic()))
        .collect();
    for case in &cases {
        let url = server.url(case.address.split('#').next().expect("a path"));
        let mut stream = None;
        for _ in 0..100 {
            stream = TcpStream::connect(proxy).ok();
            if stream.is_some() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        let mut stream = stream.expect("the proxy listens");
        let request = format!(
            "GET {url} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n",
            server.address()
        );
        stream.write_all(request.as_bytes()).expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        assert!(answer.starts_with("HTTP/1.1 200"), "{url}: {answer}");
    }
    let before = server.requests().len();
    assert_eq!(before, cases.len());
    interrupt(&recording);
    let recorded = finish(recording, LIMIT);
    assert_eq!(recorded.code, Some(0), "{}{}", recorded.out, recorded.err);
    let run = shop.run(&["run", "plan.jmx", "--fail-on", "errors > 0"], LIMIT);
    assert_eq!(run.code, Some(0), "{}{}", run.out, run.err);
    let replayed = server.requests().split_off(before);
    let replayed = replayed.into_iter().map(|request| request.target);
    assert_eq!(sorted(replayed.collect()), targets(&cases));
}
