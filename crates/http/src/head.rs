//! Parses a response's head as leniently as Apache HttpClient 4.5 does (`DefaultHttpResponseParser`,
//! `BasicLineParser`, `AbstractMessageParser` of HttpCore 4.4): lines end in LF with or without CR, lines before the
//! status line are skipped, folded lines are joined, and the end of the stream ends the head.

use std::ops::Range;
use std::rc::Rc;

use memchr::{Memchr, memchr};

use crate::failure::{FailureKind, StatusLinePart};
use crate::headers::{split_line, strip_cr, trim, trim_start};

/// A parsed head.
#[derive(Debug, Clone)]
pub(crate) struct Head {
    pub status: u16,
    pub version: (u16, u16),
    pub reason: Range<usize>,
    /// From the status line to the empty line, with folded lines joined.
    pub bytes: Rc<[u8]>,
    pub facts: Facts,
}

impl Head {
    /// The value of the last Content-Type.
    pub fn content_type(&self) -> Option<&[u8]> {
        self.facts
            .content_type
            .clone()
            .map(|range| &self.bytes[range])
    }
}

/// The headers that affect framing and the connection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub transfer_encoding: Option<TransferEncoding>,
    pub content_lengths: u32,
    /// The first Content-Length, if it is a number.
    pub first_content_length: Option<i64>,
    /// The last Content-Length that is a number.
    pub last_content_length: Option<i64>,
    pub connection: Option<Tokens>,
    pub proxy_connection: Option<Tokens>,
    pub keep_alive: KeepAlive,
    pub content_encoded: bool,
    /// Range of the last Content-Type's value in the head.
    pub content_type: Option<Range<usize>>,
    /// Range of the last Location's value in the head.
    pub location: Option<Range<usize>>,
}

/// The first Transfer-Encoding header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TransferEncoding {
    /// The value is `chunked` and nothing else.
    pub only_chunked: bool,
    /// The last coding is chunked.
    pub ends_chunked: bool,
}

/// The parameters of the Keep-Alive header.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct KeepAlive {
    /// `timeout`, in seconds.
    pub timeout_s: Option<u64>,
    /// `max`.
    pub most_requests: Option<u64>,
}

/// The relevant tokens of all Connection (or Proxy-Connection) headers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tokens {
    pub close: bool,
    pub keep_alive: bool,
    /// Whether the last header's value is `keep-alive` and nothing else.
    pub only_keep_alive: bool,
    /// Whether a header contains something that is not a token.
    pub malformed: bool,
}

/// A line iterator over bytes that may be incomplete.
struct Lines<'a> {
    bytes: &'a [u8],
    /// Where the next line starts.
    at: usize,
    eof: bool,
    /// The line ends at or after `at`.
    ends: Memchr<'a>,
}

impl<'a> Lines<'a> {
    fn new(bytes: &'a [u8], eof: bool) -> Self {
        Self {
            bytes,
            at: 0,
            eof,
            ends: Memchr::new(b'\n', bytes),
        }
    }

    /// The next complete line; at the end of the stream also an unterminated one.
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.at;
        match self.ends.next() {
            Some(end) => {
                self.at = end + 1;
                Some(strip_cr(&self.bytes[start..end]))
            }
            None if self.eof && start < self.bytes.len() => {
                self.at = self.bytes.len();
                Some(&self.bytes[start..])
            }
            None => None,
        }
    }
}

/// Length to which the first line is truncated in messages.
const SHOWN_BYTES: usize = 100;

