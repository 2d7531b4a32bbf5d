//! The failures of an exchange, distinguished finely enough that a caller can describe each in terms that its users know.

use std::fmt;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

use drumfire_certificates::{is_unknown, reason};
use rustls::CertificateError;

use crate::errno;
use crate::message::{Incoming, Times, WireBytes};

/// A failed exchange: the cause, the phase, and the measurements up to it.
#[derive(Debug)]
pub struct Failure {
    /// The cause.
    pub kind: FailureKind,
    /// The phase in which it happened.
    pub phase: Phase,
    /// The times of the phases up to the failure.
    pub times: Times,
    /// The bytes transferred up to the failure.
    pub wire: WireBytes,
    /// Whether the exchange ran on a connection that had served an earlier one.
    pub reused: bool,
    /// The addresses of the host's name, in the order of attempts (empty if no connection was opened).
    pub addresses: Vec<IpAddr>,
}

/// The phase of an exchange in which a failure happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Looking the host's name up.
    Resolve,
    /// Opening a TCP connection.
    Connect,
    /// Talking to the proxy (CONNECT) before the tunnel was established.
    Proxy,
    /// Performing the TLS handshake.
    TlsHandshake,
    /// Sending the request.
    Write,
    /// Waiting for the response or reading its head.
    Head,
    /// Reading the response's body.
    Body,
}

/// The cause of a failed exchange.
#[derive(Debug)]
pub enum FailureKind {
    /// The name has no address.
    UnknownHost,
    /// Explicitly configured name servers know no address of the name.
    UnknownToNameServers,
    /// Nothing listens on that port.
    Refused,
    /// No connection was made within `Limits::connect`, the kernel gave up connecting, or the TLS handshake was silent for
    /// longer than its limit.
    ConnectTimeout,
    /// The server was silent for longer than `Limits::response`.
    ReadTimeout,
    /// The server took none of the request for longer than `Limits::response`.
    WriteTimeout,
    /// The exchange took longer than `Limits::total` or `PoolOptions::max_exchange` in all.
    TookTooLong {
        /// The limit.
        limit: Duration,
    },
    /// There is no route to the host.
    HostUnreachable,
    /// There is no route to the network.
    NetworkUnreachable,
    /// Local ports are exhausted, or this machine does not have the source address.
    AddressNotAvailable,
    /// The process has no file descriptors left.
    TooManyFiles,
    /// The peer reset the connection.
    Reset,
    /// The peer had closed the connection before this write.
    BrokenPipe,
    /// The server closed the connection before it sent any byte of a response.
    ClosedBeforeResponse,
    /// The server sent data and closed the connection, but sent no HTTP status line. The first line of the data, at most 100 bytes.
    NoValidResponse(Box<str>),
    /// The status line cannot be parsed.
    BadStatusLine {
        /// The line.
        line: Box<str>,
        /// The invalid part of it.
        part: StatusLinePart,
    },
    /// A header line without a colon or without a name.
    BadHeader(Box<str>),
    /// The heads exceed [`crate::SizeLimits::head_bytes`].
    HeadTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// More interim responses came than [`crate::SizeLimits::interim_heads`].
    TooManyInterimHeads {
        /// The limit.
        limit: usize,
    },
    /// The body has more codings than [`crate::SizeLimits::content_codings`].
    TooManyCodings {
        /// The limit.
        limit: usize,
    },
    /// The stored body exceeds [`crate::SizeLimits::body_bytes`].
    BodyTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// An event of a watched body exceeds the limit of its observer.
    EventTooLarge {
        /// The limit, in bytes.
        limit: usize,
    },
    /// The decoded body exceeds [`crate::SizeLimits::decoded_bytes`].
    DecodedTooLarge {
        /// The limit, in bytes.
        limit: u64,
    },
    /// An interim status other than `100 Continue` came while waiting for it.
    UnexpectedInterim(u16),
    /// The stream ended before Content-Length bytes had arrived.
    TruncatedBody {
        /// The announced bytes.
        expected: u64,
        /// The bytes received.
        received: u64,
    },
    /// The stream ended inside a chunk.
    TruncatedChunk {
        /// The announced bytes.
        expected: u64,
        /// The bytes received.
        actual: u64,
    },
    /// The stream ended where the next chunk's size was expected.
    MissingLastChunk,
    /// The chunked framing is invalid.
    BadChunk(BadChunk),
    /// TLS failed.
    Tls(TlsFailure),
    /// HTTP/2 failed.
    Http2(Http2Failure),
    /// HTTP/3 failed.
    Http3(Http3Failure),
    /// A content encoding cannot be decoded.
    Decode(DecodeFailure),
    /// The proxy answered CONNECT with something other than 2xx; its answer is inside.
    ProxyRefused(Box<Incoming>),
    /// A file to send could not be read, or is shorter than announced.
    File(io::Error),
    /// Any other error of the operating system.
    Io(io::Error),
}

