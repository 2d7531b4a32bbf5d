//! The same odd and broken responses for this client, hyper and curl. Where they differ, `differential.txt` says why.

use std::collections::BTreeMap;
use std::process::Command;

use crate::peer::{Do, GET, LIMITS, Peer, run, session};
use drumfire_http::{Decode, Outgoing, WantedParts, exchange};
use http_body_util::{BodyExt, Empty};
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;

/// Responses with what HttpClient made of them; here only the bytes count.
const RECORDED: &str = include_str!("../httpclient.txt");
/// NAME | CLIENT | OURS | THEIRS | WHAT HTTPCLIENT DOES
const DIFFERENCES: &str = include_str!("../differential.txt");
/// The curl that the differences were seen with.
const CURL: &str = "curl 7.88.";
/// Says that curl gave up after this long; all others are over at once.
const CURL_SECONDS: &str = "5";

/// A request's method and what the server does.
struct Case {
    name: String,
    is_head: bool,
    script: Vec<Do>,
}

fn cases() -> Vec<Case> {
    let recorded = RECORDED
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let mut cases: Vec<Case> = recorded
        .map(|line| {
            let mut parts = line.split('|');
            let name = parts.next().expect("a name");
            let bytes = unescape(parts.next().expect("bytes"));
            case(name, false, &bytes, Do::Close)
        })
        .collect();
    let ok = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";
    let more: [(&str, bool, &[u8], Do); 13] = [
        ("head", true, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n", Do::Close),
        ("head_with_body", true, ok, Do::Close),
        ("head_chunked", true, b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", Do::Close),
        ("early_hints", false, b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Do::Close),
        ("many_interim", false, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", Do::Close),
        ("only_interim", false, b"HTTP/1.1 100 Continue\r\n\r\n", Do::Close),
        ("switching", false, b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", Do::Close),
        ("junk_behind", false, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhijunk", Do::Close),
        ("pipelined", false, b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", Do::Close),
        ("high_bytes", false, b"HTTP/1.1 200 \xe9\xff\r\nX: \xe9\xff\r\nContent-Length: 2\r\n\r\nhi", Do::Close),
        ("nothing", false, b"", Do::Close),
        ("reset_in_body", false, b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhi", Do::Reset),
        ("reset_in_head", false, b"HTTP/1.1 200 OK\r\nContent-Le", Do::Reset),
    ];
    cases.extend(more.map(|(name, is_head, bytes, end)| case(name, is_head, bytes, end)));
    cases
}

fn case(name: &str, is_head: bool, bytes: &[u8], end: Do) -> Case {
    let send = match bytes {
        [] => vec![],
        bytes => vec![Do::Send(bytes.to_vec())],
    };
    Case {
        name: name.to_owned(),
        is_head,
        script: [vec![Do::ReadHead], send, vec![end]].concat(),
    }
}

fn unescape(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut letters = text.bytes();
    while let Some(letter) = letters.next() {
        bytes.push(match letter {
            b'\\' => match letters.next() {
                Some(b'r') => b'\r',
                Some(b'n') => b'\n',
                Some(b't') => b'\t',
                _ => {
                    let digits = [letters.next(), letters.next()].map(Option::unwrap_or_default);
                    let digits = std::str::from_utf8(&digits).expect("digits");
                    u8::from_str_radix(digits, 16).expect("two hexadecimal digits")
                }
            },
            other => other,
        });
    }
    bytes
}

fn told(status: u16, body: &[u8]) -> String {
    format!("{status} {}", body.escape_ascii())
}

fn ours(case: &Case) -> String {
    let peer = Peer::start(vec![case.script.clone()]);
    let outcome = run(async {
        let head = String::from_utf8_lossy(GET).replace("GET", method(case));
        let out = Outgoing {
            is_head: case.is_head,
            ..Outgoing::new(head.as_bytes())
        };
        let want = WantedParts {
            decode: Decode::Nothing,
            ..WantedParts::ALL
        };
        exchange(&session(), &peer.target(), out, want, LIMITS).await
    });
    match outcome {
        Ok(response) => told(response.status, &response.body.unwrap_or_default()),
        Err(_) => "fails".to_owned(),
    }
}

fn method(case: &Case) -> &'static str {
    if case.is_head { "HEAD" } else { "GET" }
}

fn hypers(case: &Case) -> String {
    let peer = Peer::start(vec![case.script.clone()]);
    let outcome: Result<String, Box<dyn std::error::Error>> = run(async {
        let stream = tokio::net::TcpStream::connect(peer.address).await?;
        let (mut sender, connection) =
            hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        tokio::spawn(async move {
            // The request is told of a failure.
            let _ = connection.await;
        });
        let request = hyper::Request::builder().method(method(case)).uri("/");
        let request = request.header("Host", "peer").body(Empty::<Bytes>::new())?;
        let response = sender.send_request(request).await?;
        let status = response.status().as_u16();
        let body = response.into_body().collect().await?.to_bytes();
        Ok(told(status, &body))
    });
    outcome.unwrap_or_else(|_| "fails".to_owned())
}

fn curls(case: &Case) -> String {
    let peer = Peer::start(vec![case.script.clone()]);
    let mut curl = Command::new("curl");
    curl.args([
        "-q",
        "-s",
        "--noproxy",
        "*",
        "--max-time",
        CURL_SECONDS,
        "-o",
        "-",
    ]);
    curl.args(["-w", "%{stderr}%{http_code}"]);
    if case.is_head {
        curl.arg("--head");
    }
    let output = curl
        .arg(format!("http://{}/", peer.address))
        .output()
        .expect("it was there before");
    let status: u16 = String::from_utf8_lossy(&output.stderr).parse().unwrap_or(0);
    if output.status.success() {
        // Of a HEAD it shows the head.
        told(status, if case.is_head { b"" } else { &output.stdout })
    } else {
        "fails".to_owned()
    }
}

/// All differences from one other client are listed, and there is none that is listed for nothing.
fn compare(client: &str, theirs: impl Fn(&Case) -> String) {
    let listed = DIFFERENCES
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let listed: BTreeMap<(&str, &str), (&str, &str)> = listed
        .map(|line| {
            let parts: Vec<&str> = line.split('|').collect();
            let [name, client, ours, theirs, why] = parts[..] else {
                panic!("five parts: {line}");
            };
            assert!(!why.is_empty(), "{line}");
            ((name, client), (ours, theirs))
        })
        .collect();
    let mut report = String::new();
    for case in cases() {
        let (ours, theirs) = (ours(&case), theirs(&case));
        let expected = listed.get(&(case.name.as_str(), client));
        let is_known = match expected {
            None => ours == theirs,
            Some(known) => ours != theirs && *known == (ours.as_str(), theirs.as_str()),
        };
        if !is_known {
            report.push_str(&format!("{}|{client}|{ours}|{theirs}|\n", case.name));
        }
    }
    assert!(report.is_empty(), "not as listed:\n{report}");
}

#[test]
fn responses_are_read_as_hyper_reads_them_but_where_httpclient_does_not() {
    compare("hyper", hypers);
}

#[test]
fn responses_are_read_as_curl_reads_them_but_where_httpclient_does_not() {
    let version = Command::new("curl").arg("--version").output();
    let Ok(version) = version else {
        return; // there is none
    };
    if version.stdout.starts_with(CURL.as_bytes()) {
        compare("curl", curls);
    }
}
