//! Requests, responses, and the limits on an exchange.

use std::fs::File;
use std::num::NonZeroU32;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::headers::Headers;
use crate::target::Target;
use crate::watch::BodyWatch;

/// A request, complete as it is sent.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// Request line and headers, ending in an empty line. Sent unchanged.
    pub head: &'a [u8],
    /// The body, already framed by the caller.
    pub body: Body<'a>,
    /// The method is HEAD: the response has no body whatever its headers say.
    pub is_head: bool,
    /// Whether the connection may be reused if the response allows it. False if the request says `Connection: close`.
    pub keep_alive: bool,
    /// Set if the head says `Expect: 100-continue`: how long to wait for the interim response before sending the body. If a final
    /// response comes instead, the body is not sent.
    pub expect_continue: Option<Duration>,
    /// Writes the CONNECT requests if a TLS target is reached through a proxy; `None` sends only `Host`.
    pub tunnel: Option<&'a dyn Tunnel>,
    /// Sees the response's body while it arrives.
    pub watch: Option<&'a Rc<dyn BodyWatch>>,
    /// When the exchange begins, usually now. A caller that has just read the clock passes that time.
    pub begin: Instant,
}

impl<'a> Outgoing<'a> {
    /// A request without a body, on a connection that may be kept alive.
    pub fn new(head: &'a [u8]) -> Self {
        Self {
            head,
            body: Body::None,
            is_head: false,
            keep_alive: true,
            expect_continue: None,
            tunnel: None,
            watch: None,
            begin: Instant::now(),
        }
    }
}

/// Writes the CONNECT requests of an exchange, and answers the proxy's demands for credentials.
pub trait Tunnel {
    /// The head of the next CONNECT, including request line and empty line.
    fn head(&self, target: &Target) -> Vec<u8>;
    /// Handles a 407 of the proxy: true if the next head answers it.
    fn challenged(&self, refusal: &Incoming, target: &Target) -> bool;
}

/// A request's body, framed by the caller.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    /// No body.
    None,
    /// These bytes.
    Bytes(&'a [u8]),
    /// These pieces in order.
    Parts(&'a [Part<'a>]),
}

/// A piece of a request's body.
pub enum Part<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// `length` bytes of a file from `offset`. On plain TCP they are not copied through this process.
    File {
        /// The open file.
        file: &'a File,
        /// The offset of the piece in the file, in bytes.
        offset: u64,
        /// The length of the piece, in bytes.
        length: u64,
    },
}

/// The client whose rules an exchange over HTTP/1.1 follows where servers violate those of HTTP, and for keeping connections.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ClientRules {
    /// Apache HttpClient 4.5.
    #[default]
    HttpClient,
    /// `java.net.HttpURLConnection`: a body may end early, a stream without a status line is a response, and a request whose connection
    /// breaks before the response is sent once more.
    UrlConnection,
}

/// The parts of the response that the caller wants.
#[derive(Debug, Clone, Copy)]
pub struct WantedParts {
    /// How much of the body to keep.
    pub keep: Keep,
    /// The content encodings to decode before keeping and counting.
    pub decode: Decode,
    /// The encodings whose streams may be truncated without a failure.
    pub relaxed: RelaxedDecoding,
    /// Whether to keep the trailers of a response over HTTP/2, and to count their bytes.
    pub trailers: bool,
    /// Whether to note when each piece of a body over HTTP/2 arrived.
    pub pieces: bool,
}

/// The content encodings to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decode {
    /// None: the body is kept or counted as received.
    Nothing,
    /// Exactly `gzip`, in this spelling (`HTTPJavaImpl#readResponse`).
    PlainGzip,
    /// gzip, x-gzip, deflate and br, also combined.
    All,
}

/// Encodings whose streams may be truncated (`httpclient4.gzip_relax_mode`, `httpclient4.deflate_relax_mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RelaxedDecoding {
    /// gzip and x-gzip.
    pub gzip: bool,
    /// deflate.
    pub deflate: bool,
}

