//! The status of a call: its code, and the description that the server or this client gives.

use drumfire_http::{Failure, FailureKind, Http2Failure, Phase};

/// The plugin's message for a failed TLS handshake.
const IN_HANDSHAKE: &str = "io exception\nChannel Pipeline: [SslHandler#0, ProtocolNegotiators$ClientTlsHandler#0, \
    WriteBufferingAndExceptionHandler#0, DefaultChannelPipeline$TailContext#0]";

/// A status code (`io.grpc.Status.Code`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Code(u8);

const NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

impl Code {
    /// The call succeeded.
    pub const OK: Self = Self(0);
    /// The call was given up.
    pub const CANCELLED: Self = Self(1);
    /// The cause is not known.
    pub const UNKNOWN: Self = Self(2);
    /// The deadline has passed.
    pub const DEADLINE_EXCEEDED: Self = Self(4);
    /// The caller may not do this.
    pub const PERMISSION_DENIED: Self = Self(7);
    /// A limit is exceeded.
    pub const RESOURCE_EXHAUSTED: Self = Self(8);
    /// The server does not have the method.
    pub const UNIMPLEMENTED: Self = Self(12);
    /// The server or the client violated the protocol.
    pub const INTERNAL: Self = Self(13);
    /// The server cannot be reached.
    pub const UNAVAILABLE: Self = Self(14);
    /// The caller is not known.
    pub const UNAUTHENTICATED: Self = Self(16);

    /// The code with this number, which is UNKNOWN if there is none.
    pub fn numbered(number: &str) -> Self {
        let known = number.parse::<u8>().ok();
        known
            .filter(|number| usize::from(*number) < NAMES.len())
            .map_or(Self::UNKNOWN, Self)
    }

    /// The code with this name in lower case.
    pub(crate) fn named(name: &str) -> Option<Self> {
        let at = NAMES
            .iter()
            .position(|own| own.eq_ignore_ascii_case(name))?;
        u8::try_from(at).ok().map(Self)
    }

    /// Its number.
    pub fn number(self) -> u8 {
        self.0
    }

    /// Its name in upper case.
    pub fn name(self) -> &'static str {
        NAMES[usize::from(self.0)]
    }

    /// The code that stands for an HTTP status where a server does not speak gRPC (`GrpcUtil#httpStatusToGrpcCode`).
    pub(crate) fn of_http(status: u16) -> Self {
        match status {
            100..200 | 400 | 431 => Self::INTERNAL,
            401 => Self::UNAUTHENTICATED,
            403 => Self::PERMISSION_DENIED,
            404 => Self::UNIMPLEMENTED,
            429 | 502 | 503 | 504 => Self::UNAVAILABLE,
            _ => Self::UNKNOWN,
        }
    }
}

/// The status of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The code.
    pub code: Code,
    /// The description by the server or by this client.
    pub description: Option<Box<str>>,
}

impl Status {
    /// A status with a description.
    pub fn new(code: Code, description: impl Into<Box<str>>) -> Self {
        Self {
            code,
            description: Some(description.into()),
        }
    }

    /// Whether the call succeeded.
    pub fn is_ok(&self) -> bool {
        self.code == Code::OK
    }