/// The invalid part of a status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatusLinePart {
    /// There is no dot in the version.
    Version,
    /// The number before the dot.
    MajorVersion,
    /// The number after the dot.
    MinorVersion,
    /// The code is not a number.
    Code,
    /// The code is a number below 100.
    Range,
}

/// How chunked framing is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BadChunk {
    /// The size is not a hexadecimal number.
    Size(Box<str>),
    /// The size is negative.
    NegativeSize,
    /// The stream ended where the line end after a chunk was expected.
    MissingLineEnd,
    /// A chunk is not followed by a line end.
    NoLineEnd,
    /// A line after the last chunk is not a header.
    Trailer(Box<str>),
}

/// How a TLS handshake or record failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TlsFailure {
    /// The peer sent this fatal alert (see [`TlsFailure::alert_name`]).
    Alert(u8),
    /// The peer does not speak TLS.
    NotTls,
    /// The peer chose a protocol version that is not enabled here.
    ProtocolVersion,
    /// The peer closed during the handshake.
    Closed,
    /// A handshake message exceeds the limit; its size, if known.
    MessageTooLarge(Option<usize>),
    /// The server's certificate is not trusted; the text says why.
    Certificate(Box<str>),
    /// Anything else, as described by the library.
    Other(Box<str>),
}

/// How an exchange over HTTP/2 failed; codes are those of RFC 9113 section 7 (see [`Http2Failure::code_name`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http2Failure {
    /// The peer reset the stream.
    Reset(u32),
    /// The peer sent GOAWAY.
    GoAway(u32),
    /// The peer violated the protocol; this code was sent to it.
    Broken(u32),
    /// The connection ended.
    Closed,
    /// The request cannot be expressed in HTTP/2.
    Unsendable,
}

/// How an exchange over HTTP/3 failed. Codes are those of RFC 9114 section 8.1 (see [`Http3Failure::code_name`]), unless
/// stated otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Http3Failure {
    /// The peer reset the stream.
    Reset(u64),
    /// The peer accepts no more requests on this connection.
    GoAway,
    /// The peer violated the protocol; this code was sent to it.
    Broken(u64),
    /// The connection was closed gracefully.
    Closed,
    /// The peer closed the connection with this code.
    ClosedFor(u64),
    /// The connection failed below HTTP/3: a code of RFC 9000 section 20.1.
    Quic(u64),
    /// Nothing arrived within the peer's idle limit.
    Silence,
    /// The request cannot be expressed in HTTP/3.
    Unsendable,
}

/// How a content encoding failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DecodeFailure {
    /// The first bytes are not gzip's.
    NotGzip,
    /// The encoded stream ends too early.
    UnexpectedEnd(Coded),
    /// The check sum or length at the end of a gzip stream does not match.
    Checksum,
    /// Damaged data; the text describes the defect.
    Corrupt(Coded, Box<str>),
}

/// The part of an encoded stream that cannot be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coded {
    /// The header of a gzip member.
    GzipHeader,
    /// The deflate stream of a gzip member.
    GzipData,
    /// Check sum and length of a gzip member.
    GzipTrailer,
    /// The two bytes that distinguish zlib from raw deflate.
    DeflateHeader,
    /// A deflate stream.
    Deflate,
    /// A brotli stream.
    Brotli,
}

impl FailureKind {
    /// Whether the peer ended the connection, gracefully or not.
    pub(crate) fn is_end_by_peer(&self) -> bool {
        matches!(
            self,
            Self::Reset
                | Self::BrokenPipe
                | Self::ClosedBeforeResponse
                | Self::NoValidResponse(_)
                | Self::TruncatedBody { .. }
                | Self::TruncatedChunk { .. }
                | Self::MissingLastChunk
                | Self::Http2(Http2Failure::GoAway(_) | Http2Failure::Closed)
                | Self::Http3(
                    Http3Failure::GoAway
                        | Http3Failure::Closed
                        | Http3Failure::ClosedFor(_)
                        | Http3Failure::Quic(_)
                        | Http3Failure::Silence
                )
        )
    }

