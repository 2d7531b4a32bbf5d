//! The parse position in a path (`CharacterIndex`).

use super::Error;

/// The characters of a path, the current position and the end.
pub(super) struct Cursor {
    chars: Vec<char>,
    pub(super) at: usize,
    /// The position after the last significant character.
    pub(super) end: usize,
}

impl Cursor {
    pub(super) fn new(text: &str) -> Cursor {
        let chars: Vec<char> = text.chars().collect();
        let end = chars.len();
        Cursor { chars, at: 0, end }
    }

    /// Excludes blanks at both ends.
    pub(super) fn trim(&mut self) {
        self.skip_blanks();
        while self.at + 1 < self.end && self.chars[self.end - 1] == ' ' {
            self.end -= 1;
        }
    }

    pub(super) fn skip_blanks(&mut self) {
        while self.at + 1 < self.end && self.chars[self.at] == ' ' {
            self.at += 1;
        }
    }

    pub(super) fn in_bounds(&self) -> bool {
        self.at < self.end
    }

    /// The character at a position, significant or not; an error like Java's if there is none.
    pub(super) fn char_at(&self, at: usize) -> Result<char, Error> {
        self.chars.get(at).copied().ok_or_else(|| {
            let length = self.chars.len();
            Error::failed(format!(
                "java.lang.StringIndexOutOfBoundsException: index {at}, length {length}"
            ))
        })
    }

    pub(super) fn current(&self) -> Result<char, Error> {
        self.char_at(self.at)
    }

    pub(super) fn is(&self, c: char) -> bool {
        self.chars.get(self.at) == Some(&c)
    }

    pub(super) fn last(&self) -> Option<char> {
        self.chars[..self.end].last().copied()
    }

    /// Whether no significant character follows.
    pub(super) fn is_tail(&self) -> bool {
        self.at + 1 >= self.end
    }

    pub(super) fn text(&self, from: usize, to: usize) -> String {
        self.chars[from.min(to)..to.min(self.chars.len())]
            .iter()
            .collect()
    }

    pub(super) fn whole(&self) -> String {
        self.chars.iter().collect()
    }

    /// The next position after `from` that is not a blank.
    fn next_significant(&self, from: usize) -> Option<usize> {
        (from + 1..self.end).find(|at| self.chars[*at] != ' ')
    }

    /// The next character after `from` that is not a blank; a blank if there is none.
    pub(super) fn next_significant_char(&self, from: usize) -> char {
        self.next_significant(from)
            .map(|at| self.chars[at])
            .unwrap_or(' ')
    }

    /// The position of the next non-blank character after `from`, if it is `c`.
    pub(super) fn next_is(&self, from: usize, c: char) -> Option<usize> {
        self.next_significant(from)
            .filter(|at| self.chars[*at] == c)
    }

    pub(super) fn previous_significant(&self, from: usize) -> Option<usize> {
        (0..from).rev().find(|at| self.chars[*at] != ' ')
    }

    pub(super) fn find(&self, from: usize, c: char) -> Option<usize> {
        (from..self.end).find(|at| self.chars[*at] == c)
    }

    /// The next unescaped `c` after `from`.
    pub(super) fn find_unescaped(&self, from: usize, c: char) -> Option<usize> {
        let mut escaped = false;
        for at in from + 1..self.end {
            match self.chars[at] {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                found if found == c => return Some(at),
                _ => {}
            }
        }
        None
    }

    /// The bracket that closes the one at `from`. Skips strings and, if requested, regular expressions.
    pub(super) fn matching_close(
        &self,
        from: usize,
        open: char,
        close: char,
        skip_regex: bool,
    ) -> Result<Option<usize>, Error> {
        let mut opened = 1;
        let mut at = from + 1;
        while at < self.end {
            if let quote @ ('\'' | '"') = self.chars[at] {
                at = 1 + self.find_unescaped(at, quote).ok_or_else(|| {
                    Error::invalid(format!(
                        "Could not find matching close quote for {quote} when parsing : {}",
                        self.whole()
                    ))
                })?;
            }
            if skip_regex && self.char_at(at)? == '/' {
                at = 1 + self.find_unescaped(at, '/').ok_or_else(|| {
                    Error::invalid(format!(
                        "Could not find matching close for / when parsing regex in : {}",
                        self.whole()
                    ))
                })?;
            }
            let c = self.char_at(at)?;
            if c == open {
                opened += 1;
            }
            if c == close {
                opened -= 1;
                if opened == 0 {
                    return Ok(Some(at));
                }
            }
            at += 1;
        }
        Ok(None)
    }

    /// Skips blanks and this text, if it follows.
    pub(super) fn take(&mut self, text: &str) -> bool {
        let start = self.at;
        self.skip_blanks();
        let end = self.at + text.len();
        if end <= self.end && self.text(self.at, end) == text {
            self.at = end;
            return true;
        }
        self.at = start;
        false
    }

    /// Skips blanks and this character.
    pub(super) fn expect(&mut self, c: char) -> Result<(), Error> {
        self.skip_blanks();
        if self.current()? != c {
            return Err(Error::invalid(format!("Expected character: {c}")));
        }
        self.at += 1;
        Ok(())
    }
}

/// `Utils.unescape`.
pub(super) fn unescape(text: &str) -> Result<String, Error> {
    let mut out = String::with_capacity(text.len());
    let mut units: Vec<u16> = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let c = match (c, chars.peek()) {
            ('\\', Some('u')) => {
                chars.next();
                let digits: String = chars.by_ref().take(4).collect();
                let Ok(unit) = u16::from_str_radix(&digits, 16) else {
                    if digits.chars().count() < 4 {
                        continue;
                    }
                    return Err(Error::failed(format!(
                        "Unable to parse unicode value: {digits}"
                    )));
                };
                units.push(unit);
                continue;
            }
            ('\\', Some(&escaped)) => {
                chars.next();
                match escaped {
                    'r' => '\r',
                    'f' => '\x0C',
                    't' => '\t',
                    'n' => '\n',
                    'b' => '\x08',
                    other => other,
                }
            }
            (c, _) => c,
        };
        flush(&mut units, &mut out);
        out.push(c);
    }
    flush(&mut units, &mut out);
    Ok(out)
}

fn flush(units: &mut Vec<u16>, out: &mut String) {
    out.push_str(&String::from_utf16_lossy(units));
    units.clear();
}
