//! The fields of a response as a head of HTTP/1.1.

use crate::binary_head::{is_of_connection, put_status_line};

use crate::hpack::LineSink;

/// The lines of one header block.
pub(super) struct ResponseLines<'a> {
    lines: &'a mut Vec<u8>,
    max_bytes: usize,
    is_trailers: bool,
    /// The status, which comes before all other fields.
    pub status: Option<u16>,
    /// Where the reason phrase is in the lines.
    pub reason: std::ops::Range<usize>,
    /// The lines exceed the limit.
    pub is_too_large: bool,
    /// RFC 9113 section 8.1.1: the server broke the rules of messages.
    pub is_malformed: bool,
}

impl<'a> ResponseLines<'a> {
    /// Collects lines in a buffer, up to this many bytes.
    pub fn new(lines: &'a mut Vec<u8>, max_bytes: usize, is_trailers: bool) -> Self {
        lines.clear();
        Self {
            lines,
            max_bytes,
            is_trailers,
            status: None,
            reason: 0..0,
            is_too_large: false,
            is_malformed: false,
        }
    }

    /// Whether this is a sound head or trailer.
    pub fn is_sound(&self) -> bool {
        !self.is_malformed && self.status.is_some() != self.is_trailers
    }

    /// Takes the status line instead of `:status`, which is the only field of a response's pseudo-header.
    fn take_status(&mut self, start: usize, name_bytes: usize) {
        let line = &self.lines[start..];
        let digits = match *line {
            [.., a, b, c, b'\r', b'\n'] if line.starts_with(b":status: ") => [a, b, c],
            _ => [0; 3],
        };
        const LINE_BYTES: usize = ":status: 200\r\n".len();
        let is_sound = start == 0
            && !self.is_trailers
            && name_bytes + ": 200\r\n".len() == LINE_BYTES
            && line.len() == LINE_BYTES
            && matches!(digits[0], b'1'..=b'9')
            && digits.iter().all(u8::is_ascii_digit);
        self.lines.truncate(start);
        if !is_sound {
            self.is_malformed = true;
            return;
        }
        let status = digits
            .iter()
            .fold(0, |number, digit| number * 10 + u16::from(digit - b'0'));
        self.reason = put_status_line(self.lines, 2, status);
        self.status = Some(status);
    }
}

impl LineSink for ResponseLines<'_> {
    fn is_open(&self) -> bool {
        !self.is_too_large
    }

    fn lines(&mut self) -> &mut Vec<u8> {
        self.lines
    }

    fn judge(&mut self, start: usize, name_bytes: usize) {
        let name = &self.lines[start..start + name_bytes];
        if name.first() == Some(&b':') {
            self.take_status(start, name_bytes);
        } else if is_of_connection(name) {
            self.is_malformed = true;
        }
        if self.lines.len() > self.max_bytes {
            self.is_too_large = true;
            self.lines.clear();
        }
    }
}
