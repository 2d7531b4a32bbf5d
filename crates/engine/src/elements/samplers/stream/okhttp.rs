//! The requests of OkHttp 5.3.2, the client of the plugin with the SSE Sampler, the redirects that it follows, and its messages.

use std::net::IpAddr;

use drumfire_http::{BadChunk, Failure, FailureKind, Incoming, Target};
use drumfire_java::charset::decode_latin1;
use drumfire_web::property::Client;
use drumfire_web::stream::Unended;
use drumfire_web::url::Url;

use crate::elements::samplers::http::failure as java_failure;
use crate::elements::samplers::http::transfer::TransferFailure;

const USER_AGENT: &str = "okhttp/5.3.2";
/// `RetryAndFollowUpInterceptor.MAX_FOLLOW_UPS`.
const MOST_FOLLOW_UPS: u32 = 20;
/// The first bytes of a line that okio shows.
const SHOWN_BYTES: usize = 32;

/// A GET request.
pub(super) struct OkRequest {
    pub url: Url,
    /// In their order; a name occurs once.
    headers: Vec<(String, String)>,
    follow_ups: u32,
    /// The status of the last response, if the request is sent again because of it.
    repeated: u16,
}

impl OkRequest {
    /// The plugin's request; the headers are lines of `Name: Value`.
    ///
    /// # Errors
    /// The message of Java's exception, for an address or a header that OkHttp refuses.
    pub fn new(url: &str, lines: &str) -> Result<OkRequest, String> {
        let mut request = OkRequest {
            url: address(url)?,
            headers: Vec::new(),
            follow_ups: 0,
            repeated: 0,
        };
        request.set("Accept", "text/event-stream")?;
        request.set("Cache-Control", "no-cache")?;
        for line in lines.split('\n') {
            if let Some((name, value)) = line.split_once(':')
                && !name.trim().is_empty()
            {
                request.set(name.trim(), value.trim())?;
            }
        }
        Ok(request)
    }

    /// `Request.Builder.header`.
    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let unexpected = |c: char, at: usize, part: String| {
            Err(format!(
                "Unexpected char {:#04x} at {at} in {part}",
                c as u32
            ))
        };
        if let Some((at, c)) = name.char_indices().find(|(_, c)| !c.is_ascii_graphic()) {
            return unexpected(c, at, format!("header name: {name}"));
        }
        let fits = |c: char| matches!(c, '\t' | ' '..='~');
        if let Some((at, c)) = value.chars().enumerate().find(|(_, c)| !fits(*c)) {
            return unexpected(c, at, format!("{name} value: {value}"));
        }
        self.headers
            .retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self.headers.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    fn has(&self, name: &str) -> bool {
        self.headers
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
    }

    /// Where it goes, and its head (`BridgeInterceptor`).
    ///
    /// # Errors
    /// The message of Java's exception, for an address that cannot be requested.
    pub fn wire(&self) -> Result<(Target, Vec<u8>), String> {
        let wire = self.url.wire().map_err(|error| message_of(error.message))?;
        let mut head = format!("GET {} HTTP/1.1\r\n", wire.target);
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let added = [
            ("Host", &*wire.host_header),
            ("Connection", "Keep-Alive"),
            ("Accept-Encoding", "gzip"),
            ("User-Agent", USER_AGENT),
        ]
        .into_iter()
        .filter(|(name, _)| {
            let is_ranged = *name == "Accept-Encoding" && self.has("Range");
            !self.has(name) && !is_ranged
        });
        for (name, value) in headers.chain(added) {
            head.extend([name, ": ", value, "\r\n"]);
        }
        head.push_str("\r\n");
        let target = Target::new(wire.connect_host, wire.connect_port, wire.secure);
        Ok((target, head.into_bytes()))
    }

    /// Whether OkHttp inflates the response: only if it asked for compression itself.
    pub fn inflates(&self) -> bool {
        !self.has("Accept-Encoding") && !self.has("Range")
    }

    /// Whether the request asks to close the connection.
    pub fn keeps_connection(&self) -> bool {
        !self.headers.iter().any(|(name, value)| {
            name.eq_ignore_ascii_case("Connection") && value.eq_ignore_ascii_case("close")
        })
    }

