//! Collects everything in a request that could have come from an earlier response.

use serde_json::Value;

use crate::exchange::{FormPart, Request, RequestBody};
use crate::names;
use crate::text::PlanText;
use crate::url;

/// The length of the shortest value that is searched for regardless of its name.
const SHORTEST: usize = 6;

/// A value that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sent {
    /// A name for the variable.
    pub name: String,
    /// The field that holds it; empty for a segment of a path.
    pub field: String,
    pub value: String,
    /// Whether it is a parameter or a field of a body.
    pub is_field: bool,
    /// Whether it is a number in JSON.
    pub is_number: bool,
    /// The index of a short segment in its path, counted by slashes.
    pub segment: Option<usize>,
}

impl Sent {
    /// A value that is not a field.
    fn bare(name: String, value: String) -> Sent {
        Sent {
            name,
            field: String::new(),
            value,
            is_field: false,
            is_number: false,
            segment: None,
        }
    }

    /// A path segment, named after the segment before it.
    pub(super) fn segment(before: &str, value: &str, number: usize) -> Sent {
        let name = if before.is_empty() { "path" } else { before };
        Sent {
            segment: Some(number),
            ..Sent::bare(singular(name), value.to_owned())
        }
    }
}

/// Header fields whose values the browser generates.
const OWN_FIELDS: [&str; 12] = [
    "accept",
    "accept-language",
    "accept-charset",
    "content-type",
    "user-agent",
    "referer",
    "origin",
    "x-requested-with",
    "range",
    "date",
    "purpose",
    "from",
];

/// The literal values of a request, in the order in which they are sent.
pub fn values(request: &Request) -> Vec<Sent> {
    let mut all = Vec::new();
    let mut before = "";
    let paths: Vec<&str> = request.address.path.literals().collect();
    for literal in paths {
        let (path, query) = literal.split_once('?').unwrap_or((literal, ""));
        let (path, query) = if literal.starts_with('&') {
            ("", literal)
        } else {
            (path, query)
        };
        for segment in path.split(['/', ';']).filter(|segment| !segment.is_empty()) {
            // Path parameters such as `;jsessionid=…`.
            let (name, value) = segment.split_once('=').unwrap_or((before, segment));
            if is_telling(value) {
                let name = if name.is_empty() { "id" } else { name };
                let value = percent_encoding::percent_decode_str(value)
                    .decode_utf8_lossy()
                    .into_owned();
                all.push(Sent::bare(singular(name), value));
            }
            before = segment;
        }
        for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
            let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
            field(&url::decode(name), &url::decode(value), false, &mut all);
        }
    }
    for (name, value) in &request.headers {
        let (Some(name), Some(value)) = (name.literal(), value.literal()) else {
            continue;
        };
        let lower = name.to_ascii_lowercase();
        if !OWN_FIELDS.contains(&lower.as_str()) {
            let token = value.rsplit(' ').next().unwrap_or(value);
            let name = if lower == "authorization" {
                "token"
            } else {
                name
            };
            if is_telling(token) {
                let name = name.to_ascii_lowercase().replace("x-", "");
                all.push(Sent::bare(name, token.to_owned()));
            }
        }
    }
    body(&request.body, &mut all);
    let mut seen: Vec<Sent> = Vec::new();
    all.retain(|sent| {
        let is_new = !seen.contains(sent);
        seen.push(sent.clone());
        is_new
    });
    all
}

fn field(name: &str, value: &str, is_number: bool, all: &mut Vec<Sent>) {
    if !value.is_empty() {
        all.push(Sent {
            name: if name.is_empty() {
                "value".to_owned()
            } else {
                name.to_owned()
            },
            field: name.to_owned(),
            value: value.to_owned(),
            is_field: true,
            is_number,
            segment: None,
        });
    }
}

fn body(body: &RequestBody, all: &mut Vec<Sent>) {
    let literal_field = |name: &PlanText, value: &PlanText, all: &mut Vec<Sent>| {
        if let (Some(name), Some(value)) = (name.literal(), value.literal()) {
            field(name, value, false, all);
        }
    };
    match body {
        RequestBody::Form(fields) => {
            for (name, value) in fields {
                literal_field(name, value, all);
            }
        }
        RequestBody::Multipart(parts) => {
            for part in parts {
                if let FormPart::Field { name, value, .. } = part {
                    literal_field(name, value, all);
                }
            }
        }
        RequestBody::Raw(text) => raw(text, all),
        RequestBody::None | RequestBody::File { .. } => {}
    }
}

/// Reads JSON leaf by leaf, and any other text as a form or as words that look like identifiers. If the body already
/// contains variables, a number stands in for each while it is parsed.
fn raw(text: &PlanText, all: &mut Vec<Sent>) {
    let whole = match text.literal() {
        Some(literal) => literal.to_owned(),
        None => text.literals().collect::<Vec<_>>().join("0"),
    };
    if let Ok(json) = serde_json::from_str::<Value>(&whole) {
        leaves("", &json, all);
        return;
    }
    for word in
        whole.split(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '-' | '_' | '.' | '~'))
    {
        if is_telling(word) {
            all.push(Sent::bare("value".to_owned(), word.to_owned()));
        }
    }
}

fn leaves(name: &str, value: &Value, all: &mut Vec<Sent>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                leaves(name, value, all);
            }
        }
        Value::Array(items) => {
            for item in items {
                leaves(name, item, all);
            }
        }
        Value::String(text) => field(name, text, false, all),
        Value::Number(number) => field(name, &number.to_string(), true, all),
        Value::Bool(_) | Value::Null => {}
    }
}

/// The singular of a path segment: in `carts/17`, 17 is a `cart_id`.
fn singular(name: &str) -> String {
    let name = name.trim_end_matches(".html");
    let base = name.strip_suffix('s').unwrap_or(name);
    if base.ends_with("id") {
        base.to_owned()
    } else {
        format!("{base}_id")
    }
}

/// Whether a value is distinctive enough to be searched for regardless of its name.
pub fn is_telling(value: &str) -> bool {
    if value.len() < SHORTEST || value.contains(char::is_whitespace) {
        return false;
    }
    if names::is_identifier(value) {
        return true;
    }
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = value.bytes().filter(u8::is_ascii_lowercase).count();
    let is_word = value
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/=:|".contains(&byte));
    is_word
        && ((digits >= 2 && upper + lower >= 2) || (value.len() >= 12 && upper >= 3 && lower >= 3))
}
