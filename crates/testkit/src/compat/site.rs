//! The site that the plans in `compat/` request.

use std::sync::Mutex;
use std::time::Duration;

use super::ntlm::{ProvenConnections, Verdict, claimed};
use crate::server::{ReceivedRequest, ResponseStep, Server};
use crate::websocket;

/// Starts the site. Besides its pages, `/reply` answers with what the request's parameters specify, and `/close` closes the
/// connection. `/raw` sends the bytes of its parameter `send` as they are, `/lost/…` closes the connection at the first request of
/// a target, and `/times/…` answers with the status 200 plus the number of requests whose targets contained that text before.
/// WebSocket connections to any path are echoed. The parameter `wait_ms` delays any response by that many milliseconds.
pub fn site() -> Server {
    let known = ProvenConnections::default();
    let earlier = Mutex::new(Vec::<String>::new());
    Server::start(move |request| {
        if request.target == "/close" {
            return vec![ResponseStep::Close];
        }
        let mut earlier = earlier.lock().expect("no request panics");
        let times = |text: &str| earlier.iter().filter(|one| one.contains(text)).count();
        if let Some(text) = request.target.strip_prefix("/times/") {
            let code = 200 + times(text);
            let head = format!("HTTP/1.1 {code} Times\r\nContent-Length: 0\r\n\r\n");
            return vec![ResponseStep::Send(head.into_bytes())];
        }
        let is_first = times(&request.target) == 0;
        earlier.push(request.target.clone());
        drop(earlier);
        if request.target.starts_with("/lost/") && is_first {
            return vec![ResponseStep::Close];
        }
        if request.target.starts_with("/raw?") {
            return raw(request);
        }
        if request.header("upgrade").is_some() {
            return vec![
                ResponseStep::Send(websocket::switch(request)),
                ResponseStep::Echo,
            ];
        }
        let (status, headers, body) = if request.target.starts_with("/ntlm") {
            windows(request, &known)
        } else {
            answer(request)
        };
        let mark = fingerprint(request);
        let body = if request.method == "HEAD" {
            &[][..]
        } else {
            body.as_bytes()
        };
        let length = if status.starts_with("204") {
            String::new()
        } else {
            format!("Content-Length: {}\r\n", body.len())
        };
        let mut bytes =
            format!("HTTP/1.1 {status} {mark:08x}\r\n{headers}{length}\r\n").into_bytes();
        bytes.extend_from_slice(body);
        let mut steps = vec![ResponseStep::Send(bytes)];
        if let Some(wait) = wait(&request.target) {
            steps.insert(0, ResponseStep::Pause(wait));
        }
        steps
    })
}

/// The bytes of `/raw?send=…`, one for each character, after which `close` closes the connection. `pause_ms` waits before what follows,
/// and `mark` sends a server-sent event with the request's fingerprint.
fn raw(request: &ReceivedRequest) -> Vec<ResponseStep> {
    let query = request
        .target
        .split_once('?')
        .map_or("", |(_, query)| query);
    let mut steps = Vec::new();
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "send" => {
                let bytes = value.chars().map(|char| char as u8).collect();
                steps.push(ResponseStep::Send(bytes));
            }
            "pause_ms" => {
                let pause = Duration::from_millis(value.parse().unwrap_or(0));
                steps.push(ResponseStep::Pause(pause));
            }
            "mark" => {
                let event = format!("data: {:08x}\n\n", fingerprint(request));
                steps.push(ResponseStep::Send(event.into_bytes()));
            }
            "close" => steps.push(ResponseStep::Close),
            _ => {}
        }
    }
    steps
}

/// The parameter `wait_ms` of a target.
fn wait(target: &str) -> Option<Duration> {
    let (_, query) = target.split_once('?')?;
    let (_, value) =
        form_urlencoded::parse(query.as_bytes()).find(|(name, _)| name == "wait_ms")?;
    value.parse().ok().map(Duration::from_millis)
}

