//! One call: the head of its request, and what its response says.

use std::fmt::Write as _;
use std::time::Duration;

use drumfire_http::Incoming;

use crate::dialect::{self, Dialect};
use crate::frame::{self, Encoding, Take};
use crate::metadata::{Metadata, decode_message, is_name};
use crate::status::{Code, Status};

/// The name by which the plugin's client introduces itself (`GrpcUtil#getGrpcUserAgent`).
const USER_AGENT: &str = "grpc-java-netty/1.38.0";
/// How much of a response that is not gRPC a status shows, in bytes.
const SHOWN_BYTES: usize = 1000;

/// The limits of a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResponseLimits {
    /// The largest message, in bytes, before and after decompression.
    pub message_bytes: u32,
    /// The largest headers or trailers, in bytes: names, values and 32 for each (RFC 9113 section 6.5.2).
    pub metadata_bytes: u32,
}

impl Default for ResponseLimits {
    /// The limits of the plugin.
    fn default() -> Self {
        Self {
            message_bytes: 4 << 20,
            metadata_bytes: 8 << 10,
        }
    }
}

/// The head of a request.
#[derive(Clone, Copy)]
pub struct CallHead<'a> {
    /// The form of the call.
    pub dialect: Dialect,
    /// Whether the method streams in either direction.
    pub streams: bool,
    /// Host and port.
    pub authority: &'a str,
    /// The path, which begins with a slash.
    pub path: &'a str,
    /// The metadata.
    pub metadata: &'a Metadata,
    /// How much time the call has.
    pub deadline: Option<Duration>,
    /// The length of the body, in bytes.
    pub body_bytes: usize,
}

/// Writes the head of a request in the form of HTTP/1.1.
///
/// # Errors
/// The status of a call whose metadata have a name that gRPC does not allow for texts.
pub fn head(call: &CallHead<'_>) -> Result<Vec<u8>, Status> {
    let CallHead {
        authority,
        path,
        metadata,
        dialect,
        ..
    } = call;
    let mut head = String::with_capacity(256);
    let _ = write!(
        head,
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nuser-agent: {USER_AGENT}\r\n{}",
        dialect.headers(call.streams)
    );
    if !dialect.needs_http2() {
        let _ = write!(head, "content-length: {}\r\n", call.body_bytes);
    }
    for (name, value) in metadata.iter() {
        if !is_name(name) {
            return Err(Status {
                code: Code::UNKNOWN,
                description: None,
            });
        }
        // Java sends what is not ASCII as question marks.
        let value = value.chars().map(|c| {
            if matches!(c, ' '..='~' | '\t') {
                c
            } else {
                '?'
            }
        });
        head.extend(
            name.to_ascii_lowercase()
                .chars()
                .chain(": ".chars())
                .chain(value),
        );
        head.push_str("\r\n");
    }
    if let Some(deadline) = call.deadline {
        let _ = match dialect {
            Dialect::Connect => write!(head, "connect-timeout-ms: {}\r\n", deadline.as_millis()),
            _ => write!(head, "grpc-timeout: {}\r\n", timeout(deadline)),
        };
    }
    head.push_str("\r\n");
    Ok(head.into_bytes())
}

/// A timeout in the smallest unit for which eight digits suffice (`GrpcUtil.TimeoutMarshaller`).
fn timeout(deadline: Duration) -> String {
    const CUTOFF: u128 = 100_000_000;
    let nanos = deadline.as_nanos();
    let units = [
        (1, 'n'),
        (1_000, 'u'),
        (1_000_000, 'm'),
        (1_000_000_000, 'S'),
    ];
    let fitting = units.iter().find(|(unit, _)| nanos / unit < CUTOFF);
    let (unit, name) = fitting.copied().unwrap_or((3_600_000_000_000, 'H'));
    format!("{}{name}", nanos / unit)
}

