//! The parser, modelled on json-smart 2.5.0 (`JSONParserBase`, `JSONParserMemory`) in permissive mode.

use std::borrow::Cow;
use std::collections::HashMap;

use drumfire_java::text::is_whitespace;

use super::plain::container_end;
use super::{JsonError, Number, PathStep, Value};
use crate::bytes::first_of;

/// The byte that json-smart treats as the end of the text.
const END: u8 = 0x1A;
/// Limit of nested arrays and objects.
const MAX_DEPTH: usize = 400;
/// Objects with more keys than this detect duplicates with a hash map.
const FEW_KEYS: usize = 12;

pub(super) fn parse(text: &str) -> Result<Value<'_>, JsonError> {
    JsonSmartParser::new(text).value(Terminators::End)
}

/// The value at the end of the steps, if the whole text is valid and the value exists.
pub(super) fn locate<'t>(text: &'t str, steps: &[PathStep<'_>]) -> Option<Value<'t>> {
    JsonSmartParser::new(text)
        .locate(steps, Terminators::End)
        .ok()
        .flatten()
}

/// Receives the members of an object, and parses each value itself.
trait MemberTaker<'t> {
    fn member(
        &mut self,
        parser: &mut JsonSmartParser<'t>,
        key: Cow<'t, str>,
    ) -> Result<(), JsonError>;
}

/// Receives the items of an array, and parses each value itself.
trait ItemTaker<'t> {
    fn item(&mut self, parser: &mut JsonSmartParser<'t>) -> Result<(), JsonError>;
}

/// Only validates and builds no values.
struct Skipper;

impl<'t> MemberTaker<'t> for Skipper {
    fn member(
        &mut self,
        parser: &mut JsonSmartParser<'t>,
        _: Cow<'t, str>,
    ) -> Result<(), JsonError> {
        parser.skip(Terminators::Value)
    }
}

impl<'t> ItemTaker<'t> for Skipper {
    fn item(&mut self, parser: &mut JsonSmartParser<'t>) -> Result<(), JsonError> {
        parser.skip(Terminators::Array)
    }
}

/// Only builds the value at the end of the steps.
struct Locator<'t, 's> {
    step: PathStep<'s>,
    further: &'s [PathStep<'s>],
    /// Number of items so far.
    count: usize,
    found: Option<Value<'t>>,
}

impl<'t> MemberTaker<'t> for Locator<'t, '_> {
    /// The last value of a duplicate key counts.
    fn member(
        &mut self,
        parser: &mut JsonSmartParser<'t>,
        key: Cow<'t, str>,
    ) -> Result<(), JsonError> {
        if self.step != PathStep::Key(&key) {
            return parser.skip(Terminators::Value);
        }
        self.found = parser.locate(self.further, Terminators::Value)?;
        Ok(())
    }
}

impl<'t> ItemTaker<'t> for Locator<'t, '_> {
    fn item(&mut self, parser: &mut JsonSmartParser<'t>) -> Result<(), JsonError> {
        let index = self.count;
        self.count += 1;
        if self.step != PathStep::Index(index) {
            return parser.skip(Terminators::Array);
        }
        self.found = parser.locate(self.further, Terminators::Array)?;
        Ok(())
    }
}

/// The bytes that end a bareword or number.
#[derive(Clone, Copy)]
enum Terminators {
    End,
    Array,
    Key,
    Value,
}

impl Terminators {
    fn stops(self, byte: u8) -> bool {
        match self {
            Terminators::End => false,
            Terminators::Array => matches!(byte, b',' | b']'),
            Terminators::Key => byte == b':',
            Terminators::Value => matches!(byte, b',' | b'}'),
        }
    }
}

struct JsonSmartParser<'t> {
    text: &'t str,
    at: usize,
    depth: usize,
    /// Whether anything deviated from the standard; the fast path is then not tried again.
    is_odd: bool,
}

impl<'t> JsonSmartParser<'t> {
    fn new(text: &'t str) -> JsonSmartParser<'t> {
        JsonSmartParser {
            text,
            at: 0,
            depth: 0,
            is_odd: false,
        }
    }

    /// The byte at the current position; `END` at the end.
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(END)
    }

    /// Converts a position to UTF-16 units, in which json-smart counts.
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