/// The status with its reason, the header lines, and the body.
fn answer(request: &ReceivedRequest) -> (String, String, String) {
    let kind = |kind: &str| format!("Content-Type: {kind}\r\n");
    let path = request.target.split('?').next().unwrap_or_default();
    let ok = |of: &str, body: &str| ("200 OK".to_owned(), kind(of), body.to_owned());
    let text = |body: &str| ok("text/plain", body);
    match path.split('/').skip(1).collect::<Vec<_>>()[..] {
        ["status", code @ "204"] => (format!("{code} Status"), String::new(), String::new()),
        ["status", code] => (
            format!("{code} Status"),
            kind("text/plain"),
            format!("this is {code}\n"),
        ),
        ["redirect", "0"] => text("arrived\n"),
        ["redirect", times] => {
            let next = times
                .parse::<u32>()
                .map_or(0, |times| times.saturating_sub(1));
            (
                "302 Found".to_owned(),
                format!("Location: /redirect/{next}\r\n"),
                String::new(),
            )
        }
        ["reply"] => asked_for(&request.target),
        ["pictures", count, wait_ms] => {
            let count = count.parse::<u32>().unwrap_or(0);
            let pictures: String = (0..count)
                .map(|number| format!("<img src=\"/{number}.png?wait_ms={wait_ms}\">"))
                .collect();
            ok(
                "text/html",
                &format!("<html><body>{pictures}</body></html>\n"),
            )
        }
        ["basic"] => protected(request, "Basic realm=\"shop\""),
        ["digest"] => protected(
            request,
            "Digest realm=\"shop\", nonce=\"8f2a\", opaque=\"5cc0\", qop=\"auth\", algorithm=MD5",
        ),
        ["bytes", count] => text(&"x".repeat(count.parse().unwrap_or(0))),
        ["cookie", name, value] => {
            let (status, mut headers, body) = text("set\n");
            headers.push_str(&format!("Set-Cookie: {name}={value}; Path=/\r\n"));
            (status, headers, body)
        }
        ["json"] => ok("application/json", JSON),
        ["page"] => ok("text/html; charset=utf-8", PAGE),
        ["xml"] => ok("text/xml", XML),
        [file] if file.ends_with(".css") => ok("text/css", "body { background: url(back.png) }\n"),
        [file] if file.ends_with(".png") => ok("image/png", "not really a picture"),
        _ => text(&format!(
            "{} {}\n{}\n",
            request.method,
            request.target,
            body_of_known_length(request)
        )),
    }
}

/// The parameters of `/reply?status=…&header=…&body=…`. All are optional, and `header` may be repeated.
fn asked_for(target: &str) -> (String, String, String) {
    let (mut status, mut headers, mut body) = ("200 OK".to_owned(), String::new(), String::new());
    let query = target.split_once('?').map_or("", |(_, query)| query);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        match &*name {
            "status" => status = format!("{value} Asked"),
            "header" => headers.push_str(&format!("{value}\r\n")),
            "body" => body = value.into_owned(),
            _ => {}
        }
    }
    (status, headers, body)
}

/// A page for any client that sends credentials in the challenge's scheme, whatever they are.
fn protected(request: &ReceivedRequest, challenge: &str) -> (String, String, String) {
    let scheme = challenge.split(' ').next().unwrap_or_default();
    let kind = "Content-Type: text/plain\r\n";
    match request.header("authorization") {
        Some(answer) if answer.starts_with(scheme) => {
            ("200 OK".to_owned(), kind.to_owned(), "come in\n".to_owned())
        }
        _ => (
            "401 Unauthorized".to_owned(),
            format!("{kind}WWW-Authenticate: {challenge}\r\n"),
            "who are you?\n".to_owned(),
        ),
    }
}