    /// Turns into the request that follows a response (`RetryAndFollowUpInterceptor.followUpRequest`); false if none does.
    ///
    /// # Errors
    /// The message of Java's exception.
    pub fn follow(&mut self, response: &Incoming) -> Result<bool, String> {
        let status = response.status;
        let text = |name| {
            response
                .header(name)
                .map(|value| decode_latin1(value).into_owned())
        };
        let repeats = match status {
            407 => {
                let text = "Received HTTP_PROXY_AUTH (407) code while not using proxy";
                return Err(text.to_owned());
            }
            300..=303 | 307 | 308 => {
                let next = text("Location").and_then(|location| self.url.join(&location).ok());
                let Some(next) = next.filter(|next| matches!(next.protocol(), "http" | "https"))
                else {
                    return Ok(false);
                };
                if !same_server(&self.url, &next) {
                    self.headers
                        .retain(|(name, _)| !name.eq_ignore_ascii_case("Authorization"));
                }
                self.url = next;
                true
            }
            408 => self.repeated != 408 && text("Retry-After").is_none_or(|delay| delay == "0"),
            503 => self.repeated != 503 && text("Retry-After").is_some_and(|delay| delay == "0"),
            _ => false,
        };
        self.repeated = status;
        self.follow_ups += u32::from(repeats);
        if self.follow_ups > MOST_FOLLOW_UPS {
            let count = self.follow_ups;
            return Err(format!("Too many follow-up requests: {count}"));
        }
        Ok(repeats)
    }
}

/// `Request.Builder.url` and `HttpUrl`, which take addresses of WebSockets, too.
fn address(text: &str) -> Result<Url, String> {
    let trimmed = text.trim();
    let starts = |scheme: &str| {
        trimmed
            .get(..scheme.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(scheme))
    };
    let http = if starts("ws:") {
        format!("http:{}", &trimmed[3..])
    } else if starts("wss:") {
        format!("https:{}", &trimmed[4..])
    } else {
        trimmed.to_owned()
    };
    let scheme = http.split_once(':').map(|(scheme, _)| scheme);
    match scheme {
        Some(scheme)
            if scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https") => {}
        Some(scheme) if !scheme.contains('/') => {
            return Err(format!(
                "Expected URL scheme 'http' or 'https' but was '{scheme}'"
            ));
        }
        _ => {
            let shown = if http.chars().count() > 6 {
                http.chars().take(6).chain("...".chars()).collect()
            } else {
                http
            };
            return Err(format!(
                "Expected URL scheme 'http' or 'https' but no scheme was found for {shown}"
            ));
        }
    }
    let url = Url::parse(&http).map_err(|error| message_of(error.message))?;
    if url.host().is_empty() {
        return Err(format!("Invalid URL host: \"{}\"", url.host()));
    }
    Ok(url)
}

/// `HttpUrl.canReuseConnectionFor`.
fn same_server(one: &Url, other: &Url) -> bool {
    one.host() == other.host()
        && one.port_or_default() == other.port_or_default()
        && one.protocol() == other.protocol()
}

fn message_of(message: Option<impl Into<String>>) -> String {
    message.map(Into::into).unwrap_or_else(|| "null".to_owned())
}

/// The type of a body, as OkHttp's `MediaType` reads it: whether it is that of server-sent events, and the text; `None` if it is
/// none.
pub(super) fn media_type(value: &[u8]) -> Option<(bool, String)> {
    let text = decode_latin1(value).into_owned();
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let (kind, subtype) = essence.split_once('/')?;
    let is_token = |text: &str| {
        !text.is_empty()
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"-!#$%&'*+.^_`{|}~".contains(&byte))
    };
    if !is_token(kind) || !is_token(subtype) {
        return None;
    }
    let is_stream =
        kind.eq_ignore_ascii_case("text") && subtype.eq_ignore_ascii_case("event-stream");
    Some((is_stream, text))
}

/// The message of the exception with which an exchange fails; `null` where it has none.
pub(super) fn failure(failure: Box<Failure>, url: &Url, target: &Target) -> String {
    match &failure.kind {
        FailureKind::Refused => {
            let address = failure.addresses.first();
            let shown = address
                .map(|ip| socket_address(ip, target))
                .unwrap_or_else(|| target.host.to_string());
            format!("Failed to connect to {shown}")
        }
        FailureKind::ClosedBeforeResponse => {
            let (scheme, host) = (url.protocol(), url.host());
            let port = match url.port_or_default() {
                Some(80) if scheme == "http" => String::new(),
                Some(443) if scheme == "https" => String::new(),
                port => format!(":{}", port.unwrap_or(-1)),
            };
            format!("unexpected end of stream on {scheme}://{host}{port}/...")
        }
        FailureKind::TruncatedBody { .. } | FailureKind::TruncatedChunk { .. } => {
            "unexpected end of stream".to_owned()
        }
        FailureKind::MissingLastChunk => "null".to_owned(),
        FailureKind::BadChunk(BadChunk::MissingLineEnd) => no_line_feed(&[]),
        FailureKind::BadStatusLine { line, .. } | FailureKind::NoValidResponse(line) => {
            format!("Unexpected status line: {line}")
        }
        FailureKind::BadChunk(BadChunk::Size(text)) => bad_chunk_size(text),
        _ => {
            let trouble = TransferFailure::Exchange(failure);
            message_of(java_failure::exception(&trouble, url, target, Client::Java).message)
        }
    }
}