impl WantedParts {
    /// Counts and drops the body.
    pub const NOTHING: Self = Self {
        keep: Keep::Nothing,
        decode: Decode::Nothing,
        relaxed: RelaxedDecoding {
            gzip: false,
            deflate: false,
        },
        trailers: false,
        pieces: false,
    };
    /// The whole body, decoded.
    pub const ALL: Self = Self {
        keep: Keep::All,
        decode: Decode::All,
        relaxed: RelaxedDecoding {
            gzip: false,
            deflate: false,
        },
        trailers: false,
        pieces: false,
    };
}

/// How much of the response's body to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keep {
    /// None: the caller gets the bytes, or their number, as they came.
    Nothing,
    /// Only the MD5 digest of the body.
    Md5,
    /// The whole body.
    All,
    /// This many bytes from the start; the rest is only counted.
    UpTo(u64),
    /// This many bytes from the start, if the response's status is a failure and it is not encoded, to help find the cause.
    /// Nothing of other responses.
    Failed(u64),
}

/// Time limits. `None` waits forever.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// For each address: time until the TCP connection is established, and silence within the TLS handshake.
    pub connect: Option<Duration>,
    /// The longest silence between two reads (like a socket's SO_TIMEOUT) or two writes, not a limit for the whole
    /// response.
    pub response: Option<Duration>,
    /// Limit this exchange to this many bytes a second, regardless of its connection's limit.
    pub bytes_per_second: Option<NonZeroU32>,
    /// The longest time that the exchange may take in all, with its connection. [`crate::PoolOptions::max_exchange`] holds as well.
    pub total: Option<Duration>,
}

impl Limits {
    /// The shorter of this limit of the whole exchange and the one of all exchanges.
    pub(crate) fn whole(&self, max_exchange: Option<Duration>) -> Option<Duration> {
        match (self.total, max_exchange) {
            (Some(own), Some(all)) => Some(own.min(all)),
            (own, all) => own.or(all),
        }
    }
}

/// Size limits for a response, so that a server cannot exhaust memory.
#[derive(Debug, Clone, Copy)]
pub struct SizeLimits {
    /// Status line and headers, before the body, together with those of interim responses.
    pub head_bytes: usize,
    /// The number of interim responses (RFC 9110 section 15.2) before the final one.
    pub interim_heads: usize,
    /// The number of codings in the Content-Encoding of a body that is decoded.
    pub content_codings: usize,
    /// A stored body, after decoding.
    pub body_bytes: u64,
    /// A decoded body, stored or not.
    pub decoded_bytes: u64,
}

impl SizeLimits {
    /// No limits.
    pub const UNLIMITED: Self = Self {
        head_bytes: usize::MAX,
        interim_heads: usize::MAX,
        content_codings: usize::MAX,
        body_bytes: u64::MAX,
        decoded_bytes: u64::MAX,
    };
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self {
            head_bytes: 1 << 20,
            interim_heads: 100,
            content_codings: 8,
            body_bytes: 256 << 20,
            decoded_bytes: 1 << 30,
        }
    }
}

/// A complete response.
pub struct Incoming {
    /// The status code.
    pub status: u16,
    /// Major and minor version of HTTP.
    pub version: (u16, u16),
    /// Status line and headers as received, up to and including the empty line; folded
    /// header lines are joined by one space.
    pub head: Rc<[u8]>,
    /// The range of the reason phrase in `head`.
    pub reason: Range<usize>,
    pub(crate) content_type: Option<Range<usize>>,
    pub(crate) location: Option<Range<usize>>,
    /// The body, decoded if requested; `None` if nothing was to be kept.
    pub body: Option<Vec<u8>>,
    /// The trailers that were asked for, one line each, as in [`Incoming::head`]. Empty if there are none.
    pub trailers: Box<[u8]>,
    /// The lengths of the body at which its pieces ended, and when these arrived, if requested. Of a body with very many pieces,
    /// only the first are noted.
    pub pieces: Vec<(u64, Instant)>,
    /// The digest, if requested.
    pub md5: Option<[u8; 16]>,
    /// Length of the body after dechunking and, if requested, decoding.
    pub body_len: u64,
    /// Length of the body before decoding, without chunk framing; `None` if it was not decoded.
    pub encoded_len: Option<u64>,
    /// Bytes sent and received.
    pub wire: WireBytes,
    /// When the phases of the exchange happened.
    pub times: Times,
    /// Whether the connection had served an earlier exchange.
    pub reused: bool,
    /// Whether the connection returned to the session's idle connections.
    pub kept_alive: bool,
    /// The TLS handshake made for this exchange, if any.
    pub handshake: Option<Handshake>,
}

