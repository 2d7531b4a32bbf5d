//! jsoup's `TokenQueue`: a selector text that is consumed from the front.

use super::SelectorError;

pub(super) struct TokenQueue<'t> {
    text: &'t str,
}

impl<'t> TokenQueue<'t> {
    pub(super) fn new(text: &'t str) -> TokenQueue<'t> {
        TokenQueue { text }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text
    }

    pub(super) fn peek(&self) -> Option<char> {
        self.text.chars().next()
    }

    pub(super) fn next(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.text = &self.text[c.len_utf8()..];
        Some(c)
    }

    /// Skips this text, ignoring case; false if the queue does not start with it.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let starts = self
            .text
            .get(..text.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(text));
        if starts {
            self.text = &self.text[text.len()..];
        }
        starts
    }

    pub(super) fn take_white(&mut self) -> bool {
        let rest = self
            .text
            .trim_start_matches([' ', '\t', '\n', '\x0C', '\r']);
        let seen = rest.len() < self.text.len();
        self.text = rest;
        seen
    }

    pub(super) fn at_combinator(&self) -> bool {
        matches!(self.peek(), Some(',' | '>' | '+' | '~' | ' '))
    }

    /// Takes letters, digits and the given other characters, including escapes.
    pub(super) fn identifier(&mut self, others: &[&str]) -> String {
        let start = self.text;
        let mut escaped = false;
        while let Some(c) = self.peek() {
            if c == '\\' && self.text.len() > 1 {
                escaped = true;
                self.next();
                self.next();
            } else if c.is_alphanumeric() {
                self.next();
            } else if let Some(other) = others.iter().find(|other| self.text.starts_with(**other)) {
                self.text = &self.text[other.len().min(c.len_utf8())..];
            } else {
                break;
            }
        }
        let taken = &start[..start.len() - self.text.len()];
        if escaped {
            unescape(taken)
        } else {
            taken.to_owned()
        }
    }

    /// The text between an opening character at the start of the queue and the matching closing
    /// one.
    pub(super) fn balanced(&mut self, open: char, close: char) -> Result<&'t str, SelectorError> {
        let text = self.text;
        let (mut start, mut end) = (None, None);
        let mut depth = 0;
        let mut last = '\0';
        let (mut single, mut double, mut quoted) = (false, false, false);
        while let Some(c) = self.next() {
            let at = text.len() - self.text.len();
            if last != '\\' {
                if c == '\'' && c != open && !double {
                    single = !single;
                } else if c == '"' && c != open && !single {
                    double = !double;
                }
                if single || double || quoted {
                    last = c;
                    continue;
                }
                if c == open {
                    depth += 1;
                    start.get_or_insert(at);
                } else if c == close {
                    depth -= 1;
                }
            } else if c == 'Q' {
                quoted = true;
            } else if c == 'E' {
                quoted = false;
            }
            if depth > 0 && last != '\0' {
                end = Some(at);
            }
            last = c;
            if depth <= 0 {
                break;
            }
        }
        let inner = match (start, end) {
            (Some(start), Some(end)) => &text[start..end],
            _ => "",
        };
        if depth > 0 {
            Err(SelectorError::new(format!(
                "Did not find balanced marker at '{inner}'"
            )))
        } else {
            Ok(inner)
        }
    }
}

/// `TokenQueue.unescape`: drops backslashes; a doubled one becomes one.
pub(super) fn unescape(text: &str) -> String {
    let mut out = String::new();
    let mut escaped = false;
    for c in text.chars() {
        let pair = c == '\\' && escaped;
        if c != '\\' || pair {
            out.push(c);
        }
        escaped = c == '\\' && !pair;
    }
    out
}
