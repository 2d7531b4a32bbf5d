//! Requests, responses, and the limits on an exchange.

use std::fs::File;
use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::headers::Headers;
use crate::target::Target;

/// A request, complete as the caller wants it on the wire.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// Request line and headers, ending in an empty line. Sent as it is.
    pub head: &'a [u8],
    /// The body, framed by the caller.
    pub body: Body<'a>,
    /// The method is HEAD: the response has no body whatever its headers say.
    pub is_head: bool,
    /// The connection may be used again if the response allows it. False where the request
    /// says `Connection: close`.
    pub keep_alive: bool,
    /// The head says `Expect: 100-continue`: wait at most this long for the interim response
    /// (or a final one, upon which the body is not sent) before sending the body.
    pub expect_continue: Option<Duration>,
    /// Writes the CONNECT requests where the target is reached by TLS through a proxy; `None`
    /// asks with nothing but `Host`.
    pub tunnel: Option<&'a dyn Tunnel>,
    /// When the exchange begins: now. A caller that has just looked at the clock passes its reading.
    pub begin: Instant,
}

impl<'a> Outgoing<'a> {
    /// A request without a body, on a connection that may be kept.
    pub fn new(head: &'a [u8]) -> Self {
        Self {
            head,
            body: Body::None,
            is_head: false,
            keep_alive: true,
            expect_continue: None,
            tunnel: None,
            begin: Instant::now(),
        }
    }
}

/// Writes the CONNECT requests of an exchange, and answers the proxy's wish for credentials.
pub trait Tunnel {
    /// The head of the next CONNECT, request line and empty line included.
    fn head(&self, target: &Target) -> Vec<u8>;
    /// The proxy answered 407: true if the next head answers that.
    fn challenged(&self, refusal: &Incoming, target: &Target) -> bool;
}

/// A request's body, framed by the caller.
#[derive(Clone, Copy)]
pub enum Body<'a> {
    /// There is none.
    None,
    /// These bytes.
    Bytes(&'a [u8]),
    /// These pieces, one after the other.
    Parts(&'a [Part<'a>]),
}

/// A piece of a request's body.
pub enum Part<'a> {
    /// These bytes.
    Bytes(&'a [u8]),
    /// `length` bytes of a file from `offset` on. Never copied through this process on plain TCP.
    File {
        /// The open file.
        file: &'a File,
        /// Where the piece starts in it, in bytes.
        offset: u64,
        /// The length of the piece, in bytes.
        length: u64,
    },
}

/// The parts of the response that the caller wants.
#[derive(Debug, Clone, Copy)]
pub struct WantedParts {
    /// How much of the body is kept.
    pub keep: Keep,
    /// The content encodings that are undone for what is kept and counted.
    pub decode: Decode,
    /// Which encoded streams may end too early without a failure.
    pub relaxed: RelaxedDecoding,
}

/// Which content encodings are undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decode {
    /// None: the caller gets the bytes, or their number, as they came.
    Nothing,
    /// A body that is encoded with `gzip` and nothing else, spelled so (`HTTPJavaImpl#readResponse`).
    PlainGzip,
    /// gzip, x-gzip, deflate and br, one after the other.
    All,
}

/// Encodings whose streams may end too early (`httpclient4.gzip_relax_mode`, `httpclient4.deflate_relax_mode`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RelaxedDecoding {
    /// gzip and x-gzip.
    pub gzip: bool,
    /// deflate.
    pub deflate: bool,
}