impl Incoming {
    /// The headers in the order received, with names in their original case.
    pub fn headers(&self) -> Headers<'_> {
        Headers::after_status_line(&self.head)
    }

    /// The trailers in the order received.
    pub fn trailers(&self) -> Headers<'_> {
        Headers::of(&self.trailers)
    }

    /// The value of the first header with this name, ignoring case.
    pub fn header(&self, name: &str) -> Option<&[u8]> {
        self.headers()
            .find(|(n, _)| n.eq_ignore_ascii_case(name.as_bytes()))
            .map(|(_, value)| value)
    }

    /// The value of the last Content-Type header.
    pub fn content_type(&self) -> Option<&[u8]> {
        self.content_type.clone().map(|range| &self.head[range])
    }

    /// The value of the last Location header.
    pub fn location(&self) -> Option<&[u8]> {
        self.location.clone().map(|range| &self.head[range])
    }

    /// The status line without its line end.
    pub fn status_line(&self) -> &[u8] {
        crate::headers::first_line(&self.head)
    }

    /// The reason phrase (may be empty).
    pub fn reason(&self) -> &[u8] {
        &self.head[self.reason.clone()]
    }
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Incoming")
            .field("head", &String::from_utf8_lossy(&self.head))
            .field("body_len", &self.body_len)
            .field("wire", &self.wire)
            .field("reused", &self.reused)
            .field("kept_alive", &self.kept_alive)
            .finish_non_exhaustive()
    }
}

/// Bytes of HTTP on the connection (without encryption).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WireBytes {
    /// Head and body of the request, as far as they were passed to the kernel.
    pub sent_bytes: u64,
    /// Everything received before the body, including interim responses.
    pub head_bytes: u64,
    /// The body as framed, including chunk sizes and trailers.
    pub body_bytes: u64,
}

/// When each event of an exchange happened; `None` if it did not.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// The exchange began.
    pub begin: Instant,
    /// The host's name was looked up.
    pub resolved: Option<Instant>,
    /// The TCP connection was established.
    pub tcp_connected: Option<Instant>,
    /// The connection was ready, including TLS.
    pub connected: Option<Instant>,
    /// The last byte of the request was passed to the kernel.
    pub sent: Option<Instant>,
    /// The kernel had received the first and the last byte of the response, as far as it says.
    pub arrivals: Option<(Instant, Instant)>,
    /// The first byte of the response's head (or of an interim response) had arrived.
    pub first_byte: Option<Instant>,
    /// The first byte of the response's body had arrived.
    pub first_body: Option<Instant>,
    /// The exchange ended, successfully or not: its last byte was read, or decoded if that is needed.
    pub end: Instant,
}

impl Times {
    pub(crate) fn starting(begin: Instant) -> Self {
        Self {
            begin,
            resolved: None,
            tcp_connected: None,
            connected: None,
            sent: None,
            arrivals: None,
            first_byte: None,
            first_body: None,
            end: begin,
        }
    }

    /// The part of the exchange that passed in this program while nothing of it was under way: from the kernel's receipt of the last
    /// byte to the end. The call that sends the request is not in it: the target works while the kernel still ends the call. `None` if
    /// the kernel does not say when the last byte arrived, if a speed limit made the response wait, and after a failure, whose end
    /// nothing stamps.
    pub fn own(&self) -> Option<Duration> {
        let (_, last) = self.arrivals?;
        own_part(self.begin, last, self.end)
    }
}

/// The part of a time that passed in this program: from the kernel's receipt of the last byte to the end. `None` if the receipt was
/// before the begin: the byte waited already, or the wall clock, by which the kernel stamps, was set.
pub fn own_part(begin: Instant, arrived: Instant, end: Instant) -> Option<Duration> {
    (arrived >= begin).then(|| end.saturating_duration_since(arrived))
}

/// The kind of a TLS handshake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// With a full key exchange.
    Full,
    /// A session resumption.
    Resumed,
}
