//! Tokens of an expression.

use super::JmesPathError;
use crate::json::{Json, Value};

#[derive(Clone, Debug)]
pub(super) enum JmesPathToken {
    Name(String),
    Quoted(String),
    Literal(Value<'static>),
    Number(i64),
    /// Punctuation and operators as written; `[]` and `[?` are single symbols.
    Symbol(&'static str),
    End,
}

impl JmesPathToken {
    pub(super) fn is(&self, symbol: &str) -> bool {
        matches!(self, JmesPathToken::Symbol(own) if *own == symbol)
    }
}

const SYMBOLS: [&str; 25] = [
    "[?", "[]", "||", "&&", "==", "!=", "<=", ">=", "[", "]", "{", "}", "(", ")", ".", ",", ":",
    "*", "@", "&", "|", "<", ">", "!", "-",
];

pub(super) fn tokens(text: &str) -> Result<Vec<JmesPathToken>, JmesPathError> {
    let mut out = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', '\r']);
        let Some(c) = rest.chars().next() else {
            out.push(JmesPathToken::End);
            return Ok(out);
        };
        let (token, behind) = match c {
            'a'..='z' | 'A'..='Z' | '_' => {
                let end = rest
                    .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                    .unwrap_or(rest.len());
                (JmesPathToken::Name(rest[..end].to_owned()), &rest[end..])
            }
            '0'..='9' => number(rest)?,
            '-' if rest[1..].starts_with(|c: char| c.is_ascii_digit()) => number(rest)?,
            '"' => {
                let (inner, behind) = delimited(rest, '"')?;
                match Json::parse(&format!("\"{inner}\"")).map(|json| json.root().to_owned_value())
                {
                    Ok(Value::String(name)) => (JmesPathToken::Quoted(name.into_owned()), behind),
                    _ => return Err(unexpected(rest)),
                }
            }
            '\'' => {
                let (inner, behind) = delimited(rest, '\'')?;
                let text = inner.replace("\\'", "'").replace("\\\\", "\\");
                (JmesPathToken::Literal(Value::String(text.into())), behind)
            }
            '`' => {
                let (inner, behind) = delimited(rest, '`')?;
                (literal(inner.replace("\\`", "`").trim())?, behind)
            }
            _ => match SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol)) {
                Some(symbol) => (JmesPathToken::Symbol(symbol), &rest[symbol.len()..]),
                None => return Err(unexpected(rest)),
            },
        };
        out.push(token);
        rest = behind;
    }
}

/// The value between backticks, which must be strict JSON. JMeter's library rejects the old syntax for strings without
/// quotes.
fn literal(inner: &str) -> Result<JmesPathToken, JmesPathError> {
    serde_json::from_str::<serde::de::IgnoredAny>(inner)
        .map_err(|error| JmesPathError::new(error.to_string()))?;
    match Json::parse(inner) {
        Ok(json) => Ok(JmesPathToken::Literal(json.root().to_owned_value())),
        Err(error) => Err(JmesPathError::new(error.message)),
    }
}

fn unexpected(rest: &str) -> JmesPathError {
    JmesPathError::new(format!("unexpected input at '{rest}'"))
}

fn number(text: &str) -> Result<(JmesPathToken, &str), JmesPathError> {
    let digits = text[1..]
        .find(|c: char| !c.is_ascii_digit())
        .map(|end| end + 1)
        .unwrap_or(text.len());
    match text[..digits].parse() {
        Ok(number) => Ok((JmesPathToken::Number(number), &text[digits..])),
        Err(_) => Err(unexpected(text)),
    }
}

/// Splits at the next delimiter that is not escaped by a backslash.
fn delimited(text: &str, delimiter: char) -> Result<(&str, &str), JmesPathError> {
    let inner = &text[1..];
    let mut escaped = false;
    let end = inner.find(|c| {
        let ends = c == delimiter && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    match end {
        Some(end) => Ok((&inner[..end], &inner[end + 1..])),
        None => Err(unexpected(text)),
    }
}
