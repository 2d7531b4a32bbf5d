//! Finds where a response's body ends, and whether the connection can be reused (RFC 9112
//! section 6, with the choices of HttpCore 4.4: `LaxContentLengthStrategy`,
//! `ChunkedInputStream`, `DefaultConnectionReuseStrategy`).

use memchr::memchr;

use crate::failure::{BadChunk, FailureKind};
use crate::head::{Facts, Head};
use crate::headers::trim;

/// Limit of a line between chunks, so that a server cannot exhaust memory.
const MAX_LINE_BYTES: usize = 1 << 20;
/// Length to which such a line is truncated in messages.
const SHOWN_BYTES: usize = 100;

/// Receives a piece of the body.
pub(crate) type Emit<'a> = &'a mut dyn FnMut(&[u8]) -> Result<(), FailureKind>;

/// How the body ends, and how much of it has arrived.
#[derive(Debug)]
pub(crate) enum Framing {
    None,
    Length { expected: u64, remaining: u64 },
    Chunked(Chunked),
    UntilClose,
}

impl Framing {
    /// `LaxContentLengthStrategy`: Transfer-Encoding takes precedence over Content-Length, and
    /// of several Content-Length headers the last numeric one counts.
    pub fn of(status: u16, is_head: bool, facts: &Facts) -> Self {
        if is_head || !may_have_body(status) {
            return Self::None;
        }
        if let Some(coding) = facts.transfer_encoding {
            return if coding.ends_chunked {
                Self::Chunked(Chunked::default())
            } else {
                Self::UntilClose
            };
        }
        match facts.last_content_length {
            Some(length) if facts.content_lengths > 0 => match u64::try_from(length) {
                Ok(expected) => Self::Length {
                    expected,
                    remaining: expected,
                },
                Err(_) => Self::UntilClose,
            },
            _ => Self::UntilClose,
        }
    }

    pub fn is_done(&self) -> bool {
        match self {
            Self::None | Self::Length { remaining: 0, .. } => true,
            Self::Length { .. } | Self::UntilClose => false,
            Self::Chunked(chunked) => chunked.state == ChunkState::Done,
        }
    }

    /// Consumes the body's bytes from the start of `input` and passes the payload to `emit`.
    /// Returns the number of bytes consumed, which is less than all only if the body is
    /// complete.
    pub fn feed(&mut self, input: &[u8], emit: Emit) -> Result<usize, FailureKind> {
        match self {
            Self::None => Ok(0),
            Self::Length { remaining, .. } => {
                let take = usize::try_from(*remaining).map_or(input.len(), |r| r.min(input.len()));
                emit(&input[..take])?;
                *remaining -= take as u64;
                Ok(take)
            }
            Self::Chunked(chunked) => chunked.feed(input, emit),
            Self::UntilClose => {
                emit(input)?;
                Ok(input.len())
            }
        }
    }

    /// The number of following bytes that are certainly payload (`u64::MAX`: all of them).
    pub fn payload_ahead(&self) -> u64 {
        match self {
            Self::None => 0,
            Self::Length { remaining, .. } => *remaining,
            Self::Chunked(Chunked {
                state: ChunkState::Data { remaining, .. },
                ..
            }) => *remaining,
            Self::Chunked(_) => 0,
            Self::UntilClose => u64::MAX,
        }
    }

    /// Accounts for payload that was read from the connection elsewhere.
    pub fn skip_payload(&mut self, count: u64) {
        match self {
            Self::Length { remaining, .. } => *remaining -= count,
            Self::Chunked(chunked) => chunked.skip_payload(count),
            Self::None | Self::UntilClose => {}
        }
    }

    /// Handles the end of the stream. Fails if the body is incomplete.
    pub fn end_of_stream(&mut self) -> Result<(), FailureKind> {
        match self {
            Self::None | Self::Length { remaining: 0, .. } | Self::UntilClose => Ok(()),
            Self::Length {
                expected,
                remaining,
            } => Err(FailureKind::TruncatedBody {
                expected: *expected,
                received: *expected - *remaining,
            }),
            Self::Chunked(chunked) => chunked.end_of_stream(),
        }
    }
}

/// `HttpRequestExecutor.canResponseHaveBody`; a 205 has no body either.
fn may_have_body(status: u16) -> bool {
    status >= 200 && !matches!(status, 204 | 205 | 304)
}

/// `DefaultConnectionReuseStrategy.keepAlive`: whether the connection may serve another
/// exchange.
pub(crate) fn outlives(head: &Head, is_head: bool) -> bool {
    let facts = &head.facts;
    if head.status == 204
        && (facts.transfer_encoding.is_some() || facts.first_content_length.is_some_and(|n| n > 0))
    {
        return false;
    }
    match facts.transfer_encoding {
        Some(coding) if !coding.only_chunked => return false,
        Some(_) => {}
        None if is_head || !may_have_body(head.status) => {}
        None => {
            let known = facts.first_content_length.is_some_and(|n| n >= 0);
            if facts.content_lengths != 1 || !known {
                return false;
            }
        }
    }
    match facts.connection.or(facts.proxy_connection) {
        Some(tokens) if tokens.close || tokens.malformed => false,
        Some(tokens) if tokens.keep_alive => true,
        _ => head.version > (1, 0),
    }
}

