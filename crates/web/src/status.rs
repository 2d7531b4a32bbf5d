//! The texts that JMeter reports for failed exchanges: exception classes and messages of Java and HttpClient.

use std::net::IpAddr;

pub use crate::encoding_error::EncodingError;
use drumfire_java::Exception;

/// The server that a connection was meant for.
#[derive(Clone, Copy, Debug)]
pub struct Endpoint<'a> {
    /// The host as written in the address, with brackets if it is an IPv6 address.
    pub host: &'a str,
    /// The port.
    pub port: u16,
    /// The addresses the host was resolved to.
    pub addresses: &'a [IpAddr],
}

/// Why a connection could not be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectFailure<'a> {
    /// `ECONNREFUSED`.
    Refused,
    /// The connect timeout passed, or the system gave up (`ETIMEDOUT`).
    TimedOut,
    /// `ENETUNREACH`.
    NetworkUnreachable,
    /// `EHOSTUNREACH`.
    HostUnreachable,
    /// `EADDRNOTAVAIL`: no local port is available.
    NoLocalAddress,
    /// Another error, with the system's message.
    Other(&'a str),
}

/// The invalid part of a status line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusPart {
    /// There is no dot in the version.
    Version,
    /// The number before the dot.
    Major,
    /// The number after the dot.
    Minor,
    /// The status is missing or is not digits.
    Code,
    /// The status is below 100.
    Range,
}

