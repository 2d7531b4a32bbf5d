//! Reads JSON as Gson does in its lenient mode, in which the plugin reads requests: comments, single quotes, words without
//! quotes, `;` and `=`. What follows the first value is ignored.

use std::borrow::Cow;

use super::JsonError;
use crate::wire::MAX_DEPTH;

/// A JSON value. Numbers stay texts, as in Gson.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

impl<'a> Json<'a> {
    /// Reads the first value of a text. An empty text is null.
    pub fn read(text: &'a str) -> Result<Self, JsonError> {
        const PREFIX: &str = ")]}'\n";
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let mut reader = Reader {
            text,
            at: if text.starts_with(PREFIX) {
                PREFIX.len()
            } else {
                0
            },
        };
        match reader.peek()? {
            None => Ok(Json::Null),
            Some(_) => reader.value(0),
        }
    }

    /// The value as a text (`JsonElement#getAsString`); `None` of null and of anything with parts.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Json::Bool(true) => Some("true"),
            Json::Bool(false) => Some("false"),
            Json::Number(text) => Some(text),
            Json::Text(text) => Some(text),
            Json::List(list) => match list.as_slice() {
                [only] => only.as_text(),
                _ => None,
            },
            Json::Null | Json::Object(_) => None,
        }
    }

    /// The kind of the value, for messages.
    pub fn kind(&self) -> &'static str {
        match self {
            Json::Null => "null",
            Json::Bool(_) => "a boolean",
            Json::Number(_) => "a number",
            Json::Text(_) => "a string",
            Json::List(_) => "an array",
            Json::Object(_) => "an object",
        }
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn fault(&self, what: &str) -> JsonError {
        let before = &self.text[..self.at];
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{what} at line {line}, column {column}").into()
    }

    /// The next character that is neither white space nor in a comment.
    fn peek(&mut self) -> Result<Option<char>, JsonError> {
        loop {
            let rest = self.rest();
            let bare = rest.trim_start_matches([' ', '\t', '\n', '\r']);
            self.at += rest.len() - bare.len();
            if bare.starts_with("/*") {
                let end = bare
                    .find("*/")
                    .ok_or_else(|| self.fault("unterminated comment"))?;
                self.at += end + "*/".len();
            } else if bare.starts_with("//") || bare.starts_with('#') {
                self.at += bare.find(['\n', '\r']).unwrap_or(bare.len());
            } else {
                return Ok(bare.chars().next());
            }
        }
    }

    fn needed(&mut self) -> Result<char, JsonError> {
        self.peek()?
            .ok_or_else(|| self.fault("the text ends too early"))
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        if depth > MAX_DEPTH {
            return Err(self.fault("values are nested too deep"));
        }
        match self.needed()? {
            '{' => self.object(depth),
            '[' => self.list(depth),
            quote @ ('"' | '\'') => Ok(Json::Text(self.quoted(quote)?)),
            _ => self.literal(),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        self.at += 1;
        let mut entries: Vec<(Cow<'a, str>, Json<'a>)> = Vec::new();
        loop {
            let name = match self.needed()? {
                '}' => {
                    self.at += 1;
                    return Ok(Json::Object(entries));
                }
                quote @ ('"' | '\'') => self.quoted(quote)?,
                _ => Cow::Borrowed(self.word()?),
            };
            match self.needed()? {
                ':' => self.at += 1,
                '=' => {
                    self.at += 1;
                    if self.rest().starts_with('>') {
                        self.at += 1;
                    }
                }
                _ => return Err(self.fault("expected `:`")),
            }
            let value = self.value(depth + 1)?;
            match entries.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = value,
                None => entries.push((name, value)),
            }
            match self.needed()? {
                '}' => {}
                ',' | ';' => {
                    self.at += 1;
                    if self.needed()? == '}' {
                        return Err(self.fault("expected a name"));
                    }
                }
                _ => return Err(self.fault("expected `,` or `}`")),
            }
        }
    }

    fn list(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        self.at += 1;
        let mut values = Vec::new();
        if self.needed()? == ']' {
            self.at += 1;
            return Ok(Json::List(values));
        }
        loop {
            // A missing value is null.
            match self.needed()? {
                ',' | ';' | ']' => values.push(Json::Null),
                _ => values.push(self.value(depth + 1)?),
            }
            match self.needed()? {
                ']' => {
                    self.at += 1;
                    return Ok(Json::List(values));
                }
                ',' | ';' => self.at += 1,
                _ => return Err(self.fault("expected `,` or `]`")),
            }
        }
    }

    /// A string, whose first quote is next.
    fn quoted(&mut self, quote: char) -> Result<Cow<'a, str>, JsonError> {
        self.at += 1;
        let mut owned: Option<String> = None;
        loop {
            let rest = self.rest();
            let end = rest
                .find([quote, '\\'])
                .ok_or_else(|| self.fault("unterminated string"))?;
            let piece = &rest[..end];
            self.at += end + 1;
            if rest[end..].starts_with(quote) {
                return Ok(match owned {
                    None => Cow::Borrowed(piece),
                    Some(before) => Cow::Owned(before + piece),
                });
            }
            let text = owned.get_or_insert_default();
            text.push_str(piece);
            let escaped = self.escape()?;
            text.push(escaped);
        }
    }

    /// The character of an escape, whose backslash has been read. Half a surrogate pair becomes `?`, as Java encodes it.
    fn escape(&mut self) -> Result<char, JsonError> {
        let letter = self.rest().chars().next();
        let letter = letter.ok_or_else(|| self.fault("unterminated escape sequence"))?;
        self.at += letter.len_utf8();
        Ok(match letter {
            'u' => {
                let first = self.unit()?;
                if (0xD800..0xDC00).contains(&first) && self.rest().starts_with("\\u") {
                    let before = self.at;
                    self.at += "\\u".len();
                    let second = self.unit()?;
                    let pair = char::decode_utf16([first, second]).next();
                    match pair {
                        Some(Ok(pair)) => return Ok(pair),
                        _ => self.at = before,
                    }
                }
                char::from_u32(first.into()).unwrap_or('?')
            }
            't' => '\t',
            'b' => '\u{8}',
            'n' => '\n',
            'r' => '\r',
            'f' => '\u{C}',
            '\n' | '\'' | '"' | '\\' | '/' => letter,
            _ => return Err(self.fault("invalid escape sequence")),
        })
    }

    /// The four digits of `\u`.
    fn unit(&mut self) -> Result<u16, JsonError> {
        let digits = self.rest().get(..4);
        let unit = digits
            .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            .and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.fault("invalid `\\u` escape"))?;
        self.at += 4;
        Ok(unit)
    }

    /// A text without quotes.
    fn word(&mut self) -> Result<&'a str, JsonError> {
        const ENDS: &[char] = &[
            '/', '\\', ';', '#', '=', '{', '}', '[', ']', ':', ',', ' ', '\t', '\u{C}', '\r', '\n',
        ];
        let rest = self.rest();
        let word = &rest[..rest.find(ENDS).unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        Ok(word)
    }

    fn literal(&mut self) -> Result<Json<'a>, JsonError> {
        let word = self.word()?;
        Ok(match word {
            _ if word.eq_ignore_ascii_case("null") => Json::Null,
            _ if word.eq_ignore_ascii_case("true") => Json::Bool(true),
            _ if word.eq_ignore_ascii_case("false") => Json::Bool(false),
            _ if is_number(word) => Json::Number(word),
            _ => Json::Text(word.into()),
        })
    }
}

