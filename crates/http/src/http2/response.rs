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
    is_malformed: bool,
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

    /// Puts the status line in the place of `:status`, the only field of a response's pseudo-header.
    fn take_status(&mut self, start: usize) {
        let line = self.lines[start..].strip_prefix(b":status: ");
        let status = match line.and_then(|rest| rest.strip_suffix(b"\r\n")) {
            Some(&[a @ b'1'..=b'9', b @ b'0'..=b'9', c @ b'0'..=b'9'])
                if start == 0 && !self.is_trailers =>
            {
                let digits = [a, b, c].map(|digit| u16::from(digit - b'0'));
                Some(
                    digits
                        .into_iter()
                        .fold(0, |number, digit| number * 10 + digit),
                )
            }
            _ => None,
        };
        self.lines.truncate(start);
        match status {
            Some(status) => {
                self.reason = put_status_line(self.lines, 2, status);
                self.status = Some(status);
            }
            None => self.is_malformed = true,
        }
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
            self.take_status(start);
        } else if is_of_connection(name) {
            self.is_malformed = true;
        }
        if self.lines.len() > self.max_bytes {
            self.is_too_large = true;
            self.lines.clear();
        }
    }
}