    /// Classifies an error of the operating system.
    pub(crate) fn from_io(error: io::Error) -> Self {
        match error.raw_os_error() {
            Some(errno::ECONNREFUSED) => Self::Refused,
            Some(errno::ETIMEDOUT) => Self::ConnectTimeout,
            Some(errno::EHOSTUNREACH) => Self::HostUnreachable,
            Some(errno::ENETUNREACH) => Self::NetworkUnreachable,
            Some(errno::EADDRNOTAVAIL | errno::EADDRINUSE) => Self::AddressNotAvailable,
            Some(errno::EMFILE | errno::ENFILE) => Self::TooManyFiles,
            Some(errno::ECONNRESET) => Self::Reset,
            Some(errno::EPIPE) => Self::BrokenPipe,
            _ => Self::Io(error),
        }
    }
}

impl From<rustls::Error> for TlsFailure {
    fn from(error: rustls::Error) -> Self {
        use rustls::{Error, InvalidMessage, PeerIncompatible};
        match error {
            Error::AlertReceived(alert) => Self::Alert(alert.into()),
            Error::InvalidMessage(
                InvalidMessage::HandshakePayloadTooLarge
                | InvalidMessage::CertificatePayloadTooLarge,
            ) => Self::MessageTooLarge(None),
            Error::InvalidMessage(
                InvalidMessage::InvalidContentType
                | InvalidMessage::UnknownProtocolVersion
                | InvalidMessage::MessageTooLarge,
            ) => Self::NotTls,
            Error::PeerIncompatible(
                PeerIncompatible::ServerDoesNotSupportTls12Or13
                | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig,
            ) => Self::ProtocolVersion,
            Error::InvalidCertificate(why) => Self::certificate(&why),
            other => Self::Other(other.to_string().into()),
        }
    }
}

impl TlsFailure {
    /// A certificate that is not trusted: the reason, and what makes it trusted where the user decides that.
    pub(crate) fn certificate(why: &CertificateError) -> Self {
        let mut text = reason(why);
        if is_unknown(why) {
            text.push_str("; name it or its authority with -Jdrumfire.tls_ca_file=FILE.pem");
        }
        Self::Certificate(text.into())
    }

    /// The name of the alert as in RFC 8446 and its predecessors, if it is a known one.
    pub fn alert_name(&self) -> Option<&'static str> {
        let Self::Alert(code) = self else { return None };
        Some(match code {
            0 => "close_notify",
            10 => "unexpected_message",
            20 => "bad_record_mac",
            21 => "decryption_failed",
            22 => "record_overflow",
            30 => "decompression_failure",
            40 => "handshake_failure",
            41 => "no_certificate",
            42 => "bad_certificate",
            43 => "unsupported_certificate",
            44 => "certificate_revoked",
            45 => "certificate_expired",
            46 => "certificate_unknown",
            47 => "illegal_parameter",
            48 => "unknown_ca",
            49 => "access_denied",
            50 => "decode_error",
            51 => "decrypt_error",
            60 => "export_restriction",
            70 => "protocol_version",
            71 => "insufficient_security",
            80 => "internal_error",
            86 => "inappropriate_fallback",
            90 => "user_canceled",
            100 => "no_renegotiation",
            109 => "missing_extension",
            110 => "unsupported_extension",
            111 => "certificate_unobtainable",
            112 => "unrecognized_name",
            113 => "bad_certificate_status_response",
            114 => "bad_certificate_hash_value",
            115 => "unknown_psk_identity",
            116 => "certificate_required",
            120 => "no_application_protocol",
            _ => return None,
        })
    }
}

impl Http2Failure {
    /// The code's name in RFC 9113, if it has one.
    pub fn code_name(&self) -> Option<&'static str> {
        const NAMES: [&str; 14] = [
            "NO_ERROR",
            "PROTOCOL_ERROR",
            "INTERNAL_ERROR",
            "FLOW_CONTROL_ERROR",
            "SETTINGS_TIMEOUT",
            "STREAM_CLOSED",
            "FRAME_SIZE_ERROR",
            "REFUSED_STREAM",
            "CANCEL",
            "COMPRESSION_ERROR",
            "CONNECT_ERROR",
            "ENHANCE_YOUR_CALM",
            "INADEQUATE_SECURITY",
            "HTTP_1_1_REQUIRED",
        ];
        let (Self::Reset(code) | Self::GoAway(code) | Self::Broken(code)) = self else {
            return None;
        };
        NAMES.get(*code as usize).copied()
    }
}