/// Whether the word is a number of JSON.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let word = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match word.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (word, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(value: &str) -> Json<'_> {
        Json::Text(value.into())
    }

    #[test]
    fn lenient_texts_are_read_as_gson_reads_them() {
        let one = |name: &'static str, value| Json::Object(vec![(name.into(), value)]);
        for (written, value) in [
            (r#"{"a": 1}"#, one("a", Json::Number("1"))),
            ("{a = 'x'; }", Json::Null),
            ("{a => x}", one("a", text("x"))),
            ("/* c */ {a: TRUE} // rest", one("a", Json::Bool(true))),
            (r#"{"a": 1, "a": "\u00e9\n"}"#, one("a", text("é\n"))),
            (r#""\ud83d\ude00\ud83d""#, text("😀?")),
            (
                "[1,,x]",
                Json::List(vec![Json::Number("1"), Json::Null, text("x")]),
            ),
            ("-1.5e3 ignored", Json::Number("-1.5e3")),
            ("01", text("01")),
            ("  ", Json::Null),
        ] {
            match Json::read(written) {
                Ok(read) => assert_eq!(read, value, "{written}"),
                Err(error) => assert!(written.ends_with("; }"), "{written}: {error}"),
            }
        }
    }

    #[test]
    fn faults_name_their_place() {
        for (written, fault) in [
            ("{", "the text ends too early at line 1, column 2"),
            ("{\n \"a\" 1}", "expected `:` at line 2, column 6"),
            ("{\"a\": \"x}", "unterminated string at line 1, column 8"),
            ("{\"a\": 1 2}", "expected `,` or `}` at line 1, column 9"),
            ("[1}", "expected `,` or `]` at line 1, column 3"),
            ("\"\\q\"", "invalid escape sequence at line 1, column 4"),
            ("\"\\u12\"", "invalid `\\u` escape at line 1, column 4"),
            ("/* x", "unterminated comment at line 1, column 1"),
            ("{,}", "expected a value at line 1, column 2"),
        ] {
            assert_eq!(
                Json::read(written).unwrap_err().to_string(),
                fault,
                "{written}"
            );
        }
        assert!(Json::read(&"[".repeat(500)).is_err());
    }
}
