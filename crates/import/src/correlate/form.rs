//! The encodings in which a response may hold a value that the client later sends back unencoded.

use serde_json::Value;

use super::sent::base64_bytes;
use crate::url;

/// How a response encodes a value, which decides the JMeter function that decodes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ValueEncoding {
    /// As it is sent.
    Plain,
    /// Percent-encoded, as cookies often are.
    Percent,
    /// With the escapes of JavaScript and JSON, inside a script.
    Script,
    /// With the entities of HTML and XML.
    Markup,
    /// As a value of JSON that the response holds in base64.
    Claim {
        /// Its key.
        key: String,
        /// Whether the JSON is the second part of a JWT.
        is_jwt: bool,
    },
}

/// All forms, cheapest first.
pub const FORMS: [ValueEncoding; 4] = [
    ValueEncoding::Plain,
    ValueEncoding::Percent,
    ValueEncoding::Script,
    ValueEncoding::Markup,
];

impl ValueEncoding {
    /// The spellings that libraries use for the value in this form; empty if each would equal the plain
    /// value.
    pub fn written(&self, value: &str) -> Vec<String> {
        let all = match self {
            ValueEncoding::Plain => return vec![value.to_owned()],
            ValueEncoding::Claim { .. } => return Vec::new(),
            ValueEncoding::Percent => {
                let upper = url::encode(value);
                let lower = lower_hexadecimal(&upper);
                vec![upper, lower]
            }
            ValueEncoding::Script => {
                vec![
                    value.replace('/', "\\/"),
                    each(value, "<>&'=+/", unicode),
                    each(value, "<>&'=+/", upper),
                    each(value, "<>&'=", unicode),
                    each(value, "<>&'", unicode),
                    each(value, "+", upper),
                ]
            }
            ValueEncoding::Markup => {
                let text = value.replace('&', "&amp;");
                vec![
                    text.clone(),
                    each(&text, "+", hexadecimal),
                    each(&text, "=", hexadecimal),
                    each(&text, "+/=", hexadecimal),
                    each(&text, "+", decimal),
                    each(&text, "+/=", decimal),
                ]
            }
        };
        all.into_iter().filter(|written| written != value).collect()
    }

    /// The expressions that yield a variable's value, decoded from this form.
    pub fn expressions(&self, variable: &str) -> Expressions {
        let reference = format!("${{{variable}}}");
        let plain = match self {
            ValueEncoding::Plain => reference.clone(),
            ValueEncoding::Percent => format!("${{__urldecode({reference})}}"),
            ValueEncoding::Script => format!("${{__unescape({reference})}}"),
            ValueEncoding::Markup => format!("${{__unescapeHtml({reference})}}"),
            ValueEncoding::Claim { key, is_jwt } => {
                let text = if *is_jwt {
                    format!("${{__strReplaceRegex({reference},^[^.]*[.]|[.][^.]*$,)}}")
                } else {
                    reference.clone()
                };
                let json = format!("${{__base64Decode({text})}}");
                format!(
                    "${{__strReplaceRegex({json},(?s).*\"{key}\" *: *\"?([^\"\\,\\x7D]*).*,$1)}}"
                )
            }
        };
        let encoded = match self {
            ValueEncoding::Percent => reference,
            _ => format!("${{__urlencode({plain})}}"),
        };
        Expressions { plain, encoded }
    }
}

fn unicode(c: char) -> String {
    format!("\\u{:04x}", u32::from(c))
}

fn upper(c: char) -> String {
    format!("\\u{:04X}", u32::from(c))
}

fn decimal(c: char) -> String {
    format!("&#{};", u32::from(c))
}

fn hexadecimal(c: char) -> String {
    format!("&#x{:X};", u32::from(c))
}

impl ValueEncoding {
    /// Whether a text of a response stands for a value.
    pub fn stands_for(&self, text: &str, value: &str) -> bool {
        let ValueEncoding::Claim { key, is_jwt } = self else {
            return self.written(value).iter().any(|written| written == text);
        };
        let run = if *is_jwt {
            text.split('.').nth(1).unwrap_or("")
        } else {
            text
        };
        let json = base64_bytes(run).and_then(|bytes| serde_json::from_slice(&bytes).ok());
        json.is_some_and(|json| has_leaf(&json, key, value))
    }
}

fn has_leaf(json: &Value, key: &str, value: &str) -> bool {
    match json {
        Value::Object(fields) => fields.iter().any(|(name, own)| {
            let is_own = match own {
                Value::String(text) => text == value,
                Value::Number(number) => number.to_string() == value,
                Value::Bool(flag) => flag.to_string() == value,
                _ => false,
            };
            name == key && is_own || has_leaf(own, key, value)
        }),
        Value::Array(items) => items.iter().any(|item| has_leaf(item, key, value)),
        _ => false,
    }
}

/// The texts that replace a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expressions {
    /// The value.
    pub plain: String,
    /// The value, percent-encoded.
    pub encoded: String,
}

impl Expressions {
    /// An expression whose value is sent as it is.
    pub fn of(plain: String) -> Expressions {
        let encoded = format!("${{__urlencode({plain})}}");
        Expressions { plain, encoded }
    }
}

fn each(value: &str, characters: &str, written: impl Fn(char) -> String) -> String {
    let mut out = String::new();
    for c in value.chars() {
        if characters.contains(c) {
            out.push_str(&written(c))
        } else {
            out.push(c)
        }
    }
    out
}

/// Turns `%2F` into `%2f`.
fn lower_hexadecimal(encoded: &str) -> String {
    let mut out = String::with_capacity(encoded.len());
    let mut left = 0;
    for c in encoded.chars() {
        out.push(if left > 0 { c.to_ascii_lowercase() } else { c });
        left = if c == '%' { 2 } else { left.max(1) - 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_as_libraries_write_them() {
        let value = "a/B+c=";
        for (form, written) in [
            (ValueEncoding::Percent, "a%2FB%2Bc%3D"),
            (ValueEncoding::Percent, "a%2fB%2bc%3d"),
            (ValueEncoding::Script, "a\\/B+c="),
            (ValueEncoding::Script, "a/B+c\\u003d"),
            (ValueEncoding::Markup, "a/B&#x2B;c="),
            (ValueEncoding::Markup, "a/B+c&#x3D;"),
        ] {
            let all = form.written(value);
            assert!(all.iter().any(|one| one == written), "{written}: {all:?}");
        }
        assert!(ValueEncoding::Percent.written("plain").is_empty());
        assert_eq!(ValueEncoding::Plain.written("plain"), ["plain"]);
    }
}