    /// The status of an exchange that failed, in the words of the plugin's client (`io.grpc.netty.Utils`,
    /// `Http2ClientStreamTransportState`).
    pub fn of_failure(failure: &Failure, host: &str, port: u16) -> Self {
        const UNAVAILABLE: Code = Code::UNAVAILABLE;
        match &failure.kind {
            FailureKind::TookTooLong { limit } => Self::new(
                Code::DEADLINE_EXCEEDED,
                format!(
                    "deadline exceeded after {}.{:09}s. [remote_addr={}]",
                    limit.as_secs(),
                    limit.subsec_nanos(),
                    match failure.phase {
                        Phase::Resolve | Phase::Connect | Phase::TlsHandshake | Phase::Proxy => {
                            "waiting_for_connection".to_owned()
                        }
                        _ => address(failure, host, port),
                    }
                ),
            ),
            FailureKind::UnknownHost | FailureKind::UnknownToNameServers => {
                Self::new(UNAVAILABLE, format!("Unable to resolve host {host}"))
            }
            FailureKind::Http2(Http2Failure::Reset(code)) => of_reset(*code),
            FailureKind::Http2(own @ Http2Failure::GoAway(_)) => {
                let name = own.code_name().unwrap_or("INTERNAL_ERROR");
                let context = "Connection closed after GOAWAY. HTTP/2 error code";
                Self::new(UNAVAILABLE, format!("{context}: {name}"))
            }
            FailureKind::Http2(Http2Failure::Closed) | FailureKind::ClosedBeforeResponse => {
                Self::new(UNAVAILABLE, "Network closed for unknown reason")
            }
            FailureKind::Http2(_) => Self::new(Code::INTERNAL, "http2 exception"),
            FailureKind::BodyTooLarge { limit } => Self::new(
                Code::RESOURCE_EXHAUSTED,
                format!("the response exceeds {limit} bytes (drumfire.http.max_body_bytes)"),
            ),
            FailureKind::HeadTooLarge { limit } => Self::new(
                Code::INTERNAL,
                format!("the metadata exceed {limit} bytes (drumfire.http.max_head_bytes)"),
            ),
            _ if failure.phase == Phase::TlsHandshake => Self::new(UNAVAILABLE, IN_HANDSHAKE),
            _ => Self::new(UNAVAILABLE, "io exception"),
        }
    }
}

/// The peer as `java.net.InetSocketAddress` shows it.
fn address(failure: &Failure, host: &str, port: u16) -> String {
    let name = if host.parse::<std::net::IpAddr>().is_ok() {
        ""
    } else {
        host
    };
    let ip = failure.addresses.first().map(ToString::to_string);
    format!("{name}/{}:{port}", ip.as_deref().unwrap_or(host))
}

/// The status of a stream that the server reset (`GrpcUtil.Http2Error`).
fn of_reset(code: u32) -> Status {
    const CLOSED: &str = "RST_STREAM closed stream.";
    let Some(name) = Http2Failure::Reset(code).code_name() else {
        let text = format!("{CLOSED} Unrecognized HTTP/2 error code: {code}");
        return Status::new(Code::INTERNAL, text);
    };
    let (status, note) = match name {
        "NO_ERROR" | "REFUSED_STREAM" => (Code::UNAVAILABLE, ""),
        "CANCEL" => (Code::CANCELLED, ""),
        "ENHANCE_YOUR_CALM" => (Code::RESOURCE_EXHAUSTED, " (Bandwidth exhausted)"),
        "INADEQUATE_SECURITY" => (
            Code::PERMISSION_DENIED,
            " (Permission denied as protocol is not secure enough to call)",
        ),
        "HTTP_1_1_REQUIRED" => (Code::UNKNOWN, ""),
        _ => (Code::INTERNAL, ""),
    };
    Status::new(status, format!("{CLOSED} HTTP/2 error code: {name}{note}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_numbers_and_names_of_grpc() {
        for (text, number, name) in [
            ("0", 0, "OK"),
            ("5", 5, "NOT_FOUND"),
            ("16", 16, "UNAUTHENTICATED"),
            ("17", 2, "UNKNOWN"),
            ("x", 2, "UNKNOWN"),
        ] {
            let code = Code::numbered(text);
            assert_eq!((code.number(), code.name()), (number, name));
        }
        assert_eq!(Code::of_http(404), Code::UNIMPLEMENTED);
        assert_eq!(Code::of_http(503), Code::UNAVAILABLE);
    }

    #[test]
    fn resets_are_told_in_the_words_of_the_client() {
        let status = of_reset(11);
        let text =
            "RST_STREAM closed stream. HTTP/2 error code: ENHANCE_YOUR_CALM (Bandwidth exhausted)";
        assert_eq!(status, Status::new(Code::RESOURCE_EXHAUSTED, text));
        assert_eq!(of_reset(99).code, Code::INTERNAL);
    }
}