/// Why an exchange failed. A failure without its own variant is an [`ExchangeFailure::Socket`] with the system's message.
#[derive(Clone, Copy, Debug)]
pub enum ExchangeFailure<'a> {
    /// The name does not resolve. `remembered` means that Java has a cached failure and has not asked the system
    /// again (`InetAddress.CachedAddresses`).
    UnknownHost {
        /// Java used a cached failure.
        remembered: bool,
    },
    /// The name servers of a DNS Cache Manager know no address of the name (`DNSCacheManager#customRequestLookup`).
    UnknownToNameServers,
    /// No connection could be made.
    Connect(ConnectFailure<'a>),
    /// The response timeout passed between two reads.
    ReadTimeout,
    /// The server took none of the request for too long. Java's blocking sockets would wait for ever.
    WriteTimeout,
    /// The peer reset the connection (`ECONNRESET`) during a read.
    Reset,
    /// The peer reset the connection during a write (`EPIPE`).
    BrokenPipe,
    /// The peer closed the connection without sending a byte of a response.
    NoResponse,
    /// The peer closed the connection before sending a status line, or the head is not HTTP.
    MalformedHead,
    /// The status line cannot be parsed.
    BadStatusLine(StatusPart, &'a str),
    /// A header line has no colon.
    BadHeader(&'a str),
    /// The body ended before its `Content-Length`; sizes in bytes.
    TruncatedBody {
        /// The announced size.
        expected: u64,
        /// The bytes received.
        received: u64,
    },
    /// A chunk ended early; sizes in bytes.
    TruncatedChunk {
        /// The announced size.
        expected: u64,
        /// The bytes received.
        received: u64,
    },
    /// The connection closed where a chunk header was expected.
    MissingClosingChunk,
    /// The chunk size cannot be parsed; the text is the line up to any semicolon.
    BadChunkHeader(&'a str),
    /// The chunk size is negative.
    NegativeChunk,
    /// A chunk is not followed by a line end.
    MissingChunkEnd,
    /// The body ends where a chunk's line end was expected.
    UnendedChunk,
    /// A line after the last chunk is not a header.
    BadTrailer(&'a str),
    /// A compressed body cannot be decoded.
    Damaged(EncodingError<'a>),
    /// The peer closed the connection during the TLS handshake, or did not speak TLS and closed.
    TlsClosed,
    /// The peer answered the TLS handshake with something that is not TLS.
    TlsNotSpoken,
    /// The peer sent a fatal alert; the text is its name as Java writes it, such as `handshake_failure`.
    TlsAlert(&'a str),
    /// A handshake message is too large; its size, if known.
    TlsMessageTooLarge(Option<usize>),
    /// Another TLS failure, with the library's message.
    Tls(&'a str),
    /// An upload file could not be read; the message of [`crate::body::unreadable_file`].
    File(&'a str),
    /// Another socket error, with the system's message.
    Socket(&'a str),
}

/// The failure of a sampler with an unknown implementation (`HTTPSamplerFactory.getImplementation`).
pub fn unknown_implementation(name: &str) -> Exception {
    Exception::illegal_argument(format!("Unknown implementation type: '{name}'"))
}

impl ExchangeFailure<'_> {
    /// The exception that JMeter reports.
    pub fn exception(&self, endpoint: &Endpoint<'_>) -> Exception {
        match self {
            Self::UnknownHost { remembered } => unknown_host(endpoint.host, *remembered),
            Self::UnknownToNameServers => Exception::new(
                "java.net.UnknownHostException",
                format!("Failed to resolve host name: {}", endpoint.host),
            ),
            Self::Connect(failure) => connect_exception(*failure, endpoint),
            Self::ReadTimeout => {
                Exception::new("java.net.SocketTimeoutException", "Read timed out")
            }
            Self::WriteTimeout => {
                Exception::new("java.net.SocketTimeoutException", "Write timed out")
            }
            Self::Reset => socket("Connection reset"),
            Self::BrokenPipe => socket("Broken pipe"),
            Self::NoResponse => Exception::new(
                "org.apache.http.NoHttpResponseException",
                format!("{}:{} failed to respond", endpoint.host, endpoint.port),
            ),
            Self::MalformedHead => client_protocol(Exception::new(
                PROTOCOL,
                "The server failed to respond with a valid HTTP response",
            )),
            Self::BadStatusLine(part, line) => client_protocol(bad_status_line(*part, line)),
            Self::BadHeader(line) => client_protocol(bad_header(line)),
            Self::TlsClosed => tls_handshake("Remote host terminated the handshake").caused_by(
                Exception::new("java.io.EOFException", "SSL peer shut down incorrectly"),
            ),
            Self::TlsNotSpoken => Exception::new(
                "javax.net.ssl.SSLException",
                "Unsupported or unrecognized SSL message",
            ),
            Self::TlsAlert(name) => tls_handshake(format!("Received fatal alert: {name}")),
            Self::TlsMessageTooLarge(size) => Exception::new(
                "javax.net.ssl.SSLProtocolException",
                too_large_message(*size),
            ),
            Self::Tls(text) => tls_handshake((*text).to_owned()),
            Self::File(text) => Exception::new("java.io.FileNotFoundException", (*text).to_owned()),
            Self::Socket(text) => socket((*text).to_owned()),
            _ => self.in_body(),
        }
    }

    /// The failures of reading a body.
    fn in_body(&self) -> Exception {
        match self {
            Self::TruncatedBody { expected, received } => Exception::new(
                CONNECTION_CLOSED,
                format!(
                    "Premature end of Content-Length delimited message body (expected: {}; received: {})",
                    grouped(*expected),
                    grouped(*received)
                ),
            ),
            Self::TruncatedChunk { expected, received } => Exception::new(
                "org.apache.http.TruncatedChunkException",
                format!(
                    "Truncated chunk (expected size: {}; actual size: {})",
                    grouped(*expected),
                    grouped(*received)
                ),
            ),
            Self::MissingClosingChunk => Exception::new(
                CONNECTION_CLOSED,
                "Premature end of chunk coded message body: closing chunk expected",
            ),
            Self::BadChunkHeader(line) => {
                Exception::new(MALFORMED_CHUNK, format!("Bad chunk header: {line}"))
            }
            Self::MissingChunkEnd => {
                Exception::new(MALFORMED_CHUNK, "Unexpected content at the end of chunk")
            }
            Self::NegativeChunk => Exception::new(MALFORMED_CHUNK, "Negative chunk size"),
            Self::UnendedChunk => Exception::new(MALFORMED_CHUNK, "CRLF expected at end of chunk"),
            Self::BadTrailer(line) => Exception::new(
                MALFORMED_CHUNK,
                format!("Invalid footer: Invalid header: {line}"),
            )
            .caused_by(bad_header(line)),
            Self::Damaged(damage) => damage.exception(),
            other => unreachable!("{other:?} is no failure of a body"),
        }
    }
}

/// `InetAddress` includes the system's message only if it has asked the system.
fn unknown_host(host: &str, remembered: bool) -> Exception {
    let message = if remembered {
        host.to_owned()
    } else {
        format!("{host}: Name or service not known")
    };
    Exception::new("java.net.UnknownHostException", message)
}

const CONNECTION_CLOSED: &str = "org.apache.http.ConnectionClosedException";
const MALFORMED_CHUNK: &str = "org.apache.http.MalformedChunkCodingException";
const PROTOCOL: &str = "org.apache.http.ProtocolException";

/// HttpClient wraps every protocol error.
fn client_protocol(cause: Exception) -> Exception {
    Exception::without_message("org.apache.http.client.ClientProtocolException").caused_by(cause)
}

/// `AbstractMessageParser.parseHeaders`.
fn bad_header(line: &str) -> Exception {
    Exception::new(PROTOCOL, format!("Invalid header: {line}"))
}

/// `BasicLineParser.parseStatusLine`, and `HttpRequestExecutor.doReceiveResponse` for a status below 100.
fn bad_status_line(part: StatusPart, line: &str) -> Exception {
    let fault = match part {
        StatusPart::Range => return Exception::new(PROTOCOL, format!("Invalid response: {line}")),
        StatusPart::Version => "Invalid protocol version number",
        StatusPart::Major => "Invalid protocol major version number",
        StatusPart::Minor => "Invalid protocol minor version number",
        StatusPart::Code => "Status line contains invalid status code",
    };
    let message = format!("{fault}: {line}");
    let cause = Exception::new("org.apache.http.ParseException", message.clone());
    Exception::new(PROTOCOL, message).caused_by(cause)
}

fn socket(message: impl Into<std::borrow::Cow<'static, str>>) -> Exception {
    Exception::new("java.net.SocketException", message)
}

/// Java's message; the limit is `jdk.tls.maxHandshakeMessageSize`.
pub fn too_large_message(size: Option<usize>) -> String {
    let size = size.map(|size| format!(" ({size})")).unwrap_or_default();
    format!("The size of the handshake message{size} exceeds the maximum allowed size (32768)")
}

fn tls_handshake(message: impl Into<std::borrow::Cow<'static, str>>) -> Exception {
    Exception::new("javax.net.ssl.SSLHandshakeException", message)
}

/// `HttpHostConnectException`, `ConnectTimeoutException`, or Java's exception for other failures
/// (`DefaultHttpClientConnectionOperator.connect`).
fn connect_exception(failure: ConnectFailure<'_>, endpoint: &Endpoint<'_>) -> Exception {
    let reason = match failure {
        ConnectFailure::Refused => "Connection refused",
        ConnectFailure::TimedOut => "Connect timed out",
        // Java has a separate class for these, which HttpClient passes on unchanged.
        ConnectFailure::NetworkUnreachable => return socket("Network is unreachable"),
        ConnectFailure::HostUnreachable => {
            return Exception::new("java.net.NoRouteToHostException", "No route to host");
        }
        ConnectFailure::NoLocalAddress => {
            return Exception::new("java.net.BindException", "Cannot assign requested address");
        }
        ConnectFailure::Other(text) => return socket(text.to_owned()),
    };
    let (class, cause) = match failure {
        ConnectFailure::TimedOut => (
            "org.apache.http.conn.ConnectTimeoutException",
            "java.net.SocketTimeoutException",
        ),
        _ => (
            "org.apache.http.conn.HttpHostConnectException",
            "java.net.ConnectException",
        ),
    };
    let addresses: Vec<String> = endpoint
        .addresses
        .iter()
        .map(|ip| java_address(endpoint.host, *ip))
        .collect();
    Exception::new(
        class,
        format!(
            "Connect to {}:{} [{}] failed: {reason}",
            endpoint.host,
            endpoint.port,
            addresses.join(", ")
        ),
    )
    .caused_by(Exception::new(cause, reason))
}

/// `InetAddress.toString()`: `name/address`, without the name if the host is an address; IPv6 in full.
fn java_address(host: &str, ip: IpAddr) -> String {
    let literal = host
        .trim_start_matches('[')
        .trim_end_matches(']')
        .parse::<IpAddr>()
        .is_ok();
    let name = if literal { "" } else { host };
    match ip {
        IpAddr::V4(ip) => format!("{name}/{ip}"),
        IpAddr::V6(ip) => {
            let groups: Vec<String> = ip
                .segments()
                .iter()
                .map(|group| format!("{group:x}"))
                .collect();
            format!("{name}/{}", groups.join(":"))
        }
    }
}

/// A whole number as Java's `%,d` and `MessageFormat` format it: with digits in groups of three.
pub fn grouped(number: impl Into<i128>) -> String {
    let number: i128 = number.into();
    let digits = number.unsigned_abs().to_string();
    let mut out = String::from(if number < 0 { "-" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(
        failure: ExchangeFailure<'_>,
        host: &str,
        port: u16,
        addresses: &[&str],
    ) -> (String, String) {
        let addresses: Vec<IpAddr> = addresses.iter().map(|a| a.parse().unwrap()).collect();
        let endpoint = Endpoint {
            host,
            port,
            addresses: &addresses,
        };
        let exception = failure.exception(&endpoint);
        (
            exception.class.into_owned(),
            exception.message.as_deref().unwrap_or("null").to_owned(),
        )
    }

    fn assert_failure(failure: ExchangeFailure<'_>, class: &str, message: &str) {
        let got = messages(failure, "127.0.0.1", 18771, &["127.0.0.1"]);
        assert_eq!((got.0.as_str(), got.1.as_str()), (class, message));
    }

    #[test]
    fn connect_failures_are_the_recorded_ones() {
        let refused = ExchangeFailure::Connect(ConnectFailure::Refused);
        let class = "org.apache.http.conn.HttpHostConnectException";
        for (host, addresses, message) in [
            (
                "127.0.0.1",
                &["127.0.0.1"][..],
                "Connect to 127.0.0.1:1 [/127.0.0.1] failed: Connection refused",
            ),
            (
                "localhost",
                &["127.0.0.1"],
                "Connect to localhost:1 [localhost/127.0.0.1] failed: Connection refused",
            ),
            (
                "localhost",
                &["127.0.0.1", "::1"],
                "Connect to localhost:1 [localhost/127.0.0.1, localhost/0:0:0:0:0:0:0:1] failed: Connection refused",
            ),
            (
                "[::1]",
                &["::1"],
                "Connect to [::1]:1 [/0:0:0:0:0:0:0:1] failed: Connection refused",
            ),
        ] {
            assert_eq!(
                messages(refused, host, 1, addresses),
                (class.to_owned(), message.to_owned())
            );
        }
        assert_failure(
            ExchangeFailure::Connect(ConnectFailure::TimedOut),
            "org.apache.http.conn.ConnectTimeoutException",
            "Connect to 127.0.0.1:18771 [/127.0.0.1] failed: Connect timed out",
        );
        assert_eq!(
            messages(
                ExchangeFailure::UnknownHost { remembered: false },
                "nosuch.invalid",
                80,
                &[]
            )
            .1,
            "nosuch.invalid: Name or service not known"
        );
    }

    #[test]
    fn exchange_failures_are_the_recorded_ones() {
        assert_failure(
            ExchangeFailure::ReadTimeout,
            "java.net.SocketTimeoutException",
            "Read timed out",
        );
        assert_failure(
            ExchangeFailure::Reset,
            "java.net.SocketException",
            "Connection reset",
        );
        assert_failure(
            ExchangeFailure::NoResponse,
            "org.apache.http.NoHttpResponseException",
            "127.0.0.1:18771 failed to respond",
        );
        assert_failure(
            ExchangeFailure::MalformedHead,
            "org.apache.http.client.ClientProtocolException",
            "null",
        );
        assert_failure(
            ExchangeFailure::TlsClosed,
            "javax.net.ssl.SSLHandshakeException",
            "Remote host terminated the handshake",
        );
        assert_failure(
            ExchangeFailure::Damaged(EncodingError::NotGzip),
            "java.util.zip.ZipException",
            "Not in GZIP format",
        );
    }

    #[test]
    fn body_failures_are_the_recorded_ones() {
        assert_failure(
            ExchangeFailure::TruncatedBody {
                expected: 100,
                received: 5,
            },
            CONNECTION_CLOSED,
            "Premature end of Content-Length delimited message body (expected: 100; received: 5)",
        );
        assert_failure(
            ExchangeFailure::TruncatedChunk {
                expected: 16,
                received: 3,
            },
            "org.apache.http.TruncatedChunkException",
            "Truncated chunk (expected size: 16; actual size: 3)",
        );
        assert_failure(
            ExchangeFailure::MissingClosingChunk,
            CONNECTION_CLOSED,
            "Premature end of chunk coded message body: closing chunk expected",
        );
        assert_failure(
            ExchangeFailure::BadChunkHeader("zz"),
            MALFORMED_CHUNK,
            "Bad chunk header: zz",
        );
        assert_failure(
            ExchangeFailure::MissingChunkEnd,
            MALFORMED_CHUNK,
            "Unexpected content at the end of chunk",
        );
    }

    #[test]
    fn digits_are_grouped() {
        assert_eq!(
            [0, 999, 1000, 100_000, -1_234_567].map(grouped),
            ["0", "999", "1,000", "100,000", "-1,234,567"]
        );
    }

    #[test]
    fn failures_name_their_causes() {
        let endpoint = Endpoint {
            host: "127.0.0.1",
            port: 1,
            addresses: &[IpAddr::from([127, 0, 0, 1])],
        };
        let causes = |failure: ExchangeFailure<'_>| -> Vec<String> {
            let trace = failure.exception(&endpoint).trace();
            let lines = trace.lines().skip(1);
            lines
                .map(|line| line.strip_prefix("Caused by: ").unwrap().to_owned())
                .collect()
        };
        let fault = "Status line contains invalid status code: HTTP/1.1 abc OK";
        for (failure, expected) in [
            (
                ExchangeFailure::Connect(ConnectFailure::Refused),
                vec!["java.net.ConnectException: Connection refused".to_owned()],
            ),
            (
                ExchangeFailure::Connect(ConnectFailure::TimedOut),
                vec!["java.net.SocketTimeoutException: Connect timed out".to_owned()],
            ),
            (
                ExchangeFailure::BadStatusLine(StatusPart::Code, "HTTP/1.1 abc OK"),
                vec![
                    format!("org.apache.http.ProtocolException: {fault}"),
                    format!("org.apache.http.ParseException: {fault}"),
                ],
            ),
            (
                ExchangeFailure::BadTrailer("foo"),
                vec!["org.apache.http.ProtocolException: Invalid header: foo".to_owned()],
            ),
            (
                ExchangeFailure::TlsClosed,
                vec!["java.io.EOFException: SSL peer shut down incorrectly".to_owned()],
            ),
            (ExchangeFailure::ReadTimeout, vec![]),
        ] {
            assert_eq!(causes(failure), expected, "{failure:?}");
        }
    }
}
