//! Converts heads of requests and responses between the form of HTTP/1.1 and the form that HTTP/2 (RFC 9113 section 8) and HTTP/3
//! (RFC 9114 section 4) share.

use http::header::{HeaderName, HeaderValue};
use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{HeaderMap, Method, Request, Response};
use memchr::memchr;

use crate::failure::FailureKind;
use crate::head::{Facts, Head};
use crate::headers::{Headers, first_line};
use crate::known_heads::{KnownHeads, KnownRequests};
use crate::target::Target;

/// Converts the caller's head to a request. Header names become lower case, as HTTP/2 requires, and `Host` becomes the authority.
/// Headers that concern only the connection are dropped. `None` if the head cannot be converted.
pub(crate) fn request(head: &[u8], target: &Target, known: &KnownRequests) -> Option<Request<()>> {
    known.request(target, head, || make_request(head, target))
}

fn make_request(head: &[u8], target: &Target) -> Option<Request<()>> {
    let line = first_line(head);
    let method_end = memchr(b' ', line)?;
    let rest = &line[method_end + 1..];
    let path = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
    let mut request = Request::new(());
    *request.method_mut() = Method::from_bytes(&line[..method_end]).ok()?;
    let mut host = None;
    let headers = request.headers_mut();
    for (name, value) in Headers::after_status_line(head) {
        if name.eq_ignore_ascii_case(b"host") {
            host = Some(value);
        } else if !is_of_connection(name) || is_te_trailers(name, value) {
            let name = HeaderName::from_bytes(name).ok()?;
            let value = HeaderValue::from_bytes(value).ok()?;
            headers.append(name, value);
        }
    }
    let own;
    let host = match host {
        Some(host) => host,
        None => {
            own = target.authority();
            own.as_bytes()
        }
    };
    let mut parts = http::uri::Parts::default();
    parts.scheme = Some(if target.tls {
        Scheme::HTTPS
    } else {
        Scheme::HTTP
    });
    parts.authority = Some(Authority::try_from(host).ok()?);
    parts.path_and_query = Some(PathAndQuery::try_from(path).ok()?);
    *request.uri_mut() = Uri::from_parts(parts).ok()?;
    Some(request)
}

/// Whether the header concerns only the connection (RFC 9113 section 8.2.2).
fn is_of_connection(name: &[u8]) -> bool {
    const NAMES: [&str; 6] = [
        "connection",
        "keep-alive",
        "proxy-connection",
        "transfer-encoding",
        "upgrade",
        "te",
    ];
    NAMES
        .iter()
        .any(|own| name.eq_ignore_ascii_case(own.as_bytes()))
}

/// Whether the header announces that the client takes trailers, which is the only value of TE that HTTP/2 has.
fn is_te_trailers(name: &[u8], value: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"te") && value.eq_ignore_ascii_case(b"trailers")
}

/// Headers or trailers as lines of HTTP/1.1.
pub(crate) fn lines(fields: &HeaderMap) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64);
    append_lines(fields, &mut bytes);
    bytes
}

fn append_lines(fields: &HeaderMap, bytes: &mut Vec<u8>) {
    for (name, value) in fields {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
}

/// The size of a response's head in the form of HTTP/1.1, in bytes.
pub(crate) fn response_bytes<B>(response: &Response<B>) -> usize {
    const STATUS_LINE: usize = "HTTP/2.0 103 Early Hints\r\n".len();
    let fields = response.headers().iter();
    fields.fold(STATUS_LINE, |bytes, (name, value)| {
        bytes + name.as_str().len() + ": \r\n".len() + value.len()
    })
}

/// Converts the response's head to the form of HTTP/1.1 in which Jetty's client shows it. The version is the major version
/// with `.0`, as in `HTTP/2.0`. HTTP/2 has no reason phrase, so the status's standard one is used.
pub(crate) fn response<B>(
    response: &Response<B>,
    major: u8,
    known: &KnownHeads,
) -> Result<Head, FailureKind> {
    let status = response.status();
    let reason = status.canonical_reason().unwrap_or_default();
    let mut bytes = Vec::with_capacity(512);
    bytes.extend_from_slice(b"HTTP/");
    bytes.push(b'0' + major);
    bytes.extend_from_slice(b".0 ");
    bytes.extend_from_slice(status.as_str().as_bytes());
    bytes.push(b' ');
    let start = bytes.len();
    bytes.extend_from_slice(reason.as_bytes());
    let reason = start..bytes.len();
    bytes.extend_from_slice(b"\r\n");
    append_lines(response.headers(), &mut bytes);
    bytes.extend_from_slice(b"\r\n");
    if let Some(head) = known.find(&bytes) {
        return Ok(head);
    }
    let facts = Facts::read(&bytes)?;
    let head = Head {
        status: status.as_u16(),
        version: (major.into(), 0),
        reason,
        bytes: bytes.into(),
        facts,
    };
    known.add(&head, &head.bytes);
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_keeps_the_order_of_its_headers_and_loses_those_of_the_connection() {
        let head = b"POST /a?b=c HTTP/1.1\r\nConnection: keep-alive\r\nX-Two: 2\r\nAccept: */*\r\n\
            Host: shop.test:8443\r\nX-Two: 3\r\nTransfer-Encoding: chunked\r\n\r\n";
        let target = Target::new("127.0.0.1", 8443, true);
        let request = make_request(head, &target).expect("it can be sent");
        assert_eq!(request.method(), Method::POST);
        assert_eq!(request.uri(), "https://shop.test:8443/a?b=c");
        let headers: Vec<_> = request
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_bytes()))
            .collect();
        let expected: [(&str, &[u8]); 3] = [("x-two", b"2"), ("x-two", b"3"), ("accept", b"*/*")];
        assert_eq!(headers, expected);
    }

    #[test]
    fn malformed_heads_are_not_sent_over_http_2() {
        let target = Target::new("127.0.0.1", 80, false);
        for head in [
            &b"GET\r\n\r\n"[..],
            b"GET /<> HTTP/1.1\r\n\r\n",
            b"GET / HTTP/1.1\r\nX Y: 1\r\n\r\n",
        ] {
            let sent = make_request(head, &target);
            assert!(sent.is_none(), "{sent:?}");
        }
        let plain = make_request(b"GET / HTTP/1.1\r\n\r\n", &target).expect("it can be sent");
        assert_eq!(plain.uri(), "http://127.0.0.1:80/");
    }

    #[test]
    fn a_response_looks_like_one_of_http_1() {
        let plain = Response::builder()
            .status(404)
            .header("content-length", "12")
            .header("set-cookie", "a=1")
            .header("set-cookie", "b=2")
            .body(())
            .expect("a response");
        let known = KnownHeads::default();
        let head = response(&plain, 2, &known).expect("its headers are good");
        let text = "HTTP/2.0 404 Not Found\r\ncontent-length: 12\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&head.bytes), text);
        assert_eq!(&head.bytes[head.reason.clone()], b"Not Found");
        assert_eq!(head.facts.last_content_length, Some(12));
        let again = response(&plain, 2, &known).expect("its headers are good");
        assert_eq!((again.bytes, again.facts), (head.bytes, head.facts));
        let odd = Response::builder()
            .status(299)
            .body(())
            .expect("a response");
        let head = response(&odd, 3, &known).expect("its headers are good");
        assert_eq!(&*head.bytes, b"HTTP/3.0 299 \r\n\r\n");
    }
}
