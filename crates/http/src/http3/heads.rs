//! Heads in the types of the `http` crate, in which `h3` sends and receives them.

use http::header::{HeaderName, HeaderValue};
use http::{Request, Response};

use crate::binary_head::{self, put_status_line};
use crate::failure::FailureKind;
use crate::head::Head;
use crate::known_heads::{KnownHeads, KnownRequests};
use crate::target::Target;

/// Converts the caller's head to a request. `None` if it cannot be converted.
pub(super) fn request(
    head: &[u8],
    target: &Target,
    known: &KnownRequests<Request<()>>,
) -> Option<Request<()>> {
    known.request(target, head, || {
        let mut request = Request::new(());
        (*request.method_mut(), *request.uri_mut()) = binary_head::request_line(head, target)?;
        for (name, value) in binary_head::request_headers(head) {
            let name = HeaderName::from_bytes(name).ok()?;
            let value = HeaderValue::from_bytes(value).ok()?;
            request.headers_mut().append(name, value);
        }
        Some(request)
    })
}

/// Converts the response's head to the form of HTTP/1.1.
pub(super) fn response<B>(response: &Response<B>, known: &KnownHeads) -> Result<Head, FailureKind> {
    let status = response.status().as_u16();
    let mut lines = Vec::with_capacity(512);
    let reason = put_status_line(&mut lines, 3, status);
    for (name, value) in response.headers() {
        for part in [name.as_str().as_bytes(), b": ", value.as_bytes(), b"\r\n"] {
            lines.extend_from_slice(part);
        }
    }
    lines.extend_from_slice(b"\r\n");
    binary_head::head(&lines, status, 3, reason, known)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heads_survive_in_both_directions() {
        let text = b"GET /a HTTP/1.1\r\nHost: shop.test\r\nX-Two: 2\r\nX-Two: 3\r\n\r\n";
        let (target, known) = (
            Target::new("127.0.0.1", 443, true),
            KnownRequests::default(),
        );
        let request = request(text, &target, &known).expect("it can be sent");
        assert_eq!(request.uri(), "https://shop.test/a");
        let values: Vec<_> = request.headers().get_all("x-two").iter().collect();
        assert_eq!(values, ["2", "3"]);
        let answer = Response::builder()
            .header("set-cookie", "a=1")
            .header("set-cookie", "b=2")
            .body(())
            .expect("a response");
        let head = response(&answer, &KnownHeads::default()).expect("its headers are good");
        let text = "HTTP/3.0 200 OK\r\nset-cookie: a=1\r\nset-cookie: b=2\r\n\r\n";
        assert_eq!(String::from_utf8_lossy(&head.bytes), text);
    }
}