    /// Skips to the start of a value.
    fn begin(&mut self) -> Result<u8, JsonError> {
        while matches!(self.byte(), b' ' | b'\r' | b'\n' | b'\t') {
            self.at += 1;
        }
        match self.byte() {
            b':' | b'}' | b']' => self.unexpected_char(self.at),
            byte => Ok(byte),
        }
    }

    fn value(&mut self, stop: Terminators) -> Result<Value<'t>, JsonError> {
        match self.begin()? {
            b'{' => {
                let mut members = Members::default();
                self.object(&mut members)?;
                Ok(Value::Object(members.list))
            }
            b'[' => {
                let mut items = Items::default();
                self.array(&mut items)?;
                Ok(Value::Array(items.0))
            }
            _ => self.scalar(stop),
        }
    }

    fn skip(&mut self, stop: Terminators) -> Result<(), JsonError> {
        let first = self.begin()?;
        if !self.is_odd && matches!(first, b'{' | b'[') {
            let room = MAX_DEPTH - self.depth;
            if let Some(end) = container_end(self.text.as_bytes(), self.at, room) {
                self.at = end;
                return Ok(());
            }
            self.is_odd = true;
        }
        match first {
            b'{' => self.object(&mut Skipper),
            b'[' => self.array(&mut Skipper),
            b'"' | b'\'' => self.string().map(drop),
            b'0'..=b'9' if self.skip_plain_number(stop) => Ok(()),
            _ => self.scalar(stop).map(drop),
        }
    }

    /// Skips digits, with an optional fraction, if they make up the whole value. Otherwise stays where it is.
    fn skip_plain_number(&mut self, stop: Terminators) -> bool {
        let start = self.at;
        self.skip_digits();
        if self.byte() == b'.' {
            self.at += 1;
            self.skip_digits();
        }
        let is_plain = stop.stops(self.byte()) && self.at - start <= Number::MAX_DOUBLE_CHARS;
        if !is_plain {
            self.at = start;
        }
        is_plain
    }

    fn locate(
        &mut self,
        steps: &[PathStep<'_>],
        stop: Terminators,
    ) -> Result<Option<Value<'t>>, JsonError> {
        let Some((step, further)) = steps.split_first() else {
            return self.value(stop).map(Some);
        };
        let mut locator = Locator {
            step: *step,
            further,
            count: 0,
            found: None,
        };
        match (self.begin()?, step) {
            (b'{', PathStep::Key(_)) => self.object(&mut locator)?,
            (b'[', PathStep::Index(_)) => self.array(&mut locator)?,
            _ => self.skip(stop)?,
        }
        Ok(locator.found)
    }

    fn scalar(&mut self, stop: Terminators) -> Result<Value<'t>, JsonError> {
        match self.byte() {
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

    fn bareword(&mut self, stop: Terminators) -> &'t str {
        let start = self.at;
        self.skip_word(stop);
        self.trimmed(start)
    }

    fn skip_word(&mut self, stop: Terminators) {
        while self.byte() != END && !stop.stops(self.byte()) {
            self.at += 1;
        }
    }

    /// The trimmed text from `start` to the current position; it stays untrimmed if it would become empty.
    fn trimmed(&self, start: usize) -> &'t str {
        let word = &self.text[start..self.at];
        let trimmed = word.trim_matches(is_whitespace);
        if trimmed.is_empty() {
            &word[word.char_indices().next_back().map_or(0, |(at, _)| at)..]
        } else {
            trimmed
        }
    }

    fn array(&mut self, taker: &mut impl ItemTaker<'t>) -> Result<(), JsonError> {
        self.deeper()?;
        self.at += 1;
        loop {
            match self.byte() {
                b' ' | b'\r' | b'\n' | b'\t' | b',' => self.at += 1,
                b']' => {
                    self.depth -= 1;
                    self.at += 1;
                    return Ok(());
                }
                b':' | b'}' => return self.unexpected_char(self.at),
                END => return self.unexpected_end("EOF"),
                _ => taker.item(self)?,
            }
        }
    }

    fn object(&mut self, taker: &mut impl MemberTaker<'t>) -> Result<(), JsonError> {
        self.deeper()?;
        loop {
            self.at += 1;
            match self.byte() {
                b' ' | b'\r' | b'\n' | b'\t' | b',' => {}
                b':' | b']' | b'[' | b'{' => return self.unexpected_char(self.at),
                b'}' => {
                    self.depth -= 1;
                    self.at += 1;
                    return Ok(());
                }
                _ => {
                    let key = self.key()?;
                    taker.member(self, key)?;
                    self.skip_space();
                    match self.byte() {
                        b'}' => {
                            self.depth -= 1;
                            self.at += 1;
                            return Ok(());
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

    /// Reads the key of a member, and skips to the start of its value.
    fn key(&mut self) -> Result<Cow<'t, str>, JsonError> {
        let key = match self.byte() {
            b'"' | b'\'' => self.string()?,
            _ => Cow::Borrowed(self.bareword(Terminators::Key)),
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
        Ok(key)
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

    fn number(&mut self, stop: Terminators) -> Result<Value<'t>, JsonError> {
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
        // Any character from `~` ends a number, because json-smart's table of stop characters ends there.
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

    /// Reads a quoted string; one without escapes is borrowed.
    fn string(&mut self) -> Result<Cow<'t, str>, JsonError> {
        let quote = self.byte();
        let body = &self.text[self.at + 1..];
        if let Some(end) = first_of(body.as_bytes(), quote, b'\\')
            && body.as_bytes()[end] == quote
        {
            self.at += end + 2;
            return Ok(Cow::Borrowed(&body[..end]));
        }
        if memchr::memchr(quote, body.as_bytes()).is_none() {
            let position = self.text.encode_utf16().count();
            return self.fail(format!("Unexpected End Of File position {position}: null"));
        }
        self.escaped_string(quote).map(Cow::Owned)
    }

    /// Reads a string with escapes. Drops its control characters and invalid escapes.
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

    /// Appends the character of an escape and skips the escape.
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
                    .map(char::len_utf8)
                    .unwrap_or(0);
                return Ok(());
            }
        };
        self.at += 1;
        out.push(plain);
        Ok(())
    }

    /// `\uXXXX`, and the second half of a surrogate pair after it. A lone half cannot be represented and becomes U+FFFD.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let unit = self.hexadecimal(4)?;
        if let Some(c) = char::from_u32(unit) {
            return Ok(c);
        }
        let rest = &self.text[self.at + 1..];
        let low = rest
            .strip_prefix("\\u")
            .and_then(|digits| digits.get(..4))
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match low {
            Some(low @ 0xDC00..=0xDFFF) if unit < 0xDC00 => {
                self.at += 6;
                let code = 0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                Ok(char::from_u32(code).expect("a pair of halves is a character"))
            }
            _ => Ok(char::REPLACEMENT_CHARACTER),
        }
    }

    /// Reads digits after the current letter and stops on the last one.
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

/// The items of an array under construction.
#[derive(Default)]
struct Items<'t>(Vec<Value<'t>>);

impl<'t> ItemTaker<'t> for Items<'t> {
    fn item(&mut self, parser: &mut JsonSmartParser<'t>) -> Result<(), JsonError> {
        self.0.push(parser.value(Terminators::Array)?);
        Ok(())
    }
}