/// A page of a Windows server, which offers other schemes besides NTLM at `/ntlm/more`.
fn windows(request: &ReceivedRequest, known: &ProvenConnections) -> (String, String, String) {
    let kind = "Content-Type: text/plain\r\n";
    match known.judge(request) {
        Verdict::Welcome => ("200 OK".to_owned(), kind.to_owned(), "come in\n".to_owned()),
        Verdict::Challenge(challenge) => {
            let others = match request.target.as_str() {
                "/ntlm/more" => {
                    "WWW-Authenticate: Negotiate\r\nWWW-Authenticate: Basic realm=\"shop\"\r\n"
                }
                _ => "",
            };
            (
                "401 Unauthorized".to_owned(),
                format!("{kind}{others}WWW-Authenticate: {challenge}\r\n"),
                "who are you?\n".to_owned(),
            )
        }
    }
}

const JSON: &str = r#"{"id": 7, "name": "lamp", "price": 12.50, "tags": ["home", "light"], "stock": {"here": true, "there": null},
 "items": [{"sku": "a1", "n": 3}, {"sku": "b2", "n": 5}, {"sku": "c3", "n": 0}]}
"#;

const PAGE: &str = "<!DOCTYPE html>
<html><head><title>A &amp; B</title><link rel=\"stylesheet\" href=\"/style.css\"><link rel=\"icon\" href=\"/icon.png\"></head>
<body><img src=\"one.png\"><img src=\"one.png\"><img src=\"/two.png\"><a href=\"/next?id=42\">next</a>
<form><input type=\"hidden\" name=\"token\" value=\"t-1234\"><input name=\"token2\" value=\"t-5678\"></form>
<ul><li class=\"x\">first</li><li class=\"x\">second</li><li>third</li></ul></body></html>
";

const XML: &str = "<?xml version=\"1.0\"?>
<order id=\"12\"><line sku=\"a1\">3</line><line sku=\"b2\">5</line></order>
";

/// The boundary of a multipart request.
fn boundary(request: &ReceivedRequest) -> Option<&str> {
    let (_, boundary) = request.header("content-type")?.split_once("boundary=")?;
    boundary.split(';').next()
}

/// The body, without its multipart boundary.
fn body_of_known_length(request: &ReceivedRequest) -> String {
    let body = String::from_utf8_lossy(&request.body);
    match boundary(request) {
        Some(boundary) => body.replace(boundary, "BOUNDARY"),
        None => body.into_owned(),
    }
}

/// An `Authorization` line without the parts that a client chooses at random, and those that depend on them.
fn without_digests(line: &str) -> String {
    let parts = line.split(", ").map(|part| match part.split_once('=') {
        Some((name @ ("cnonce" | "response"), _)) => name,
        _ => part,
    });
    parts.collect::<Vec<_>>().join(", ")
}