impl Http3Failure {
    /// The code's name in RFC 9114 or RFC 9000, if it has one.
    pub fn code_name(&self) -> Option<&'static str> {
        const OF_HTTP3: [&str; 17] = [
            "H3_NO_ERROR",
            "H3_GENERAL_PROTOCOL_ERROR",
            "H3_INTERNAL_ERROR",
            "H3_STREAM_CREATION_ERROR",
            "H3_CLOSED_CRITICAL_STREAM",
            "H3_FRAME_UNEXPECTED",
            "H3_FRAME_ERROR",
            "H3_EXCESSIVE_LOAD",
            "H3_ID_ERROR",
            "H3_SETTINGS_ERROR",
            "H3_MISSING_SETTINGS",
            "H3_REQUEST_REJECTED",
            "H3_REQUEST_CANCELLED",
            "H3_REQUEST_INCOMPLETE",
            "H3_MESSAGE_ERROR",
            "H3_CONNECT_ERROR",
            "H3_VERSION_FALLBACK",
        ];
        const OF_QUIC: [&str; 17] = [
            "NO_ERROR",
            "INTERNAL_ERROR",
            "CONNECTION_REFUSED",
            "FLOW_CONTROL_ERROR",
            "STREAM_LIMIT_ERROR",
            "STREAM_STATE_ERROR",
            "FINAL_SIZE_ERROR",
            "FRAME_ENCODING_ERROR",
            "TRANSPORT_PARAMETER_ERROR",
            "CONNECTION_ID_LIMIT_ERROR",
            "PROTOCOL_VIOLATION",
            "INVALID_TOKEN",
            "APPLICATION_ERROR",
            "CRYPTO_BUFFER_EXCEEDED",
            "KEY_UPDATE_ERROR",
            "AEAD_LIMIT_REACHED",
            "NO_VIABLE_PATH",
        ];
        let (names, index) = match *self {
            Self::Reset(code) | Self::Broken(code) | Self::ClosedFor(code) => {
                (OF_HTTP3, code.checked_sub(0x100)?)
            }
            Self::Quic(code) => (OF_QUIC, code),
            _ => return None,
        };
        names.get(usize::try_from(index).ok()?).copied()
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} failed: {:?}", self.phase, self.kind)
    }
}

impl std::error::Error for Failure {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_the_operating_system() {
        let kind = |code| FailureKind::from_io(io::Error::from_raw_os_error(code));
        assert!(matches!(kind(errno::ECONNREFUSED), FailureKind::Refused));
        assert!(matches!(
            kind(errno::ETIMEDOUT),
            FailureKind::ConnectTimeout
        ));
        assert!(matches!(
            kind(errno::EHOSTUNREACH),
            FailureKind::HostUnreachable
        ));
        assert!(matches!(
            kind(errno::ENETUNREACH),
            FailureKind::NetworkUnreachable
        ));
        assert!(matches!(
            kind(errno::EADDRNOTAVAIL),
            FailureKind::AddressNotAvailable
        ));
        assert!(matches!(kind(errno::EMFILE), FailureKind::TooManyFiles));
        assert!(matches!(kind(errno::ECONNRESET), FailureKind::Reset));
        assert!(matches!(kind(errno::EPIPE), FailureKind::BrokenPipe));
        assert!(matches!(kind(libc::EACCES), FailureKind::Io(_)));
    }

    #[test]
    fn codes_of_http_3_and_quic_have_names() {
        assert_eq!(
            Http3Failure::Reset(0x10b).code_name(),
            Some("H3_REQUEST_REJECTED")
        );
        assert_eq!(
            Http3Failure::ClosedFor(0x110).code_name(),
            Some("H3_VERSION_FALLBACK")
        );
        assert_eq!(Http3Failure::Quic(0x10).code_name(), Some("NO_VIABLE_PATH"));
        assert_eq!(Http3Failure::Reset(5).code_name(), None);
        assert_eq!(Http3Failure::Silence.code_name(), None);
    }

    #[test]
    fn alerts_have_the_names_java_prints() {
        // sun.security.ssl.Alert of the JDK.
        assert_eq!(
            TlsFailure::Alert(40).alert_name(),
            Some("handshake_failure")
        );
        assert_eq!(TlsFailure::Alert(70).alert_name(), Some("protocol_version"));
        assert_eq!(TlsFailure::Alert(255).alert_name(), None);
        assert_eq!(TlsFailure::Closed.alert_name(), None);
    }
}