/// The members of an object under construction. As in `LinkedHashMap`, a later value replaces an earlier one in its
/// position.
#[derive(Default)]
struct Members<'t> {
    list: Vec<(Cow<'t, str>, Value<'t>)>,
    /// The positions of the keys, once there are many.
    index: Option<HashMap<Cow<'t, str>, usize>>,
}

impl<'t> MemberTaker<'t> for Members<'t> {
    fn member(
        &mut self,
        parser: &mut JsonSmartParser<'t>,
        key: Cow<'t, str>,
    ) -> Result<(), JsonError> {
        let value = parser.value(Terminators::Value)?;
        self.put(key, value);
        Ok(())
    }
}

impl<'t> Members<'t> {
    fn put(&mut self, key: Cow<'t, str>, value: Value<'t>) {
        let same_key = if self.list.len() <= FEW_KEYS {
            self.list.iter().position(|(name, _)| *name == key)
        } else {
            let list = &self.list;
            let index = self.index.get_or_insert_with(|| {
                let places = list.iter().enumerate();
                places.map(|(at, (name, _))| (name.clone(), at)).collect()
            });
            index.get(&key).copied()
        };
        match same_key {
            Some(at) => self.list[at].1 = value,
            None => {
                if let Some(index) = &mut self.index {
                    index.insert(key.clone(), self.list.len());
                }
                self.list.push((key, value));
            }
        }
    }
}