/// FNV-1a over method, target, header lines and body, without the client's name, the port, the digests of its credentials, and
/// multipart boundaries, whose length varies.
fn fingerprint(request: &ReceivedRequest) -> u32 {
    let boundary = boundary(request);
    let mut text = format!("{} {}\n", request.method, request.target);
    for line in request.head.lines().skip(1).filter(|line| !line.is_empty()) {
        let undigested;
        let shown = match line.split_once(':') {
            Some((name, _)) if name.eq_ignore_ascii_case("user-agent") => name,
            Some((name, _))
                if boundary.is_some() && name.eq_ignore_ascii_case("content-length") =>
            {
                name
            }
            Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                &line[..name.len() + 1 + value.rfind(':').unwrap_or(value.len())]
            }
            Some((name, value))
                if name.eq_ignore_ascii_case("authorization")
                    && value.trim_start().starts_with("Digest ") =>
            {
                undigested = without_digests(line);
                &undigested
            }
            Some((name, value)) if name.eq_ignore_ascii_case("authorization") => {
                let claimed = claimed(value.trim_start());
                undigested = claimed.unwrap_or_else(|| line.to_owned());
                &undigested
            }
            _ => line,
        };
        text.push_str(shown);
        text.push('\n');
    }
    text.push_str(&body_of_known_length(request));
    if let Some(boundary) = boundary {
        text = text.replace(boundary, "BOUNDARY");
    }
    text.bytes().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str, body: &str) -> ReceivedRequest {
        ReceivedRequest {
            connection: 0,
            method: "POST".to_owned(),
            target: "/a".to_owned(),
            head: head.to_owned(),
            body: body.as_bytes().to_vec(),
        }
    }

    #[test]
    fn the_fingerprint_sees_headers_and_body_but_not_place_and_client() {
        let one = fingerprint(&request(
            "POST /a HTTP/1.1\r\nHost: h:1\r\nUser-Agent: x\r\n\r\n",
            "b",
        ));
        assert_eq!(
            one,
            fingerprint(&request(
                "POST /a HTTP/1.1\r\nHost: h:22\r\nUser-Agent: yy\r\n\r\n",
                "b"
            ))
        );
        assert_ne!(
            one,
            fingerprint(&request(
                "POST /a HTTP/1.1\r\nHost: h:1\r\nUser-Agent: x\r\nA: 1\r\n\r\n",
                "b"
            ))
        );
        assert_ne!(
            one,
            fingerprint(&request(
                "POST /a HTTP/1.1\r\nHost: h:1\r\nUser-Agent: x\r\n\r\n",
                "c"
            ))
        );
    }

    #[test]
    fn boundaries_are_left_out() {
        let parts = |boundary: &str| {
            request(
                &format!(
                    "POST /a HTTP/1.1\r\nContent-Type: multipart/form-data; boundary={boundary}\r\nContent-Length: {}\r\n\r\n",
                    boundary.len()
                ),
                &format!("--{boundary}\r\n"),
            )
        };
        assert_eq!(fingerprint(&parts("abc")), fingerprint(&parts("wxyz")));
    }

    #[test]
    fn digests_are_left_out() {
        let answer = |cnonce: &str, user: &str| {
            request(
                &format!(
                    "POST /a HTTP/1.1\r\nAuthorization: Digest username=\"{user}\", cnonce=\"{cnonce}\", response=\"{cnonce}\"\r\n\r\n"
                ),
                "",
            )
        };
        assert_eq!(
            fingerprint(&answer("1", "a")),
            fingerprint(&answer("2", "a"))
        );
        assert_ne!(
            fingerprint(&answer("1", "a")),
            fingerprint(&answer("1", "b"))
        );
    }

    #[test]
    fn a_reply_is_what_was_asked_for() {
        let (status, headers, body) =
            asked_for("/reply?status=404&header=A:+1&header=B:%202&body=%7B%7D&other=x");
        assert_eq!(
            (&*status, &*headers, &*body),
            ("404 Asked", "A: 1\r\nB: 2\r\n", "{}")
        );
        assert_eq!(asked_for("/reply").0, "200 OK");
    }

    #[test]
    fn answers_wait_as_long_as_they_are_asked_to() {
        assert_eq!(wait("/a?x=1&wait_ms=30"), Some(Duration::from_millis(30)));
        assert_eq!(wait("/a?wait=30"), None);
        let (_, _, page) = answer(&ReceivedRequest {
            target: "/pictures/2/50".to_owned(),
            ..request("GET /pictures/2/50 HTTP/1.1\r\n\r\n", "")
        });
        assert!(page.contains("/1.png?wait_ms=50") && !page.contains("/2.png"));
    }

    #[test]
    fn protected_pages_want_the_scheme_of_their_challenge() {
        let with = |head: &str| protected(&request(head, ""), "Basic realm=\"x\"").0;
        assert_eq!(with("POST /a HTTP/1.1\r\n\r\n"), "401 Unauthorized");
        assert_eq!(
            with("POST /a HTTP/1.1\r\nAuthorization: Basic eDp5\r\n\r\n"),
            "200 OK"
        );
    }
}
