//! Builds the demo site's responses: headers, compression, and a body that is generated while it is
//! sent.

use std::convert::Infallible;
use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Body, Bytes, Frame, SizeHint};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use hyper::{Response, StatusCode};

/// A response of the site.
pub type Reply = Response<BoxBody<Bytes, Infallible>>;

/// Bodies below this many bytes are not compressed.
const MIN_COMPRESSED: usize = 256;

/// A response with a body.
pub fn with_body(status: StatusCode, content_type: &'static str, body: impl Into<Bytes>) -> Reply {
    let body: Bytes = body.into();
    let mut reply = Response::new(Full::new(body).boxed());
    *reply.status_mut() = status;
    set(&mut reply, header::CONTENT_TYPE, content_type);
    reply
}

/// An HTML page, compressed if the client accepts that.
pub fn html(status: StatusCode, text: String, request: &HeaderMap) -> Reply {
    text_body(status, "text/html; charset=utf-8", text.into(), request)
}

/// JSON, compressed if the client accepts that.
pub fn json(status: StatusCode, value: &serde_json::Value, request: &HeaderMap) -> Reply {
    text_body(
        status,
        "application/json",
        value.to_string().into(),
        request,
    )
}

/// Text of any type, compressed if the client accepts that.
pub fn text_body(
    status: StatusCode,
    content_type: &'static str,
    text: Bytes,
    request: &HeaderMap,
) -> Reply {
    if text.len() < MIN_COMPRESSED || !takes_gzip(request) {
        return with_body(status, content_type, text);
    }
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder
        .write_all(&text)
        .expect("a Vec takes any number of bytes");
    let packed = encoder.finish().expect("a Vec takes any number of bytes");
    let mut reply = with_body(status, content_type, packed);
    set(&mut reply, header::CONTENT_ENCODING, "gzip");
    set(&mut reply, header::VARY, "Accept-Encoding");
    reply
}

/// A redirect that a browser follows with GET.
pub fn redirect(location: &'static str) -> Reply {
    let mut reply = with_body(StatusCode::FOUND, "text/plain", Bytes::new());
    set(&mut reply, header::LOCATION, location);
    reply
}

/// Sets a header to a text known at compile time.
pub fn set(reply: &mut Reply, name: HeaderName, value: &'static str) {
    reply
        .headers_mut()
        .insert(name, HeaderValue::from_static(value));
}

/// Sets a header to a computed text, which must be printable ASCII.
pub fn set_text(reply: &mut Reply, name: HeaderName, value: &str) {
    if let Ok(value) = HeaderValue::from_str(value) {
        reply.headers_mut().insert(name, value);
    }
}

fn takes_gzip(request: &HeaderMap) -> bool {
    let accepted = request
        .get(header::ACCEPT_ENCODING)
        .and_then(|value| value.to_str().ok())
        .unwrap_or("");
    accepted.split(',').any(|coding| {
        coding
            .split(';')
            .next()
            .is_some_and(|name| name.trim() == "gzip")
    })
}

/// A body of this many zero bytes. It is never held in memory as a whole.
pub fn zeros(length: u64) -> Reply {
    const CHUNK: usize = 64 * 1024;
    let body = Zeros {
        left: length,
        chunk: Bytes::from(vec![0; CHUNK]),
    };
    let mut reply = Response::new(body.boxed());
    set(&mut reply, header::CONTENT_TYPE, "application/octet-stream");
    reply
}

struct Zeros {
    left: u64,
    chunk: Bytes,
}

impl Body for Zeros {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        let length = usize::try_from(self.left)
            .map(|left| left.min(self.chunk.len()))
            .unwrap_or(self.chunk.len());
        self.left -= length as u64;
        Poll::Ready(Some(Ok(Frame::data(self.chunk.slice(..length)))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}