/// okio's message for the size of a chunk (`readHexadecimalUnsignedLong`), or OkHttp's for what follows it.
fn bad_chunk_size(text: &str) -> String {
    match text.bytes().next() {
        Some(byte) if !byte.is_ascii_hexdigit() => {
            format!("Expected leading [0-9a-fA-F] character but was {byte:#x}")
        }
        _ => format!("expected chunk size and optional extensions but was \"{text}\""),
    }
}

/// `InetSocketAddress.toString`.
fn socket_address(ip: &IpAddr, target: &Target) -> String {
    let is_literal = target.host.parse::<IpAddr>().is_ok();
    let name = if is_literal { "" } else { &*target.host };
    match ip {
        IpAddr::V4(ip) => format!("{name}/{ip}:{}", target.port),
        IpAddr::V6(ip) => {
            let parts = ip.segments().map(|part| format!("{part:x}"));
            format!("{name}/[{}]:{}", parts.join(":"), target.port)
        }
    }
}

/// The message for a stream that ends within a line; `None` if the reader only stops (`ServerSentEventReader`).
pub(super) fn unended(line: &Unended) -> Option<String> {
    match line {
        Unended::Data => Some("byteCount < 0: -1".to_owned()),
        Unended::Strict(value) => Some(no_line_feed(value)),
        Unended::Other => None,
    }
}

/// The message of okio's `readUtf8LineStrict` at the end of a stream.
fn no_line_feed(rest: &[u8]) -> String {
    let shown: String = rest
        .iter()
        .take(SHOWN_BYTES)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("\\n not found: limit={} content={shown}…", rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(url: &str, lines: &str) -> Result<String, String> {
        let (_, head) = OkRequest::new(url, lines)?.wire()?;
        Ok(String::from_utf8_lossy(&head).into_owned())
    }

    #[test]
    fn requests_are_those_of_the_plugin() {
        let plain = "GET /events?a=b HTTP/1.1\r\nAccept: text/event-stream\r\nCache-Control: no-cache\r\nHost: h.test:81\r\n\
            Connection: Keep-Alive\r\nAccept-Encoding: gzip\r\nUser-Agent: okhttp/5.3.2\r\n\r\n";
        assert_eq!(
            head(" http://h.test:81/events?a=b", "").as_deref(),
            Ok(plain)
        );
        let own = head(
            "wss://h.test/",
            "accept: x\nno header\n: empty\nHost:y\nRange: bytes=0-\nX-A: 1\r\nX-A: 2",
        );
        let expected = "GET / HTTP/1.1\r\nCache-Control: no-cache\r\naccept: x\r\nHost: y\r\nRange: bytes=0-\r\nX-A: 2\r\n\
            Connection: Keep-Alive\r\nUser-Agent: okhttp/5.3.2\r\n\r\n";
        assert_eq!(own.as_deref(), Ok(expected));
    }

    #[test]
    fn addresses_and_headers_that_okhttp_refuses() {
        let refused = |url: &str, lines: &str| head(url, lines).unwrap_err();
        assert_eq!(
            refused("localhost/x", ""),
            "Expected URL scheme 'http' or 'https' but no scheme was found for localh..."
        );
        assert_eq!(
            refused("ftp://h/", ""),
            "Expected URL scheme 'http' or 'https' but was 'ftp'"
        );
        assert_eq!(refused("http:///x", ""), "Invalid URL host: \"\"");
        assert_eq!(
            refused("http://h/", "X-A: é"),
            "Unexpected char 0xe9 at 0 in X-A value: é"
        );
        assert_eq!(
            refused("http://h/", "X A: 1"),
            "Unexpected char 0x20 at 1 in header name: X A"
        );
    }

    #[test]
    fn media_types_are_read_by_their_start() {
        let read = |text: &str| media_type(text.as_bytes());
        assert_eq!(
            read("Text/Event-Stream; charset=utf-8").map(|(is, _)| is),
            Some(true)
        );
        let json = "application/json; charset=utf-8";
        assert_eq!(read(json), Some((false, json.to_owned())));
        assert_eq!(read("events"), None);
        assert_eq!(read("a b/c"), None);
    }

    #[test]
    fn streams_that_end_within_a_line() {
        assert_eq!(
            unended(&Unended::Data).as_deref(),
            Some("byteCount < 0: -1")
        );
        assert_eq!(
            unended(&Unended::Strict(b"12".to_vec())).as_deref(),
            Some("\\n not found: limit=2 content=3132…")
        );
        assert_eq!(unended(&Unended::Other), None);
    }
}