impl WantedParts {
    /// Nothing of the body: it is counted and dropped.
    pub const NOTHING: Self = Self {
        keep: Keep::Nothing,
        decode: Decode::Nothing,
        relaxed: RelaxedDecoding {
            gzip: false,
            deflate: false,
        },
    };
    /// The whole body, decoded.
    pub const ALL: Self = Self {
        keep: Keep::All,
        decode: Decode::All,
        relaxed: RelaxedDecoding {
            gzip: false,
            deflate: false,
        },
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
    /// The first so many bytes; the rest is counted only.
    UpTo(u64),
    /// The first so many bytes of a response that failed by its status and is not encoded, for whoever looks for the cause; nothing of
    /// others.
    Failed(u64),
}

/// Limits on waiting. `None` waits for ever.
#[derive(Debug, Clone, Copy, Default)]
pub struct Limits {
    /// For each address tried: until TCP stands, and silence within the TLS handshake.
    pub connect: Option<Duration>,
    /// The longest silence between two reads (like a socket's SO_TIMEOUT), not a limit on the whole.
    pub response: Option<Duration>,
    /// Slow this exchange down to so many bytes a second, whatever holds for its connection.
    pub bytes_per_second: Option<NonZeroU32>,
}

/// How large a response may be, so that a server cannot fill the memory.
#[derive(Debug, Clone, Copy)]
pub struct SizeLimits {
    /// Status line and headers, before the body.
    pub head_bytes: usize,
    /// A body that is kept, decoded.
    pub body_bytes: u64,
    /// A body that is decoded, whether it is kept or not.
    pub decoded_bytes: u64,
}

impl SizeLimits {
    /// All that the server sends.
    pub const UNLIMITED: Self = Self {
        head_bytes: usize::MAX,
        body_bytes: u64::MAX,
        decoded_bytes: u64::MAX,
    };
}

impl Default for SizeLimits {
    fn default() -> Self {
        Self {
            head_bytes: 1 << 20,
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
    pub head: Arc<[u8]>,
    /// Where the reason phrase is in `head`.
    pub reason: Range<usize>,
    pub(crate) content_type: Option<Range<usize>>,
    pub(crate) location: Option<Range<usize>>,
    /// The body, decoded if asked; `None` if nothing was to be kept.
    pub body: Option<Vec<u8>>,
    /// The digest, if it was asked for.
    pub md5: Option<[u8; 16]>,
    /// Length of the body after dechunking and, if asked for, decoding.
    pub body_len: u64,
    /// Length of the body as it came, without the framing of chunks, if an encoding was undone.
    pub encoded_len: Option<u64>,
    /// Bytes sent and received.
    pub wire: Wire,
    /// When the parts of the exchange happened.
    pub times: Times,
    /// The connection had served an earlier exchange.
    pub reused: bool,
    /// The connection went back to the session's idle connections.
    pub kept_alive: bool,
    /// The TLS handshake made for this exchange, if one was.
    pub handshake: Option<Handshake>,
}

impl Incoming {
    /// The headers in the order received, names in their original case.
    pub fn headers(&self) -> Headers<'_> {
        Headers::after_status_line(&self.head)
    }

    /// The value of the first header of that name, whatever its case.
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

/// Bytes of HTTP on the connection (before encryption, if any).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Wire {
    /// Head and body of the request, as far as they were handed to the kernel.
    pub sent_bytes: u64,
    /// Everything received before the body, interim responses included.
    pub head_bytes: u64,
    /// The body as framed, chunk sizes and trailers included.
    pub body_bytes: u64,
}

/// When things happened. An event that did not happen is `None`.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// The exchange began.
    pub begin: Instant,
    /// The host's name was looked up.
    pub resolved: Option<Instant>,
    /// The TCP connection stood.
    pub tcp_connected: Option<Instant>,
    /// The connection stood, TLS included.
    pub connected: Option<Instant>,
    /// The last byte of the request was handed to the kernel.
    pub sent: Option<Instant>,
    /// The first byte of the response's head (or of an interim response) had come.
    pub first_byte: Option<Instant>,
    /// The first byte of the response's body had come.
    pub first_body: Option<Instant>,
    /// The exchange ended, well or not.
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
            first_byte: None,
            first_body: None,
            end: begin,
        }
    }
}

/// How a TLS handshake went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handshake {
    /// With a full exchange of keys.
    Full,
    /// A session was resumed.
    Resumed,
}
