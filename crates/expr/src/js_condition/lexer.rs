//! Tokens of a condition (`TokenStream`).

use super::ConditionError;
use super::globals::{KEYWORDS, has};
use super::numbers::{decimal_length, from_digits, is_space};

/// A placeholder for a reference whose value is not known yet; no plan contains this private-use character.
pub(super) const HOLE: char = '\u{F8F0}';

#[derive(Debug, Clone, PartialEq)]
pub(super) enum ConditionToken {
    Number(f64),
    Text(String),
    Name(String),
    /// A word with its own syntax.
    Keyword(String),
    Sign(&'static str),
    /// An operand that is not known yet.
    Hole,
    End,
}

/// Each sign precedes its prefixes.
const SIGNS: [&str; 49] = [
    ">>>=", "===", "!==", ">>>", "<<=", ">>=", "-->", "==", "!=", "<=", ">=", "&&", "||", "++",
    "--", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>", "=>", "..", "::", "<", ">",
    "!", "(", ")", "+", "-", "*", "/", "%", "?", ":", ",", ";", ".", "=", "&", "|", "^", "~", "@",
];
const BRACKETS: [&str; 4] = ["{", "}", "[", "]"];

pub(super) struct JsLexer<'a> {
    rest: &'a str,
    /// Whether [`HOLE`] is a reference.
    skeleton: bool,
    /// Whether a line ended before the latest token.
    pub(super) after_line_end: bool,
}

fn syntax<T>(message: impl Into<String>) -> Result<T, ConditionError> {
    Err(ConditionError::Syntax(message.into()))
}

fn unsupported<T>(what: impl Into<String>) -> Result<T, ConditionError> {
    Err(ConditionError::Unsupported(what.into()))
}

fn starts_name(c: char) -> bool {
    c.is_alphabetic() || matches!(c, '_' | '$')
}

fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '$')
}

