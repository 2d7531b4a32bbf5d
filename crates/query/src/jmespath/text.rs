//! JSON as Jackson's `ObjectMapper` writes it.

use std::fmt::Write;

use drumfire_java::values::double_to_string;

use crate::json::{Number, Value};

/// A string unchanged, any other value as JSON.
pub(super) fn text(value: &Value<'_>) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => json(other),
    }
}

pub(super) fn json(value: &Value<'_>) -> String {
    let mut out = String::new();
    write_json(value, &mut out);
    out
}

fn write_json(value: &Value<'_>, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        // Jackson stores every number with a fraction as a Double.
        Value::Number(number @ Number::Decimal(_)) => {
            out.push_str(&double_to_string(number.as_f64()))
        }
        Value::Number(Number::Double(number)) if !number.is_finite() => {
            write_string(&double_to_string(*number), out);
        }
        Value::Number(number) => out.push_str(&number.text()),
        Value::String(text) => write_string(text, out),
        Value::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_json(item, out);
            }
            out.push(']');
        }
        Value::Object(members) => {
            out.push('{');
            for (at, (key, item)) in members.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_string(key, out);
                out.push(':');
                write_json(item, out);
            }
            out.push('}');
        }
    }
}

fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\x08' => out.push_str("\\b"),
            '\x0C' => out.push_str("\\f"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\0'..='\x1F' => {
                write!(out, "\\u{:04X}", u32::from(c)).expect("writing to a String cannot fail")
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
