//! Puts expressions into JSON texts, however they are spaced and escaped.

use serde_json::Value;

use super::put::MARK;
use super::sent::Sent;
use crate::text::PlanText;

/// Replaces the values that stand in JSON under this name with this value: `"name": "value"`, `"name": 5`, or an item of
/// `"name": [...]`. The text may hold expressions already.
pub fn put_into_json(text: &mut PlanText, sent: &Sent, expression: &str) -> bool {
    let mut reader = JsonReader::default();
    let marked = text.map_literals(|literal| reader.marked(literal, sent));
    *text = marked;
    text.replace(MARK, expression)
}

/// Where a reader is in a JSON text whose literal pieces it gets one after the other.
#[derive(Default)]
struct JsonReader {
    /// The names under which the values of the open objects and arrays stand; `None` for an object.
    open: Vec<Option<String>>,
    /// The name before the last colon.
    key: String,
    /// The last whole string, which a colon makes a name.
    last: Option<String>,
    /// Whether the previous piece ended within a string.
    in_string: bool,
}

impl JsonReader {
    /// The piece with a mark in place of each value that is meant.
    fn marked(&mut self, literal: &str, sent: &Sent) -> String {
        let mut out = String::with_capacity(literal.len());
        let mut rest = literal;
        if self.in_string {
            // An expression stands within this string, so it is not the value.
            let end = end_of_string(rest);
            let length = end.map(|end| end + 1).unwrap_or(rest.len());
            out.push_str(&rest[..length]);
            rest = &rest[length..];
            self.in_string = end.is_none();
        }
        while let Some(first) = rest.chars().next() {
            let length = match first {
                '"' => {
                    let Some(end) = end_of_string(&rest[1..]) else {
                        self.in_string = true;
                        self.last = None;
                        out.push_str(rest);
                        return out;
                    };
                    self.string(&rest[..end + 2], sent, &mut out);
                    end + 2
                }
                '-' | '0'..='9' => {
                    let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                    let is_meant =
                        sent.is_number && self.is_value(sent) && rest[..end] == sent.value;
                    out.push_str(if is_meant { MARK } else { &rest[..end] });
                    end
                }
                _ => {
                    self.sign(first);
                    out.push(first);
                    first.len_utf8()
                }
            };
            rest = &rest[length..];
        }
        out
    }

    fn string(&mut self, quoted: &str, sent: &Sent, out: &mut String) {
        let text: Option<String> = serde_json::from_str(quoted).ok();
        let is_meant = self.is_value(sent) && text.as_deref() == Some(&sent.value);
        if is_meant {
            out.push_str(&format!("\"{MARK}\""))
        } else {
            out.push_str(quoted)
        }
        self.last = text;
    }

    /// Whether a value at this place stands under the wanted name.
    fn is_value(&self, sent: &Sent) -> bool {
        match self.open.last() {
            Some(Some(name)) => *name == sent.field,
            _ => self.key == sent.field,
        }
    }

    fn sign(&mut self, sign: char) {
        match sign {
            ':' => self.key = self.last.take().unwrap_or_default(),
            ',' => self.key.clear(),
            '{' => self.open.push(None),
            '[' => {
                let outer = self.open.last().cloned().flatten();
                self.open
                    .push(Some(outer.unwrap_or_else(|| self.key.clone())));
            }
            '}' | ']' => {
                self.open.pop();
                self.key.clear();
            }
            _ => {}
        }
    }
}

fn is_part(c: char) -> bool {
    c.is_ascii_digit() || "+-.eE".contains(c)
}

/// Where the quote is that ends a string.
fn end_of_string(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let is_end = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        is_end
    })
}

/// The replacements that JSON needs within a string. JEXL of JMeter 5.6.3 reads `\u000a` in a string, but not `\n`.
const ESCAPES: [(&str, &str); 5] = [
    (r"\\", r"\\\\"),
    (r#"\""#, r#"\\\""#),
    (r"\u000a", r"\\n"),
    (r"\u000d", r"\\r"),
    (r"\u0009", r"\\t"),
];

/// The call that escapes a variable within a string of JSON; `None` if none of its values needs that.
pub fn escaping_call(expression: &str, values: &[&str]) -> Option<String> {
    let needs_escape = |value: &&str| Value::from(*value).to_string().len() != value.len() + 2;
    let variable = expression.strip_prefix("${")?.strip_suffix('}')?;
    if variable.starts_with("__") || !values.iter().any(needs_escape) {
        return None;
    }
    let mut script = format!("vars.get(\"{variable}\")");
    for (from, to) in ESCAPES {
        script.push_str(&format!(".replace(\"{from}\",\"{to}\")"));
    }
    let parameter = script.replace('\\', r"\\").replace(',', r"\,");
    Some(format!("${{__jexl3({parameter})}}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(text: &str, field: &str, value: &str, is_number: bool) -> Option<String> {
        let sent = Sent {
            is_number,
            ..Sent::typed(field, value)
        };
        let mut text = PlanText::from(text);
        put_into_json(&mut text, &sent, "${v}").then(|| text.template())
    }

    #[test]
    fn values_are_found_however_they_are_written() {
        for (text, value, expected) in [
            (r#"{"a":"x"}"#, "x", r#"{"a":"${v}"}"#),
            (
                "{ \"b\" : \"x\",\n\t\"a\"  :\t\"x\" }",
                "x",
                "{ \"b\" : \"x\",\n\t\"a\"  :\t\"${v}\" }",
            ),
            (r#"{"a":"p\"\u0077\/"}"#, "p\"w/", r#"{"a":"${v}"}"#),
            (
                r#"{"\u0061":["y","x"]}"#,
                "x",
                r#"{"\\u0061":["y","${v}"]}"#,
            ),
            (
                r#"{"a":{"b":"x"},"c":"x","a":"x"}"#,
                "x",
                r#"{"a":{"b":"x"},"c":"x","a":"${v}"}"#,
            ),
        ] {
            assert_eq!(put(text, "a", value, false).as_deref(), Some(expected));
        }
        for text in [
            r#"{"a":"xx"}"#,
            r#"{"x":"a"}"#,
            r#"{"b":"a","c":"x"}"#,
            r#"{"a":1}"#,
        ] {
            assert_eq!(put(text, "a", "x", false), None, "{text}");
        }
        assert_eq!(
            put(r#"{"a": 7, "b": 7, "a": [77, 7]}"#, "a", "7", true).as_deref(),
            Some(r#"{"a": ${v}, "b": 7, "a": [77, ${v}]}"#)
        );
    }

    #[test]
    fn expressions_in_the_text_are_no_obstacle() {
        let sent = |value: &str| Sent::typed("a", value);
        let mut text = PlanText::from("{\"z\":\"");
        text.append(PlanText::variable("z"));
        text.push("-\",\"n\":");
        text.append(PlanText::variable("n"));
        text.push(",\"a\":\"x\"}");
        assert!(put_into_json(&mut text, &sent("x"), "${v}"));
        assert_eq!(
            text.template(),
            "{\"z\":\"${z}-\",\"n\":${n},\"a\":\"${v}\"}"
        );
        assert!(!put_into_json(&mut text, &sent("x"), "${v}"));
    }
}