/// A chunked body.
#[derive(Debug, Default)]
pub(crate) struct Chunked {
    state: ChunkState,
    /// The current line: a size, the end of a chunk or a trailer.
    line: Vec<u8>,
    /// The trailers, each with its line end, if they are wanted.
    trailers: Option<Vec<u8>>,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum ChunkState {
    #[default]
    Size,
    Data {
        size: u64,
        remaining: u64,
    },
    DataEnd,
    Trailer {
        /// Whether a line was read before, which a line that starts with white space continues.
        after_another: bool,
    },
    Done,
}

impl Chunked {
    /// A body whose trailers are kept.
    pub fn with_trailers() -> Self {
        Self {
            trailers: Some(Vec::new()),
            ..Self::default()
        }
    }

    /// The trailers that were kept.
    pub fn trailers(&self) -> &[u8] {
        self.trailers.as_deref().unwrap_or_default()
    }

    fn feed(&mut self, input: &[u8], emit: Emit) -> Result<usize, FailureKind> {
        let mut at = 0;
        while at < input.len() && self.state != ChunkState::Done {
            if let ChunkState::Data { remaining, .. } = self.state {
                let rest = &input[at..];
                let take = usize::try_from(remaining).map_or(rest.len(), |r| r.min(rest.len()));
                emit(&rest[..take])?;
                self.skip_payload(take as u64);
                at += take;
                continue;
            }
            let rest = &input[at..];
            let Some(end) = memchr(b'\n', rest) else {
                self.line.extend_from_slice(rest);
                if self.line.len() > MAX_LINE_BYTES {
                    let start = String::from_utf8_lossy(&self.line[..SHOWN_BYTES])
                        .into_owned()
                        .into();
                    return Err(FailureKind::BadChunk(BadChunk::Size(start)));
                }
                return Ok(input.len());
            };
            self.line.extend_from_slice(&rest[..end]);
            at += end + 1;
            self.end_of_line()?;
        }
        Ok(at)
    }

    fn skip_payload(&mut self, count: u64) {
        if let ChunkState::Data { size, remaining } = self.state {
            let remaining = remaining - count;
            self.state = if remaining == 0 {
                ChunkState::DataEnd
            } else {
                ChunkState::Data { size, remaining }
            };
        }
    }

    /// Acts on the complete line in `self.line`.
    fn end_of_line(&mut self) -> Result<(), FailureKind> {
        let line = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
        self.state = match self.state {
            ChunkState::DataEnd if line.is_empty() => ChunkState::Size,
            ChunkState::DataEnd => return Err(FailureKind::BadChunk(BadChunk::NoLineEnd)),
            ChunkState::Size => match chunk_size(line)? {
                0 => ChunkState::Trailer {
                    after_another: false,
                },
                size => ChunkState::Data {
                    size,
                    remaining: size,
                },
            },
            ChunkState::Trailer { .. } if line.is_empty() => ChunkState::Done,
            ChunkState::Trailer { after_another } => {
                let folded = after_another && matches!(line, [b' ' | b'\t', ..]);
                let name = memchr(b':', line).map_or(&[][..], |colon| trim(&line[..colon]));
                if name.is_empty() && !folded {
                    let text = String::from_utf8_lossy(line).into();
                    return Err(FailureKind::BadChunk(BadChunk::Trailer(text)));
                }
                if let Some(kept) = &mut self.trailers
                    && kept.len() + line.len() < MAX_LINE_BYTES
                {
                    kept.extend_from_slice(line);
                    kept.extend_from_slice(b"\r\n");
                }
                ChunkState::Trailer {
                    after_another: true,
                }
            }
            ChunkState::Data { .. } | ChunkState::Done => self.state,
        };
        self.line.clear();
        Ok(())
    }

    /// `ChunkedInputStream` accepts an unterminated last line, and takes the end of the stream
    /// as the end of the trailers.
    fn end_of_stream(&mut self) -> Result<(), FailureKind> {
        if !self.line.is_empty() {
            self.end_of_line()?;
        }
        match self.state {
            ChunkState::Done | ChunkState::Trailer { .. } => {
                self.state = ChunkState::Done;
                Ok(())
            }
            ChunkState::Size => Err(FailureKind::MissingLastChunk),
            ChunkState::DataEnd => Err(FailureKind::BadChunk(BadChunk::MissingLineEnd)),
            ChunkState::Data { size, remaining } => Err(FailureKind::TruncatedChunk {
                expected: size,
                actual: size - remaining,
            }),
        }
    }
}

/// `ChunkedInputStream.getChunkSize`: hexadecimal digits up to a semicolon, optionally signed
/// and padded.
fn chunk_size(line: &[u8]) -> Result<u64, FailureKind> {
    let end = memchr(b';', line).unwrap_or(line.len());
    let text = trim(&line[..end]);
    let size = std::str::from_utf8(text)
        .ok()
        .and_then(|text| i64::from_str_radix(text, 16).ok());
    match size.map(u64::try_from) {
        Some(Ok(size)) => Ok(size),
        Some(Err(_)) => Err(FailureKind::BadChunk(BadChunk::NegativeSize)),
        None => {
            let text = String::from_utf8_lossy(text).into();
            Err(FailureKind::BadChunk(BadChunk::Size(text)))
        }
    }
}