/// Searches for a complete head at the start of `bytes`. `eof` means that no more bytes will come. Returns the head
/// and its length in `bytes`, or `None` if more bytes are needed.
pub(crate) fn scan(bytes: &[u8], eof: bool) -> Result<Option<(Head, usize)>, FailureKind> {
    let mut lines = Lines::new(bytes, eof);
    let (start, status_line) = loop {
        let at = lines.at;
        match lines.next() {
            Some(line) if starts_like_status_line(line) => break (at, line),
            Some(_) => {}
            None if !eof => return Ok(None),
            None if bytes.is_empty() => return Err(FailureKind::ClosedBeforeResponse),
            None => {
                let first = bytes
                    .split(|byte| *byte == b'\n')
                    .next()
                    .unwrap_or_default();
                let shown = &strip_cr(first)[..strip_cr(first).len().min(SHOWN_BYTES)];
                return Err(FailureKind::NoValidResponse(
                    String::from_utf8_lossy(shown).into(),
                ));
            }
        }
    };
    let headers_at = lines.at;
    let (mut folded, mut count) = (false, 0);
    // A malformed header is only reported once the head is complete.
    let mut facts = Ok(Facts::default());
    loop {
        let at = lines.at - start;
        match lines.next() {
            Some([]) => break,
            Some([b' ' | b'\t', ..]) if count > 0 => folded = true,
            Some(line) => {
                count += 1;
                if let Ok(known) = &mut facts
                    && let Err(kind) = known.add(line, at)
                {
                    facts = Err(kind);
                }
            }
            None if eof => break,
            None => return Ok(None),
        }
    }
    let (version, status, reason) = parse_status_line(status_line)?;
    // The line's own offset within the head is 0, so the range holds for the head as well.
    let (head, facts) = if folded {
        let mut head = bytes[start..headers_at].to_vec();
        unfold(&bytes[headers_at..lines.at], &mut head);
        let facts = Facts::read(&head)?;
        (head.into(), facts)
    } else {
        (bytes[start..lines.at].into(), facts?)
    };
    let head = Head {
        status,
        version,
        reason,
        bytes: head,
        facts,
    };
    Ok(Some((head, lines.at)))
}

/// Joins each continuation line to its predecessor with one space.
fn unfold(mut headers: &[u8], out: &mut Vec<u8>) {
    let mut first = true;
    while !headers.is_empty() {
        let (line, rest) = split_line(headers);
        match line {
            [b' ' | b'\t', ..] if !first => {
                while let Some(b'\r' | b'\n') = out.last() {
                    out.pop();
                }
                out.push(b' ');
                let skip = line
                    .iter()
                    .take_while(|b| matches!(b, b' ' | b'\t'))
                    .count();
                out.extend_from_slice(&line[skip..]);
                out.extend_from_slice(b"\r\n");
            }
            _ => out.extend_from_slice(&headers[..headers.len() - rest.len()]),
        }
        first = false;
        headers = rest;
    }
}

/// `BasicLineParser.hasProtocolVersion`: whether this is the status line; earlier lines are skipped.
fn starts_like_status_line(line: &[u8]) -> bool {
    let line = line.trim_ascii_start();
    line.len() >= 8 && line.starts_with(b"HTTP/")
}

type StatusLine = ((u16, u16), u16, Range<usize>);

/// `BasicLineParser.parseStatusLine`: version, code and the range of the reason phrase in the line.
fn parse_status_line(line: &[u8]) -> Result<StatusLine, FailureKind> {
    let bad = |part| FailureKind::BadStatusLine {
        line: String::from_utf8_lossy(line).into(),
        part,
    };
    let blank = |from: usize| memchr(b' ', &line[from..]).map_or(line.len(), |i| from + i);
    let skip = |from: usize| line.len() - line[from..].trim_ascii_start().len();

    let version_at = skip(0) + b"HTTP/".len();
    let version_end = blank(version_at);
    let dot = memchr(b'.', &line[version_at..]).ok_or_else(|| bad(StatusLinePart::Version))?;
    let dot = version_at + dot;
    let major = number(&line[version_at..dot]).ok_or_else(|| bad(StatusLinePart::MajorVersion))?;
    let minor = line.get(dot + 1..version_end).and_then(number);
    let minor = minor.ok_or_else(|| bad(StatusLinePart::MinorVersion))?;

    let code_at = skip(version_end);
    let code_end = blank(code_at);
    let code = &line[code_at..code_end];
    if !code.iter().all(u8::is_ascii_digit) {
        return Err(bad(StatusLinePart::Code));
    }
    let status = number(code).ok_or_else(|| bad(StatusLinePart::Code))?;
    if status < 100 {
        return Err(bad(StatusLinePart::Range));
    }
    let reason_at = skip(code_end);
    let reason_len = trim(&line[reason_at..]).len();
    Ok(((major, minor), status, reason_at..reason_at + reason_len))
}

fn number(text: &[u8]) -> Option<u16> {
    std::str::from_utf8(trim(text)).ok()?.parse().ok()
}

