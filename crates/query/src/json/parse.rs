//! The parser, after json-smart 2.5.0 (`JSONParserBase`, `JSONParserMemory`) with all its permissions on.

use std::borrow::Cow;
use std::collections::HashMap;

use super::{JsonError, Number, Value};
use crate::java::is_whitespace;

/// The byte that json-smart takes for the end of the text.
const END: u8 = 0x1A;
/// How deep arrays and objects may nest.
const MAX_DEPTH: usize = 400;
/// Objects with more keys than this look for doubles with a hash map.
const FEW_KEYS: usize = 12;

pub(super) fn parse(text: &str) -> Result<Value<'_>, JsonError> {
    let mut parser = Parser {
        text,
        at: 0,
        depth: 0,
    };
    parser.value(Stop::End)
}

/// What ends a bareword or number.
#[derive(Clone, Copy)]
enum Stop {
    End,
    Array,
    Key,
    Value,
}

impl Stop {
    fn stops(self, byte: u8) -> bool {
        match self {
            Stop::End => false,
            Stop::Array => matches!(byte, b',' | b']'),
            Stop::Key => byte == b':',
            Stop::Value => matches!(byte, b',' | b'}'),
        }
    }
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
}

impl<'t> Parser<'t> {
    /// The byte at this place; `END` at the end.
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(END)
    }

    /// The place in UTF-16 units, as json-smart counts.
    fn position(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        self.text[..at].encode_utf16().count()
    }

    fn unexpected_char<T>(&self, at: usize) -> Result<T, JsonError> {
        let c = self.text[self.at.min(self.text.len())..]
            .chars()
            .next()
            .unwrap_or('\u{1A}');
        self.fail(format!(
            "Unexpected character ({c}) at position {}.",
            self.position(at)
        ))
    }

    fn unexpected_end<T>(&self, what: &str) -> Result<T, JsonError> {
        let position = self.position(self.at) as i64 - 1;
        self.fail(format!(
            "Unexpected End Of File position {position}: {what}"
        ))
    }

    fn fail<T>(&self, message: String) -> Result<T, JsonError> {
        Err(JsonError { message })
    }

    fn skip_space(&mut self) {
        while self.byte() <= b' ' && self.byte() != END {
            self.at += 1;
        }
    }

    fn value(&mut self, stop: Stop) -> Result<Value<'t>, JsonError> {
        while matches!(self.byte(), b' ' | b'\r' | b'\n' | b'\t') {
            self.at += 1;
        }
        match self.byte() {
            b':' | b'}' | b']' => self.unexpected_char(self.at),
            b'{' => self.object(),
            b'[' => self.array(),
            b'"' | b'\'' => self.string().map(Value::String),
            b'0'..=b'9' | b'-' => self.number(stop),
            _ => Ok(match self.bareword(stop) {
                "null" => Value::Null,
                "true" => Value::Bool(true),
                "false" => Value::Bool(false),
                "NaN" => Value::Number(Number::NotANumber),
                word => Value::String(Cow::Borrowed(word)),
            }),
        }
    }

    fn bareword(&mut self, stop: Stop) -> &'t str {
        let start = self.at;
        self.skip_word(stop);
        self.trimmed(start)
    }

    fn skip_word(&mut self, stop: Stop) {
        while self.byte() != END && !stop.stops(self.byte()) {
            self.at += 1;
        }
    }

    /// The text from `start` to here without white space around it, but never empty if it was not.
    fn trimmed(&self, start: usize) -> &'t str {
        let word = &self.text[start..self.at];
        let trimmed = word.trim_matches(is_whitespace);
        match trimmed.is_empty() {
            true => &word[word.char_indices().next_back().map_or(0, |(at, _)| at)..],
            false => trimmed,
        }
    }

    fn array(&mut self) -> Result<Value<'t>, JsonError> {
        self.deeper()?;
        self.at += 1;
        let mut items = Vec::new();
        loop {
            match self.byte() {
                b' ' | b'\r' | b'\n' | b'\t' | b',' => self.at += 1,
                b']' => {
                    self.depth -= 1;
                    self.at += 1;
                    return Ok(Value::Array(items));
                }
                b':' | b'}' => return self.unexpected_char(self.at),
                END => return self.unexpected_end("EOF"),
                _ => items.push(self.value(Stop::Array)?),
            }
        }
    }

    fn object(&mut self) -> Result<Value<'t>, JsonError> {
        self.deeper()?;
        let mut members = Members::default();
        loop {
            self.at += 1;
            match self.byte() {
                b' ' | b'\r' | b'\n' | b'\t' | b',' => {}
                b':' | b']' | b'[' | b'{' => return self.unexpected_char(self.at),
                b'}' => {
                    self.depth -= 1;
                    self.at += 1;
                    return Ok(Value::Object(members.list));
                }
                _ => {
                    let (key, value) = self.member()?;
                    members.put(key, value);
                    self.skip_space();
                    match self.byte() {
                        b'}' => {
                            self.depth -= 1;
                            self.at += 1;
                            return Ok(Value::Object(members.list));
                        }
                        END => return self.unexpected_end("null"),
                        b',' => {}
                        _ => {
                            let c = self.text[self.at..].chars().next().unwrap_or('\u{1A}');
                            let position = self.position(self.at) - 1;
                            return self
                                .fail(format!("Unexpected token {c} at position {position}."));
                        }
                    }
                }
            }
        }
    }

    fn member(&mut self) -> Result<(Cow<'t, str>, Value<'t>), JsonError> {
        let key = match self.byte() {
            b'"' | b'\'' => self.string()?,
            _ => Cow::Borrowed(self.bareword(Stop::Key)),
        };
        self.skip_space();
        match self.byte() {
            b':' => self.at += 1,
            END => return self.unexpected_end("null"),
            _ => return self.unexpected_char(self.at - 1),
        }
        if self.at >= self.text.len() {
            return self.unexpected_end("EOF");
        }
        Ok((key, self.value(Stop::Value)?))
    }

    fn deeper(&mut self) -> Result<(), JsonError> {
        self.depth += 1;
        if self.depth <= MAX_DEPTH {
            return Ok(());
        }
        let c = char::from(self.byte());
        let position = self.position(self.at);
        self.fail(format!(
            "Malicious payload, having non natural depths, parsing stoped on {c} at position {position}."
        ))
    }

    fn number(&mut self, stop: Stop) -> Result<Value<'t>, JsonError> {
        let start = self.at;
        self.at += 1;
        self.skip_digits();
        let mut whole = true;
        if self.byte() == b'.' {
            whole = false;
            self.at += 1;
            self.skip_digits();
        }
        if matches!(self.byte(), b'E' | b'e') {
            whole = false;
            self.at += 1;
            if !matches!(self.byte(), b'+' | b'-' | b'0'..=b'9') {
                self.skip_word(stop);
                return Ok(Value::String(Cow::Borrowed(self.trimmed(start))));
            }
            self.at += 1;
            self.skip_digits();
        }
        self.skip_space();
        // Anything from `~` up ends a number, as json-smart's table of stops is no longer than that.
        if self.byte() < b'~' && self.byte() != END && !stop.stops(self.byte()) {
            self.skip_word(stop);
            return Ok(Value::String(Cow::Borrowed(self.trimmed(start))));
        }
        let text = self.trimmed(start);
        if whole {
            return Ok(Value::Number(Number::whole(text)));
        }
        match Number::fraction(text) {
            Some(number) => Ok(Value::Number(number)),
            None => self.fail(format!(
                "Unexpected token {text} at position {}.",
                self.position(self.at)
            )),
        }
    }

    fn skip_digits(&mut self) {
        while self.byte().is_ascii_digit() {
            self.at += 1;
        }
    }

    /// A string in quotes; without escapes it is taken as it stands.
    fn string(&mut self) -> Result<Cow<'t, str>, JsonError> {
        let quote = self.byte();
        let body = &self.text[self.at + 1..];
        let Some(end) = memchr::memchr(quote, body.as_bytes()) else {
            let position = self.text.encode_utf16().count();
            return self.fail(format!("Unexpected End Of File position {position}: null"));
        };
        if memchr::memchr(b'\\', &body.as_bytes()[..end]).is_none() {
            self.at += end + 2;
            return Ok(Cow::Borrowed(&body[..end]));
        }
        self.escaped_string(quote).map(Cow::Owned)
    }

    /// A string with escapes. Its control characters fall away, and so do escapes that are none.
    fn escaped_string(&mut self, quote: u8) -> Result<String, JsonError> {
        let mut out = String::new();
        self.at += 1;
        loop {
            let start = self.at;
            while !matches!(self.byte(), 0..=31 | b'"' | b'\'' | b'\\' | 127) {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.byte() {
                END => return self.unexpected_end("null"),
                byte if byte == quote => {
                    self.at += 1;
                    return Ok(out);
                }
                byte @ (b'"' | b'\'') => out.push(char::from(byte)),
                b'\\' => {
                    self.at += 1;
                    self.escape(&mut out)?;
                    continue;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// What stands behind a backslash; steps over it.
    fn escape(&mut self, out: &mut String) -> Result<(), JsonError> {
        let plain = match self.byte() {
            b't' => '\t',
            b'n' => '\n',
            b'r' => '\r',
            b'f' => '\x0C',
            b'b' => '\x08',
            byte @ (b'\\' | b'/' | b'\'' | b'"') => char::from(byte),
            b'u' => self.unicode()?,
            b'x' => char::from_u32(self.hexadecimal(2)?)
                .expect("two hexadecimal digits are a character"),
            _ => {
                self.at += self.text[self.at..]
                    .chars()
                    .next()
                    .map_or(0, char::len_utf8);
                return Ok(());
            }
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    /// `\uXXXX`, and the second half of a pair behind it. A lone half cannot be kept and becomes U+FFFD.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let unit = self.hexadecimal(4)?;
        if let Some(c) = char::from_u32(unit) {
            return Ok(c);
        }
        let rest = &self.text[self.at + 1..];
        let low = rest.strip_prefix("\\u").and_then(|digits| digits.get(..4));
        let low = low.and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match low {
            Some(low @ 0xDC00..=0xDFFF) if unit < 0xDC00 => {
                self.at += 6;
                let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                Ok(char::from_u32(code).expect("a pair of halves is a character"))
            }
            _ => Ok(char::REPLACEMENT_CHARACTER),
        }
    }

    /// Reads digits behind the letter at this place and stops on the last one.
    fn hexadecimal(&mut self, digits: usize) -> Result<u32, JsonError> {
        let mut value = 0;
        for _ in 0..digits {
            self.at += 1;
            let Some(digit) = char::from(self.byte()).to_digit(16) else {
                let position = self.position(self.at);
                if self.byte() == END {
                    return self.fail(format!("Unexpected End Of File position {position}: EOF"));
                }
                let c = self.text[self.at..].chars().next().unwrap_or('\u{1A}');
                return self.fail(format!(
                    "Unexpected unicode escape sequence {c} at position {position}."
                ));
            };
            value = value * 16 + digit;
        }
        Ok(value)
    }
}

/// The members of an object under construction: a later value replaces an earlier one in its place, as in `LinkedHashMap`.
#[derive(Default)]
struct Members<'t> {
    list: Vec<(Cow<'t, str>, Value<'t>)>,
    index: HashMap<Cow<'t, str>, usize>,
}

impl<'t> Members<'t> {
    fn put(&mut self, key: Cow<'t, str>, value: Value<'t>) {
        let known = if self.list.len() <= FEW_KEYS {
            self.list.iter().position(|(name, _)| *name == key)
        } else {
            if self.index.is_empty() {
                self.index.extend(
                    self.list
                        .iter()
                        .enumerate()
                        .map(|(at, (name, _))| (name.clone(), at)),
                );
            }
            self.index.get(&key).copied()
        };
        match known {
            Some(at) => self.list[at].1 = value,
            None => {
                if !self.index.is_empty() {
                    self.index.insert(key.clone(), self.list.len());
                }
                self.list.push((key, value));
            }
        }
    }
}
