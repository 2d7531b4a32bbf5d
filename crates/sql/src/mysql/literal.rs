//! Writes argument values into a statement. Both drivers insert the values of prepared statements on the client
//! (`useServerPrepStmts`).

use crate::argument::{Argument, ArgumentValue};
use crate::java_text;

/// A statement with values in place of its markers.
#[derive(Debug, PartialEq, Eq)]
pub struct Filled {
    pub text: String,
    /// How many `?` it had.
    pub markers: usize,
}

/// Puts the values in place of each `?`. A marker without a value is left out.
pub fn fill(sql: &str, arguments: &[Argument]) -> Filled {
    let mut text = String::with_capacity(sql.len() + 16 * arguments.len());
    let mut rest = sql;
    let mut markers = 0;
    while let Some(c) = rest.chars().next() {
        let length = skipped(rest);
        if c == '?' && length == 1 {
            if let Some(argument) = arguments.get(markers) {
                text.push_str(&literal(argument));
            }
            markers += 1;
        } else {
            text.push_str(&rest[..length]);
        }
        rest = &rest[length..];
    }
    Filled { text, markers }
}

/// The statement without leading comments.
pub fn without_comments(sql: &str) -> &str {
    let mut rest = sql.trim_start();
    while comment(rest) > 0 {
        rest = rest[comment(rest)..].trim_start();
    }
    rest
}

/// The length of the text, name or comment that begins here, or else one character.
fn skipped(rest: &str) -> usize {
    match rest.as_bytes()[0] {
        quote @ (b'\'' | b'"' | b'`') => quoted(rest, quote),
        _ => match comment(rest) {
            0 => rest.chars().next().map(char::len_utf8).unwrap_or(1),
            length => length,
        },
    }
}

fn quoted(rest: &str, quote: u8) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' if quote != b'`' => at += 1,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// The length of a comment that begins here, or 0.
fn comment(rest: &str) -> usize {
    let ends_with_line =
        rest.starts_with('#') || rest.starts_with("-- ") || rest.starts_with("--\n");
    if ends_with_line {
        return rest.find('\n').unwrap_or(rest.len());
    }
    if rest.starts_with("/*") && !rest.starts_with("/*!") {
        return rest[2..].find("*/").map_or(rest.len(), |end| end + 4);
    }
    0
}

fn literal(argument: &Argument) -> String {
    let Some(value) = &argument.value else {
        return "null".to_owned();
    };
    match value {
        ArgumentValue::Int(number) => number.to_string(),
        ArgumentValue::Long(number) => number.to_string(),
        ArgumentValue::Byte(number) => number.to_string(),
        ArgumentValue::Short(number) => number.to_string(),
        ArgumentValue::Double(number) => exponent(java_text::double(*number)),
        ArgumentValue::Real(number) => exponent(java_text::float(*number)),
        ArgumentValue::Bool(on) => u8::from(*on).to_string(),
        ArgumentValue::Decimal(text) => text.clone(),
        ArgumentValue::Text(text) | ArgumentValue::Object(text) => escaped(text.chars(), "'"),
        ArgumentValue::Date(text) | ArgumentValue::Timestamp(text) | ArgumentValue::Time(text) => {
            format!("'{text}'")
        }
        ArgumentValue::Bytes(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => escaped(text.chars(), "_binary'"),
            Err(_) => {
                let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                format!("x'{hex}'")
            }
        },
    }
}

/// `StringUtils#fixDecimalExponent`.
fn exponent(text: String) -> String {
    match text.split_once('E') {
        Some((mantissa, power)) if !power.starts_with('-') => format!("{mantissa}E+{power}"),
        _ => text,
    }
}

/// `StringUtils#escapeString`.
fn escaped(text: impl Iterator<Item = char>, opening: &str) -> String {
    let mut escaped = opening.to_owned();
    for c in text {
        match c {
            '\0' => escaped.push_str("\\0"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\u{1a}' => escaped.push_str("\\Z"),
            '\\' | '\'' | '"' => {
                escaped.push('\\');
                escaped.push(c);
            }
            c => escaped.push(c),
        }
    }
    escaped.push('\'');
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn argument(value: ArgumentValue) -> Argument {
        Argument {
            sql_type: 0,
            value: Some(value),
        }
    }

    #[test]
    fn values_stand_where_the_markers_were() {
        let sql =
            "select '?' a, \"\\\"?\" b, `?` /* ? */, ?, ? from t # ?\n where -- ?\n i = ? and 1--?";
        let arguments = [
            ArgumentValue::Int(3),
            ArgumentValue::Text("a'b\\c".to_owned()),
            ArgumentValue::Double(1e10),
            ArgumentValue::Bool(true),
        ]
        .map(argument);
        let filled = fill(sql, &arguments);
        assert_eq!(
            filled.text,
            "select '?' a, \"\\\"?\" b, `?` /* ? */, 3, 'a\\'b\\\\c' from t # ?\n where -- ?\n i = 1.0E+10 and 1--1"
        );
        assert_eq!(filled.markers, 4);
        assert_eq!(fill("select ?", &[]).markers, 1);
    }

    #[test]
    fn the_first_word_comes_after_comments() {
        assert_eq!(
            without_comments(" /* a */ -- b\n # c\n select 1"),
            "select 1"
        );
        assert_eq!(without_comments("-- only"), "");
    }
}
