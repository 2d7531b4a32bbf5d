//! Responses of IMAP servers (RFC 3501 section 7), and quoted texts.

use crate::latin::one_char_each;

/// A response, whose literals stand beside its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Response {
    /// The lines of the response without the literals.
    pub text: String,
    /// The literals in order.
    pub literals: Vec<Vec<u8>>,
}

impl Response {
    /// Appends a line.
    pub fn push(&mut self, line: &[u8]) {
        self.text.push_str(&one_char_each(line));
    }

    /// The last quoted text, which a server may send instead of a literal.
    pub fn quoted(&self) -> Option<String> {
        let end = self.text.rfind('"')?;
        let before = &self.text[..end];
        let start = before.rfind('"')?;
        Some(before[start + 1..].to_owned())
    }
}

/// The length of the literal that follows a line.
pub fn literal_length(line: &[u8]) -> Option<usize> {
    let digits = line.strip_suffix(b"}")?;
    let start = digits.iter().rposition(|byte| *byte == b'{')?;
    let digits = std::str::from_utf8(&digits[start + 1..]).ok()?;
    digits.strip_suffix('+').unwrap_or(digits).parse().ok()
}

/// A text in quotes. Line breaks, which quotes cannot hold, are left out.
pub fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars().filter(|c| !matches!(c, '\r' | '\n')) {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_follow_their_length() {
        assert_eq!(literal_length(b"* 1 FETCH (BODY[] {233}"), Some(233));
        assert_eq!(literal_length(b"a {12+}"), Some(12));
        assert_eq!(literal_length(b"a {x}"), None);
        assert_eq!(literal_length(b"A1 OK"), None);
        let mut response = Response::default();
        response.push(b"* 1 FETCH (BODY[] \"\")");
        assert_eq!(response.quoted().as_deref(), Some(""));
    }

    #[test]
    fn texts_are_quoted() {
        assert_eq!(quote("a\"b\\c\r\n"), "\"a\\\"b\\\\c\"");
    }
}
