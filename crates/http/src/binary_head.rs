//! Converts heads of requests and responses between the form of HTTP/1.1 and the form that HTTP/2 (RFC 9113 section 8) and HTTP/3
//! (RFC 9114 section 4) share.

use std::ops::Range;

use http::uri::{Authority, PathAndQuery, Scheme, Uri};
use http::{Method, StatusCode};
use memchr::memchr;

use crate::failure::FailureKind;
use crate::head::{Facts, Head};
use crate::headers::{Headers, first_line};
use crate::known_heads::KnownHeads;
use crate::target::Target;

/// The method and the address of the caller's head; `Host` becomes the authority. `None` if they are malformed.
pub(crate) fn request_line(head: &[u8], target: &Target) -> Option<(Method, Uri)> {
    let line = first_line(head);
    let method_end = memchr(b' ', line)?;
    let rest = &line[method_end + 1..];
    let path = &rest[..memchr(b' ', rest).unwrap_or(rest.len())];
    let method = Method::from_bytes(&line[..method_end]).ok()?;
    let hosts = Headers::after_status_line(head).filter(|(name, _)| is_host(name));
    let own;
    let host = match hosts.last() {
        Some((_, host)) => host,
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
    Some((method, Uri::from_parts(parts).ok()?))
}

/// The headers of the caller's head that are sent as such. Those that concern only the connection are dropped.
pub(crate) fn request_headers(head: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    Headers::after_status_line(head).filter(|(name, value)| {
        !is_host(name) && (!is_of_connection(name) || is_te_trailers(name, value))
    })
}

fn is_host(name: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"host")
}

/// Whether the header concerns only the connection (RFC 9113 section 8.2.2).
pub(crate) fn is_of_connection(name: &[u8]) -> bool {
    let is = |own: &str| name.eq_ignore_ascii_case(own.as_bytes());
    match name.len() {
        2 => is("te"),
        7 => is("upgrade"),
        10 => is("connection") || is("keep-alive"),
        16 => is("proxy-connection"),
        17 => is("transfer-encoding"),
        _ => false,
    }
}

/// Whether the header announces that the client takes trailers, which is the only value of TE that HTTP/2 has.
fn is_te_trailers(name: &[u8], value: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"te") && value.eq_ignore_ascii_case(b"trailers")
}

/// Appends the status line, in which Jetty's client shows the major version with `.0`, as in `HTTP/2.0`. There is no reason phrase
/// in these versions, so the status's standard one is used; its range is returned.
pub(crate) fn put_status_line(lines: &mut Vec<u8>, major: u8, status: u16) -> Range<usize> {
    let status = StatusCode::from_u16(status).ok();
    let reason = status.and_then(|status| status.canonical_reason());
    lines.extend_from_slice(b"HTTP/");
    lines.push(b'0' + major);
    lines.extend_from_slice(b".0 ");
    lines.extend_from_slice(status.as_ref().map_or("", StatusCode::as_str).as_bytes());
    lines.push(b' ');
    let start = lines.len();
    lines.extend_from_slice(reason.unwrap_or_default().as_bytes());
    let reason = start..lines.len();
    lines.extend_from_slice(b"\r\n");
    reason
}

/// The head with these lines, from the status line to the empty one.
pub(crate) fn head(
    lines: &[u8],
    status: u16,
    major: u8,
    reason: Range<usize>,
    known: &KnownHeads,
) -> Result<Head, FailureKind> {
    if let Some(head) = known.find(lines) {
        return Ok(head);
    }
    let head = Head {
        status,
        version: (major.into(), 0),
        reason,
        facts: Facts::read(lines)?,
        bytes: lines.into(),
    };
    known.add(&head, lines);
    Ok(head)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_loses_the_headers_of_the_connection() {
        let text = b"POST /a?b=c HTTP/1.1\r\nConnection: keep-alive\r\nX-Two: 2\r\nAccept: */*\r\n\
            Host: shop.test:8443\r\nX-Two: 3\r\nTE: trailers\r\nTransfer-Encoding: chunked\r\n\r\n";
        let target = Target::new("127.0.0.1", 8443, true);
        let (method, uri) = request_line(text, &target).expect("it can be sent");
        assert_eq!(
            (method, uri.to_string().as_str()),
            (Method::POST, "https://shop.test:8443/a?b=c")
        );
        let headers: Vec<_> = request_headers(text).collect();
        let expected: [(&[u8], &[u8]); 4] = [
            (b"X-Two", b"2"),
            (b"Accept", b"*/*"),
            (b"X-Two", b"3"),
            (b"TE", b"trailers"),
        ];
        assert_eq!(headers, expected);
    }

    #[test]
    fn malformed_lines_are_refused() {
        let target = Target::new("127.0.0.1", 80, false);
        for text in [&b"GET\r\n\r\n"[..], b"GET /<> HTTP/1.1\r\n\r\n"] {
            assert_eq!(request_line(text, &target), None);
        }
        let (_, uri) = request_line(b"GET / HTTP/1.1\r\n\r\n", &target).expect("it can be sent");
        assert_eq!(uri, "http://127.0.0.1:80/");
    }

    #[test]
    fn a_response_looks_like_one_of_http_1() {
        let known = KnownHeads::default();
        let mut lines = Vec::new();
        let reason = put_status_line(&mut lines, 2, 404);
        lines.extend_from_slice(b"content-length: 12\r\n\r\n");
        for _ in 0..2 {
            let head = head(&lines, 404, 2, reason.clone(), &known).expect("its headers are good");
            let text = "HTTP/2.0 404 Not Found\r\ncontent-length: 12\r\n\r\n";
            assert_eq!(String::from_utf8_lossy(&head.bytes), text);
            assert_eq!(&head.bytes[head.reason.clone()], b"Not Found");
            assert_eq!(head.facts.last_content_length, Some(12));
        }
        lines.clear();
        put_status_line(&mut lines, 3, 299);
        assert_eq!(lines, b"HTTP/3.0 299 \r\n");
    }
}
