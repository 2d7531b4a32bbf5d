//! Prints values: json-smart's compact JSON, and the texts of JMeter's classes.

use std::borrow::Cow;
use std::fmt::Write;

use drumfire_java::text::spread_hash;
use drumfire_java::values::double_to_string;

use super::Value;
use crate::json::Number;

impl Value<'_> {
    /// The text that `JSONManager.stringifyJSONObject`, and so the JSON Extractor, puts into a variable. `None` for null,
    /// for which the extractor uses its default value.
    pub fn to_text(&self) -> Option<Cow<'_, str>> {
        Some(match self {
            Value::Null => return None,
            Value::Bool(true) => Cow::Borrowed("true"),
            Value::Bool(false) => Cow::Borrowed("false"),
            Value::Number(number) => number.text(),
            Value::String(text) => Cow::Borrowed(text),
            Value::Array(_) => Cow::Owned(self.to_json()),
            Value::Object(members) => Cow::Owned(hashed_object(members)),
        })
    }

    /// The text that `JSONPathAssertion.objectToString` matches and shows in its messages.
    pub fn to_assertion_text(&self) -> Cow<'_, str> {
        match self {
            Value::Number(Number::Double(number)) => Cow::Owned(decimal_format(*number)),
            Value::Number(Number::NotANumber) => Cow::Borrowed("NaN"),
            other => other.to_text().unwrap_or(Cow::Borrowed("null")),
        }
    }

    /// `toString()` of the Java object, as messages of JMeter and JsonPath show it.
    pub fn to_java_text(&self) -> Cow<'_, str> {
        let Value::Object(members) = self else {
            return self.to_text().unwrap_or(Cow::Borrowed("null"));
        };
        let members: Vec<String> = members
            .iter()
            .map(|(key, value)| format!("{key}={}", value.to_java_text()))
            .collect();
        Cow::Owned(format!("{{{}}}", members.join(", ")))
    }

    /// json-smart's compact JSON (`JSONStyle.NO_COMPRESS`), with keys in order.
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        self.write_json(&mut out);
        out
    }

    fn write_json(&self, out: &mut String) {
        match self {
            Value::Null => out.push_str("null"),
            Value::Bool(true) => out.push_str("true"),
            Value::Bool(false) => out.push_str("false"),
            Value::Number(Number::Double(number)) if number.is_infinite() => out.push_str("null"),
            Value::Number(number) => out.push_str(&number.text()),
            Value::String(text) => write_string(text, out),
            Value::Array(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Value::Object(members) => write_object(members.iter(), out),
        }
    }
}

type Member<'t> = (Cow<'t, str>, Value<'t>);

fn write_object<'m, 't: 'm>(members: impl Iterator<Item = &'m Member<'t>>, out: &mut String) {
    out.push('{');
    for (at, (key, value)) in members.enumerate() {
        if at > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        value.write_json(out);
    }
    out.push('}');
}

/// Before JMeter prints an object, it copies it into a `JSONObject`, which is a `HashMap`. The keys of the object itself,
/// but not of nested ones, are therefore in the order of the map's buckets.
fn hashed_object(members: &[Member<'_>]) -> String {
    let buckets = ((members.len() as f32 / 0.75 + 1.0) as usize).next_power_of_two();
    let mut ordered: Vec<(usize, &Member<'_>)> = members
        .iter()
        .map(|member| (bucket(&member.0, buckets), member))
        .collect();
    ordered.sort_by_key(|(bucket, _)| *bucket);
    let mut out = String::new();
    write_object(ordered.into_iter().map(|(_, member)| member), &mut out);
    out
}

/// The bucket of `java.util.HashMap` for a string.
fn bucket(key: &str, buckets: usize) -> usize {
    spread_hash(key) as usize & (buckets - 1)
}

/// `JStylerObj.Escape4Web`: escapes slashes, control characters and U+2000 to U+20FF.
fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '/' => out.push_str("\\/"),
            '\x08' => out.push_str("\\b"),
            '\x0C' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1F' | '\x7F'..='\u{9F}' | '\u{2000}'..='\u{20FF}' => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("writing to a String cannot fail");
            }
            c => out.push(c),
        }
    }
    out.push('"');
}

/// `DecimalFormat("#.#")` with one to 340 fraction digits and US symbols.
fn decimal_format(number: f64) -> String {
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "∞" } else { "-∞" }.to_owned();
    }
    let text = double_to_string(number);
    let Some((mantissa, exponent)) = text.split_once('E') else {
        return text;
    };
    let exponent: i64 = exponent.parse().expect("printed by double_to_string");
    let (sign, mantissa) = mantissa
        .strip_prefix('-')
        .map(|rest| ("-", rest))
        .unwrap_or(("", mantissa));
    let (whole, fraction) = mantissa
        .split_once('.')
        .expect("double_to_string always prints a point");
    let all_digits = format!("{whole}{fraction}");
    let digits = all_digits.trim_end_matches('0');
    if exponent < 0 {
        let zeros = "0".repeat(-exponent as usize - 1);
        return format!("{sign}0.{zeros}{digits}");
    }
    let width = exponent as usize + 1;
    if digits.len() > width {
        format!("{sign}{}.{}", &digits[..width], &digits[width..])
    } else {
        format!("{sign}{digits:0<width$}.0")
    }
}
