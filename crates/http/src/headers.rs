//! Parses the header lines of a head: names, values, white space.

use memchr::memchr;

/// Headers in the order received: name in its original case and value, both trimmed.
#[derive(Clone)]
pub struct Headers<'a> {
    rest: &'a [u8],
}

impl<'a> Headers<'a> {
    /// Lines without a status line.
    pub(crate) fn of(lines: &'a [u8]) -> Self {
        Self { rest: lines }
    }

    /// The headers of a head that starts with a status line.
    pub(crate) fn after_status_line(head: &'a [u8]) -> Self {
        let rest = memchr(b'\n', head).map_or(&head[head.len()..], |end| &head[end + 1..]);
        Self { rest }
    }
}

impl<'a> Iterator for Headers<'a> {
    type Item = (&'a [u8], &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let (line, rest) = split_line(self.rest);
        self.rest = rest;
        let colon = memchr(b':', line)?;
        Some((trim(&line[..colon]), trim(&line[colon + 1..])))
    }
}

/// The first line without its line end.
pub(crate) fn first_line(bytes: &[u8]) -> &[u8] {
    split_line(bytes).0
}

/// The first line without its line end, and the rest. The last line may be unterminated.
pub(crate) fn split_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b'\n', bytes) {
        Some(end) => (strip_cr(&bytes[..end]), &bytes[end + 1..]),
        None => (bytes, &[]),
    }
}

pub(crate) fn strip_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Trims both ends of white space as defined by HttpCore's `HTTP.isWhitespace`.
pub(crate) fn trim(text: &[u8]) -> &[u8] {
    let mut text = trim_start(text);
    while let [rest @ .., b' ' | b'\t' | b'\r' | b'\n'] = text {
        text = rest;
    }
    text
}

pub(crate) fn trim_start(mut text: &[u8]) -> &[u8] {
    while let [b' ' | b'\t' | b'\r' | b'\n', rest @ ..] = text {
        text = rest;
    }
    text
}