/// Passes on the messages of a complete response and returns its status. `streams` says whether the method streams in either
/// direction.
pub fn read(
    incoming: &Incoming,
    dialect: Dialect,
    streams: bool,
    limits: ResponseLimits,
    take: Take<'_>,
) -> Status {
    if dialect.needs_http2() && incoming.version.0 < 2 {
        let text = "Failed ALPN negotiation: Unable to find compatible protocol";
        return Status::new(Code::UNAVAILABLE, text);
    }
    let body = incoming.body.as_deref().unwrap_or_default();
    let content_type = incoming.content_type().map(String::from_utf8_lossy);
    let is = |prefix| {
        content_type
            .as_deref()
            .is_some_and(|text| is_of_type(text, prefix))
    };
    let is_answer = match (dialect, streams) {
        (Dialect::Grpc, _) => is("application/grpc"),
        (Dialect::Web, _) => is("application/grpc-web"),
        (Dialect::Connect, true) => is("application/connect"),
        (Dialect::Connect, false) => {
            if incoming.status != 200 || !is("application/proto") {
                return dialect::connect_error(incoming.status, body);
            }
            return whole(body, limits.message_bytes, take);
        }
    };
    if !is_answer {
        return foreign(incoming.status, incoming.headers(), body);
    }
    if is_larger(incoming.headers(), limits) || is_larger(incoming.trailers(), limits) {
        return Status::new(Code::INTERNAL, "http2 exception");
    }
    let encoding = match dialect {
        Dialect::Connect => incoming.header("connect-content-encoding"),
        _ => incoming.header("grpc-encoding"),
    };
    let encoding = match encoding {
        None | Some(b"identity") => Encoding::Identity,
        Some(b"gzip") => Encoding::Gzip,
        Some(other) => {
            let other = String::from_utf8_lossy(other);
            return Status::new(
                Code::INTERNAL,
                format!("Can't find decompressor for {other}"),
            );
        }
    };
    let most = limits.message_bytes;
    let read = match dialect {
        Dialect::Connect => return dialect::read_connect_stream(body, encoding, most, take),
        Dialect::Web => dialect::read_web(body, encoding, most, take),
        Dialect::Grpc => frame::messages(body, encoding, most, None, take).map(|_| None),
    };
    match read {
        Ok(Some(status)) | Err(status) => status,
        Ok(None) => stated(incoming),
    }
}

/// A body that is one message.
fn whole(body: &[u8], max_bytes: u32, take: Take<'_>) -> Status {
    if body.len() > max_bytes as usize {
        let text = format!(
            "gRPC message exceeds maximum size {max_bytes}: {}",
            body.len()
        );
        return Status::new(Code::RESOURCE_EXHAUSTED, text);
    }
    take(body, body.len());
    Status {
        code: Code::OK,
        description: None,
    }
}

/// The status that the server states: in the trailers, or in the headers of a response that consists of nothing else.
fn stated(incoming: &Incoming) -> Status {
    let is_short = incoming.trailers.is_empty() && incoming.body_len == 0;
    let fields = if is_short {
        incoming.headers()
    } else {
        incoming.trailers()
    };
    let field = |wanted: &str| {
        let found = fields
            .clone()
            .find(|(name, _)| name.eq_ignore_ascii_case(wanted.as_bytes()));
        found.map(|(_, value)| value)
    };
    match field("grpc-status") {
        Some(code) => Status {
            code: Code::numbered(&String::from_utf8_lossy(code)),
            description: field("grpc-message").map(|text| decode_message(text).into()),
        },
        None if is_short => {
            let why = "missing GRPC status, inferred error from HTTP status code";
            let text = format!("HTTP status code {}\n{why}", incoming.status);
            Status::new(Code::of_http(incoming.status), text)
        }
        None if incoming.trailers.is_empty() => {
            let text = "Received unexpected EOS on non-empty DATA frame from server";
            Status::new(Code::INTERNAL, text)
        }
        None => Status::new(Code::UNKNOWN, "missing GRPC status in response"),
    }
}

/// Whether a content type is of this kind, with any encoding of messages (`GrpcUtil#isGrpcContentType`).
fn is_of_type(content_type: &str, kind: &str) -> bool {
    let lower = content_type.to_ascii_lowercase();
    let rest = lower.strip_prefix(kind);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', ';']))
}