impl<'a> JsLexer<'a> {
    pub(super) fn new(text: &'a str, skeleton: bool) -> JsLexer<'a> {
        JsLexer {
            rest: text,
            skeleton,
            after_line_end: true,
        }
    }

    /// The text after the latest token.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    pub(super) fn next(&mut self) -> Result<ConditionToken, ConditionError> {
        self.after_line_end = false;
        self.skip_space()?;
        let Some(first) = self.rest.chars().next() else {
            return Ok(ConditionToken::End);
        };
        if self.skeleton && self.skip_word_with_hole() {
            return Ok(ConditionToken::Hole);
        }
        if first.is_ascii_digit()
            || first == '.' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            return self.number();
        }
        if first == '"' || first == '\'' {
            return self.text(first);
        }
        if starts_name(first) {
            return Ok(self.name());
        }
        match SIGNS
            .iter()
            .chain(&BRACKETS)
            .find(|sign| self.rest.starts_with(**sign))
        {
            Some(&"-->") => unsupported("'-->'"),
            Some(sign) => {
                self.rest = &self.rest[sign.len()..];
                Ok(ConditionToken::Sign(sign))
            }
            None if first == '`' => unsupported("a template literal"),
            None if first == '\\' && self.rest.starts_with("\\u") => {
                unsupported("an escape in a name")
            }
            // Rhino ignores format characters, such as a zero width space.
            None if !first.is_ascii() && first != HOLE => {
                unsupported(format!("the character '{first}'"))
            }
            None => syntax(format!("illegal character: {first}")),
        }
    }

    fn skip_space(&mut self) -> Result<(), ConditionError> {
        loop {
            let trimmed = self.rest.trim_start_matches(is_space);
            let skipped = &self.rest[..self.rest.len() - trimmed.len()];
            self.after_line_end |= skipped.contains(['\n', '\r', '\u{2028}', '\u{2029}']);
            self.rest = trimmed;
            if trimmed.starts_with("//") || trimmed.starts_with("<!--") {
                self.rest = trimmed
                    .find(['\n', '\r', '\u{2028}', '\u{2029}'])
                    .map(|end| &trimmed[end..])
                    .unwrap_or("");
            } else if let Some(comment) = trimmed.strip_prefix("/*") {
                let Some((inside, after)) = comment.split_once("*/") else {
                    return syntax("unterminated comment");
                };
                self.after_line_end |= inside.contains(['\n', '\r']);
                self.rest = after;
            } else {
                return Ok(());
            }
        }
    }

    /// Skips a word that contains a reference, such as `${n}0` or `-${n}.5`, since it could be anything.
    fn skip_word_with_hole(&mut self) -> bool {
        let ends_word = |c| !(continues_name(c) || c == '.' || c == HOLE);
        let Some(hole) = self.rest.find(HOLE) else {
            return false;
        };
        if self.rest[..hole].contains(ends_word) {
            return false;
        }
        let end = self.rest.find(ends_word).unwrap_or(self.rest.len());
        self.rest = &self.rest[end..];
        true
    }

    fn name(&mut self) -> ConditionToken {
        let end = self
            .rest
            .find(|c| !continues_name(c))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        if has(KEYWORDS, name) {
            ConditionToken::Keyword(name.to_owned())
        } else {
            ConditionToken::Name(name.to_owned())
        }
    }

    /// A leading 0 makes a number octal, unless it contains an 8 or a 9.
    fn number(&mut self) -> Result<ConditionToken, ConditionError> {
        let text = self.rest;
        if let Some(digits) = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
            let Some((value, length)) = from_digits(digits, 16) else {
                return syntax("number format error");
            };
            self.rest = &digits[length..];
            return Ok(ConditionToken::Number(value));
        }
        let whole = text
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len());
        if whole > 1 && text.starts_with('0') && !text[..whole].contains(['8', '9']) {
            self.rest = &text[whole..];
            return Ok(ConditionToken::Number(
                from_digits(&text[..whole], 8)
                    .map(|(value, _)| value)
                    .unwrap_or(0.0),
            ));
        }
        let length = decimal_length(text);
        self.rest = &text[length..];
        if self.rest.starts_with(['e', 'E']) {
            return syntax("missing exponent");
        }
        match text[..length].parse() {
            Ok(value) => Ok(ConditionToken::Number(value)),
            Err(_) => syntax("number format error"),
        }
    }

    fn text(&mut self, quote: char) -> Result<ConditionToken, ConditionError> {
        let mut units: Vec<u16> = Vec::new();
        let mut buffer = [0; 2];
        let mut rest = self.rest[1..].chars();
        loop {
            match rest.next() {
                None | Some('\n' | '\r') => return syntax("unterminated string literal"),
                Some('\\') => rest = escape(rest.as_str(), &mut units)?.chars(),
                Some(c) if c == quote => break,
                Some(c) => units.extend_from_slice(c.encode_utf16(&mut buffer)),
            }
        }
        self.rest = rest.as_str();
        match String::from_utf16(&units) {
            Ok(text) => Ok(ConditionToken::Text(text)),
            Err(_) => unsupported("half of a surrogate pair"),
        }
    }
}

/// Reads an escape after its backslash and returns the rest. An incomplete escape stands for its letters.
fn escape<'a>(text: &'a str, units: &mut Vec<u16>) -> Result<&'a str, ConditionError> {
    let Some(first) = text.chars().next() else {
        return syntax("unterminated string literal");
    };
    let rest = &text[first.len_utf8()..];
    let unit = match first {
        '\n' => return Ok(rest),
        '\r' => return Ok(rest.strip_prefix('\n').unwrap_or(rest)),
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'v' => 11,
        'x' | 'u' => {
            let length = if first == 'x' { 2 } else { 4 };
            match rest
                .get(..length)
                .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
            {
                Some(digits) => {
                    units.push(
                        u16::from_str_radix(digits, 16).expect("four hexadecimal digits fit"),
                    );
                    return Ok(&rest[length..]);
                }
                None => first as u16,
            }
        }
        '0'..='7' => {
            let limit = if first <= '3' { 3 } else { 2 };
            let length = text
                .bytes()
                .take(limit)
                .take_while(|byte| (b'0'..=b'7').contains(byte))
                .count();
            units.push(u16::from_str_radix(&text[..length], 8).expect("three octal digits fit"));
            return Ok(&text[length..]);
        }
        other => {
            units.extend_from_slice(other.encode_utf16(&mut [0; 2]));
            return Ok(rest);
        }
    };
    units.push(unit);
    Ok(rest)
}
