//! The forms in which a call is written: gRPC itself, gRPC-Web for servers behind HTTP/1.1, and Connect.

use crate::frame::{self, Encoding, Take, put_frame};
use crate::json::Json;
use crate::metadata::decode_message;
use crate::status::{Code, Status};

/// A form of calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// gRPC over HTTP/2.
    #[default]
    Grpc,
    /// gRPC-Web over HTTP/1.1, whose last frame holds the trailers.
    Web,
    /// Connect over HTTP/1.1.
    Connect,
}

/// The flag of a frame with trailers in gRPC-Web.
const WEB_END: u8 = 0x80;
/// The flag of a frame with the end of a stream in Connect.
const CONNECT_END: u8 = 0x02;

impl Dialect {
    /// The dialect of this name: `grpc`, `grpc-web` or `connect`.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "grpc" => Some(Self::Grpc),
            "grpc-web" => Some(Self::Web),
            "connect" => Some(Self::Connect),
            _ => None,
        }
    }

    /// Whether it needs HTTP/2.
    pub fn needs_http2(self) -> bool {
        self == Self::Grpc
    }

    /// The body of a request. `streams` says whether the method streams in either direction.
    pub fn body(self, messages: &[Vec<u8>], streams: bool) -> Vec<u8> {
        let mut body = Vec::new();
        match (self, messages) {
            (Self::Connect, [message]) if !streams => body.extend_from_slice(message),
            _ => messages
                .iter()
                .for_each(|message| put_frame(&mut body, message)),
        }
        body
    }

    /// The headers that tell a server the dialect.
    pub(crate) fn headers(self, streams: bool) -> &'static str {
        match (self, streams) {
            (Self::Grpc, _) => {
                "content-type: application/grpc\r\nte: trailers\r\ngrpc-accept-encoding: gzip\r\n"
            }
            (Self::Web, _) => {
                "content-type: application/grpc-web+proto\r\naccept: application/grpc-web+proto\r\nx-grpc-web: 1\r\ngrpc-accept-encoding: gzip\r\n"
            }
            (Self::Connect, false) => {
                "content-type: application/proto\r\nconnect-protocol-version: 1\r\naccept-encoding: gzip\r\n"
            }
            (Self::Connect, true) => {
                "content-type: application/connect+proto\r\nconnect-protocol-version: 1\r\nconnect-accept-encoding: gzip\r\n"
            }
        }
    }
}

/// Reads the frames of a response in gRPC-Web; `None` if the headers hold the status.
pub(crate) fn read_web(
    body: &[u8],
    encoding: Encoding,
    max_bytes: u32,
    take: Take<'_>,
) -> Result<Option<Status>, Status> {
    let end = frame::messages(body, encoding, max_bytes, Some(WEB_END), take)?;
    Ok(end.map(|trailers| {
        let mut status = Status::new(Code::UNKNOWN, "missing GRPC status in response");
        let mut description = None;
        for line in String::from_utf8_lossy(trailers).lines() {
            let Some((name, value)) = line.split_once(':') else {
                continue;
            };
            match name.trim().to_ascii_lowercase().as_str() {
                "grpc-status" => {
                    status = Status {
                        code: Code::numbered(value.trim()),
                        description: None,
                    };
                }
                "grpc-message" => {
                    description = Some(decode_message(value.trim().as_bytes()).into())
                }
                _ => {}
            }
        }
        status.description = description.or(status.description);
        status
    }))
}

/// Reads the frames of a stream in Connect.
pub(crate) fn read_connect_stream(
    body: &[u8],
    encoding: Encoding,
    max_bytes: u32,
    take: Take<'_>,
) -> Status {
    match frame::messages(body, encoding, max_bytes, Some(CONNECT_END), take) {
        Err(status) => status,
        Ok(None) => Status::new(Code::INTERNAL, "the stream has no end"),
        Ok(Some(end)) => {
            let text = String::from_utf8_lossy(end);
            let error = match Json::read(&text) {
                Ok(Json::Object(entries)) => {
                    let error = entries.into_iter().find(|(name, _)| name == "error");
                    error.map(|(_, error)| error)
                }
                _ => None,
            };
            match error {
                Some(error) => stated(&error, Code::UNKNOWN),
                None => Status {
                    code: Code::OK,
                    description: None,
                },
            }
        }
    }
}

/// The status of a unary response of Connect that is no message.
pub(crate) fn connect_error(http_status: u16, body: &[u8]) -> Status {
    let fallback = Code::of_http(http_status);
    let text = String::from_utf8_lossy(body);
    match Json::read(&text) {
        Ok(error @ Json::Object(_)) => stated(&error, fallback),
        _ => Status::new(fallback, format!("HTTP status code {http_status}")),
    }
}

/// The status that an error object of Connect states.
fn stated(error: &Json<'_>, fallback: Code) -> Status {
    let Json::Object(entries) = error else {
        return Status::new(fallback, "the error is no object");
    };
    let text = |wanted: &str| {
        let found = entries.iter().find(|(name, _)| name == wanted);
        found.and_then(|(_, value)| value.as_text())
    };
    Status {
        code: text("code").and_then(Code::named).unwrap_or(fallback),
        description: text("message").map(Into::into),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(flag: u8, text: &str) -> Vec<u8> {
        let mut frame = Vec::new();
        put_frame(&mut frame, text.as_bytes());
        frame[0] = flag;
        frame
    }

    #[test]
    fn the_last_frame_of_grpc_web_holds_the_trailers() {
        let mut body = Vec::new();
        put_frame(&mut body, b"one");
        body.extend(end(
            WEB_END,
            "grpc-status: 5\r\nGRPC-Message: no%20such\r\n",
        ));
        let mut found = Vec::new();
        let read = read_web(&body, Encoding::Identity, 100, &mut |message, _| {
            found.push(message.to_vec())
        });
        assert_eq!(read, Ok(Some(Status::new(Code::numbered("5"), "no such"))));
        assert_eq!(found, [b"one"]);
        let read = read_web(&[], Encoding::Identity, 100, &mut |_, _| {});
        assert_eq!(read, Ok(None));
    }

    #[test]
    fn connect_states_errors_as_json() {
        let status = connect_error(404, br#"{"code": "not_found", "message": "no such"}"#);
        assert_eq!(status, Status::new(Code::numbered("5"), "no such"));
        assert_eq!(connect_error(503, b"busy").code, Code::UNAVAILABLE);
        let read = |end: &[u8]| read_connect_stream(end, Encoding::Identity, 100, &mut |_, _| {});
        assert!(read(&end(CONNECT_END, "{}")).is_ok());
        let failed = end(CONNECT_END, r#"{"error": {"code": "aborted"}}"#);
        assert_eq!(read(&failed).code, Code::numbered("10"));
        assert_eq!(read(&[]).code, Code::INTERNAL);
    }

    #[test]
    fn only_a_unary_request_of_connect_has_no_frame() {
        let one = [b"x".to_vec()];
        assert_eq!(Dialect::Connect.body(&one, false), b"x");
        assert_eq!(Dialect::Connect.body(&one, true), [0, 0, 0, 0, 1, b'x']);
        assert_eq!(Dialect::Web.body(&one, false), [0, 0, 0, 0, 1, b'x']);
        assert_eq!(Dialect::named("grpc-web"), Some(Dialect::Web));
        assert_eq!(Dialect::named("http"), None);
    }
}