/// The status of a response that is not gRPC, such as a proxy's.
fn foreign<'a>(
    status: u16,
    headers: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    body: &[u8],
) -> Status {
    let mut content_type = "null".to_owned();
    let mut shown = format!(":status={status}");
    for (name, value) in headers {
        let (name, value) = (
            String::from_utf8_lossy(name),
            String::from_utf8_lossy(value),
        );
        let _ = write!(shown, ",{name}={value}");
        if name == "content-type" {
            content_type = value.into_owned();
        }
    }
    let mut text = format!(
        "HTTP status code {status}\ninvalid content-type: {content_type}\nheaders: Metadata({shown})"
    );
    let body = String::from_utf8_lossy(&body[..body.len().min(SHOWN_BYTES)]);
    if !body.is_empty() {
        let _ = write!(text, "\nDATA-----------------------------\n{body}");
    }
    Status::new(Code::of_http(status), text)
}

fn is_larger<'a>(
    fields: impl Iterator<Item = (&'a [u8], &'a [u8])>,
    limits: ResponseLimits,
) -> bool {
    let bytes: usize = fields
        .map(|(name, value)| name.len() + value.len() + 32)
        .sum();
    bytes > limits.metadata_bytes as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_has_what_grpc_needs_and_the_metadata() {
        let metadata = Metadata::parse("X-Token:s,city:Köln").expect("metadata");
        let call = CallHead {
            dialect: Dialect::Grpc,
            streams: false,
            authority: "a:1",
            path: "/p.S/M",
            metadata: &metadata,
            deadline: Some(Duration::from_millis(1500)),
            body_bytes: 5,
        };
        let head = head(&call);
        let text = String::from_utf8(head.expect("a head")).expect("ASCII");
        assert_eq!(
            text,
            "POST /p.S/M HTTP/1.1\r\nHost: a:1\r\nuser-agent: grpc-java-netty/1.38.0\r\n\
             content-type: application/grpc\r\nte: trailers\r\ngrpc-accept-encoding: gzip\r\n\
             x-token: s\r\ncity: K?ln\r\ngrpc-timeout: 1500000u\r\n\r\n"
        );
        let bad = Metadata::parse("a b:1").expect("metadata");
        let refused = super::head(&CallHead {
            metadata: &bad,
            ..call
        });
        assert!(refused.is_err());
        let connect = super::head(&CallHead {
            dialect: Dialect::Connect,
            ..call
        });
        let text = String::from_utf8(connect.expect("a head")).expect("ASCII");
        assert!(
            text.contains("content-type: application/proto\r\n"),
            "{text}"
        );
        assert!(text.contains("content-length: 5\r\n"), "{text}");
        assert!(text.contains("connect-timeout-ms: 1500\r\n"), "{text}");
    }

    #[test]
    fn timeouts_have_at_most_eight_digits() {
        for (nanos, text) in [
            (0, "0n"),
            (99_999_999, "99999999n"),
            (100_000_000, "100000u"),
            (100_000_000_000, "100000m"),
            (u64::MAX, "5124095H"),
        ] {
            assert_eq!(timeout(Duration::from_nanos(nanos)), text);
        }
    }

    #[test]
    fn other_servers_are_told_apart() {
        let is_grpc = |text| is_of_type(text, "application/grpc");
        assert!(is_grpc("application/grpc+proto") && is_grpc("application/grpc"));
        assert!(!is_grpc("application/grpc-web") && !is_grpc("text/html"));
        let headers = [(&b"content-type"[..], &b"text/html"[..])];
        let status = foreign(503, headers.into_iter(), b"busy");
        assert_eq!(status.code, Code::UNAVAILABLE);
        let text = "HTTP status code 503\ninvalid content-type: text/html\n\
            headers: Metadata(:status=503,content-type=text/html)\nDATA-----------------------------\nbusy";
        assert_eq!(status.description.as_deref(), Some(text));
    }
}