/// As `Long.parseLong`: an optional sign and digits.
fn parse_long(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

impl Facts {
    /// Parses the headers of a head that has a status line and no folded lines. Fails on a line that is not a header.
    pub fn read(head: &[u8]) -> Result<Self, FailureKind> {
        let mut lines = Lines::new(head, true);
        lines.next();
        let mut facts = Self::default();
        loop {
            let at = lines.at;
            match lines.next() {
                None | Some([]) => return Ok(facts),
                Some(line) => facts.add(line, at)?,
            }
        }
    }

    /// Adds the header line at offset `at` of the head.
    fn add(&mut self, line: &[u8], at: usize) -> Result<(), FailureKind> {
        // Names are short, so a simple loop suffices.
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(0);
        let name = trim(&line[..colon]);
        if name.is_empty() {
            return Err(FailureKind::BadHeader(String::from_utf8_lossy(line).into()));
        }
        let rest = &line[colon + 1..];
        let value = trim_start(rest);
        let at = at + colon + 1 + rest.len() - value.len();
        self.note(name, trim(value), at);
        Ok(())
    }

    /// Adds one header, whose value is at offset `at` of the head. Most headers are ruled out by the length of their
    /// names.
    fn note(&mut self, name: &[u8], value: &[u8], at: usize) {
        match name.len() {
            8 if name.eq_ignore_ascii_case(b"location") => {
                self.location = Some(at..at + value.len());
            }
            12 if name.eq_ignore_ascii_case(b"content-type") => {
                self.content_type = Some(at..at + value.len());
            }
            10 if name.eq_ignore_ascii_case(b"connection") => {
                self.connection.get_or_insert_default().add(value);
            }
            10 if name.eq_ignore_ascii_case(b"keep-alive") => {
                self.keep_alive.add(value);
            }
            14 if name.eq_ignore_ascii_case(b"content-length") => {
                let length = parse_long(value);
                if self.content_lengths == 0 {
                    self.first_content_length = length;
                }
                self.content_lengths += 1;
                self.last_content_length = length.or(self.last_content_length);
            }
            16 if name.eq_ignore_ascii_case(b"content-encoding") => self.content_encoded = true,
            16 if name.eq_ignore_ascii_case(b"proxy-connection") => {
                self.proxy_connection.get_or_insert_default().add(value);
            }
            17 if name.eq_ignore_ascii_case(b"transfer-encoding") => {
                self.transfer_encoding
                    .get_or_insert_with(|| TransferEncoding::read(value));
            }
            _ => {}
        }
    }
}

impl TransferEncoding {
    fn read(value: &[u8]) -> Self {
        let last = value.rsplit(|b| *b == b',').next().unwrap_or(value);
        let coding = last.split(|b| matches!(b, b';' | b'=')).next();
        Self {
            only_chunked: value.eq_ignore_ascii_case(b"chunked"),
            ends_chunked: coding.is_some_and(|c| trim(c).eq_ignore_ascii_case(b"chunked")),
        }
    }
}

impl Tokens {
    fn add(&mut self, value: &[u8]) {
        self.only_keep_alive = value.eq_ignore_ascii_case(b"keep-alive");
        for token in value.split(|b| *b == b',') {
            let token = trim(token);
            if token.eq_ignore_ascii_case(b"keep-alive") {
                self.keep_alive = true;
            } else if token.eq_ignore_ascii_case(b"close") {
                self.close = true;
            } else {
                self.malformed |= !token.iter().all(|byte| is_token_byte(*byte));
            }
        }
    }
}

/// `BasicTokenIterator.isTokenChar`.
fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_graphic() && !b",;=()<>@:\\\"/[]?{}".contains(&byte)
}

impl KeepAlive {
    fn add(&mut self, value: &[u8]) {
        let parameter = |name| keep_alive_parameter(value, name);
        self.timeout_s = self.timeout_s.or_else(|| parameter("timeout"));
        self.most_requests = self.most_requests.or_else(|| parameter("max"));
    }
}

/// A number in `Keep-Alive: timeout=5, max=100` (`DefaultConnectionKeepAliveStrategy` of HttpClient).
fn keep_alive_parameter(value: &[u8], wanted: &str) -> Option<u64> {
    value.split(|b| *b == b',').find_map(|element| {
        let element = element.split(|b| *b == b';').next().unwrap_or(element);
        let equals = memchr(b'=', element)?;
        let name = trim(&element[..equals]);
        let value = std::str::from_utf8(trim(&element[equals + 1..])).ok()?;
        name.eq_ignore_ascii_case(wanted.as_bytes())
            .then(|| value.parse().ok())?
    })
}
