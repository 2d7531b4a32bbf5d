//! Finds where a response holds a value, and the cheapest extractor whose first match is exactly this value.

use drumfire_query::boundary::Boundary;
use drumfire_query::page::{self, Tag};
use serde_json::Value;

use super::form::{FORMS, ValueEncoding};
use super::sent::Sent;
use crate::exchange::{Request, Response};
use crate::url;

/// Where an extractor looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExtractorSource {
    /// A JSONPath.
    Json(String),
    /// An attribute of the first element that matches.
    Css {
        /// The selector.
        selector: String,
        /// The name of the attribute.
        attribute: String,
    },
    /// The text between two delimiters in the body.
    Boundary {
        /// The text before.
        left: String,
        /// The text after.
        right: String,
    },
    /// The header text that follows a delimiter, up to the end of the line.
    Header {
        /// The text before.
        left: String,
    },
    /// The first group of a regular expression in the header.
    HeaderPattern(String),
    /// The first group of a regular expression in the address that redirects led to.
    Address(String),
}

/// The largest body that is searched.
const LARGEST: usize = 4 << 20;
/// How much text on each side of a value the boundaries may use.
const CONTEXT: usize = 60;

/// The extractor for a value in a response, and the form in which the response holds the value. A value that is not
/// distinctive counts only under the name under which it is sent.
pub fn find(
    response: &Response,
    request: &Request,
    sent: &Sent,
    telling: bool,
) -> Option<(ExtractorSource, ValueEncoding)> {
    FORMS.into_iter().find_map(|form| {
        let written = form.written(&sent.value).into_iter();
        let mut written = written.map(|value| Sent {
            value,
            ..sent.clone()
        });
        let found = written.find_map(|sent| source(response, request, &sent, telling));
        found.map(|source| (source, form))
    })
}

fn source(
    response: &Response,
    request: &Request,
    sent: &Sent,
    telling: bool,
) -> Option<ExtractorSource> {
    let value = sent.value.as_str();
    let body = searched(response);
    if let Some(source) = in_json(body, sent, telling) {
        return Some(source);
    }
    if is_markup(body, response)
        && let Some(source) = in_page(body, sent, telling)
    {
        return Some(source);
    }
    if !telling {
        return None;
    }
    if let Some(source) = in_address(response, request, value) {
        return Some(source);
    }
    in_header(response, value).or_else(|| in_text(body, value))
}

/// The part of a body that is searched.
pub(super) fn searched(response: &Response) -> &str {
    let body = response.body.as_deref();
    body.filter(|body| body.len() <= LARGEST).unwrap_or("")
}

/// The body as JSON, if it is.
pub(super) fn json(body: &str) -> Option<Value> {
    let start = body.trim_start();
    match start.starts_with(['{', '[']) {
        true => serde_json::from_str(start).ok(),
        false => None,
    }
}

pub(super) fn is_markup(body: &str, response: &Response) -> bool {
    response.mime.contains("html") || response.mime.is_empty() && body.trim_start().starts_with('<')
}

/// A definite JSONPath to the value. A short value must stand under the name under which it is sent.
fn in_json(body: &str, sent: &Sent, telling: bool) -> Option<ExtractorSource> {
    let json = json(body)?;
    let mut path = String::from("$");
    leaf(&json, "", sent, telling, &mut path).then_some(ExtractorSource::Json(path))
}

fn leaf(json: &Value, key: &str, sent: &Sent, telling: bool, path: &mut String) -> bool {
    let before = path.len();
    match json {
        Value::Object(fields) => {
            for (name, value) in fields {
                let is_plain = !name.is_empty()
                    && name
                        .bytes()
                        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                if is_plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
                    path.push_str(&format!(".{name}"));
                } else {
                    path.push_str(&format!(
                        "['{}']",
                        name.replace('\\', "\\\\").replace('\'', "\\'")
                    ));
                }
                if leaf(value, name, sent, telling, path) {
                    return true;
                }
                path.truncate(before);
            }
            false
        }
        Value::Array(items) => {
            for (place, item) in items.iter().enumerate() {
                path.push_str(&format!("[{place}]"));
                if leaf(item, key, sent, telling, path) {
                    return true;
                }
                path.truncate(before);
            }
            false
        }
        Value::String(text) => *text == sent.value && (telling || is_same_name(key, &sent.field)),
        Value::Number(number) => {
            number.to_string() == sent.value && (telling || is_same_name(key, &sent.field))
        }
        Value::Bool(_) | Value::Null => false,
    }
}

/// Whether two names are the same: `cartId` equals `cart_id`. A plain `id` never counts as a name.
pub(super) fn is_same_name(one: &str, other: &str) -> bool {
    let (one, other) = (plain_name(one), plain_name(other));
    !one.is_empty()
        && one == other
        && one.len() > 2
        && ![
            "name", "type", "page", "size", "count", "quantity", "limit", "offset", "version",
            "status", "lang", "locale", "action",
        ]
        .contains(&one.as_str())
}

/// A name in the form in which it is compared.
pub(super) fn plain_name(name: &str) -> String {
    let letters = name.chars().filter(char::is_ascii_alphanumeric);
    letters.collect::<String>().to_ascii_lowercase()
}

/// An attribute of the first element that a simple selector matches.
fn in_page(body: &str, sent: &Sent, telling: bool) -> Option<ExtractorSource> {
    let tags = page::tags(body);
    for tag in &tags {
        let is_field = tag.name == "input"
            && tag
                .attribute("type")
                .is_some_and(|kind| kind.eq_ignore_ascii_case("hidden"));
        for (attribute, value) in &tag.attributes {
            let named =
                is_field && attribute == "value" && tag.attribute("name") == Some(&sent.field);
            if *value != sent.value
                || !(telling || named)
                || attribute == "id"
                || attribute == "name"
            {
                continue;
            }
            let first = |selector: &Selector| {
                let found = tags.iter().find(|tag| selector.matches(tag));
                found.and_then(|tag| tag.attribute(attribute)) == Some(value)
            };
            if let Some(selector) = selectors(tag, attribute).into_iter().find(first) {
                return Some(ExtractorSource::Css {
                    selector: selector.text(),
                    attribute: attribute.clone(),
                });
            }
        }
    }
    None
}

/// A selector for one element: its name and one attribute.
struct Selector<'t> {
    tag: &'t str,
    attribute: Option<(&'t str, &'t str)>,
    /// The attribute to read, which the element must have.
    has: &'t str,
}

impl Selector<'_> {
    fn matches(&self, tag: &Tag) -> bool {
        let fits = self
            .attribute
            .is_none_or(|(name, value)| tag.attribute(name) == Some(value));
        tag.name == self.tag && fits && tag.attribute(self.has).is_some()
    }

    fn text(&self) -> String {
        match self.attribute {
            Some((name, value)) => format!("{}[{name}=\"{value}\"][{}]", self.tag, self.has),
            None => format!("{}[{}]", self.tag, self.has),
        }
    }
}

fn selectors<'t>(tag: &'t Tag, has: &'t str) -> Vec<Selector<'t>> {
    let named = ["name", "id", "property", "itemprop", "rel", "class"]
        .into_iter()
        .filter_map(|name| {
            let value = tag.attribute(name).filter(|value| {
                !value.is_empty()
                    && !value.contains(['"', '\\', '$'])
                    && !value.chars().any(|c| c.is_ascii_digit())
            })?;
            Some(Selector {
                tag: &tag.name,
                attribute: Some((name, value)),
                has,
            })
        });
    let bare = Selector {
        tag: &tag.name,
        attribute: None,
        has,
    };
    // An attribute such as `data-cart` is distinctive on its own; `href` is not.
    let is_own = has.starts_with("data-");
    named.chain(is_own.then_some(bare)).collect()
}

/// Finds the value in the address to which the request was redirected, because the sample does not contain the redirect's
/// header fields.
fn in_address(response: &Response, request: &Request, value: &str) -> Option<ExtractorSource> {
    let location = response
        .header("location")
        .filter(|_| request.follow_redirects)?;
    let encoded = url::encode(value);
    let at = location
        .find(&encoded)
        .map(|at| (at, encoded.len()))
        .or_else(|| location.find(value).map(|at| (at, value.len())));
    let (at, length) = at?;
    let left = &location[..at];
    let left = &left[left.char_indices().rev().nth(20).map_or(0, |(at, _)| at)..];
    let left = left.rsplit("//").next().unwrap_or(left);
    let after = location[at + length..].chars().next();
    let pattern = format!("{}([^/?&#;]+)", escaped(left));
    (after.is_none_or(|c| "/?&#;".contains(c)) && !left.is_empty())
        .then_some(ExtractorSource::Address(pattern))
}

/// Escapes a literal text for a regular expression.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "\\.+*?()|[]{}^$/".contains(c) && c != '/' {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn in_header(response: &Response, value: &str) -> Option<ExtractorSource> {
    for (name, content) in &response.headers {
        let lower = name.to_ascii_lowercase();
        // JMeter follows redirects, so the sample contains only the last response's header fields.
        if lower == "location" || (lower == "set-cookie" && response.header("location").is_some()) {
            continue;
        }
        // HTTP/2 and proxies lower-case header names; the server may not when the plan calls it.
        let is_small = !name.contains(|c: char| c.is_ascii_uppercase());
        let any_case = if is_small { "(?i)" } else { "" };
        if content == value {
            return Some(match is_small {
                true => {
                    ExtractorSource::HeaderPattern(format!("{any_case}{}: (.+)", escaped(name)))
                }
                false => ExtractorSource::Header {
                    left: format!("{name}: "),
                },
            });
        }
        if let Some(at) = content.find(value) {
            let (left, right) = (&content[..at], content[at + value.len()..].chars().next());
            let end = right.map_or_else(|| "\\s".to_owned(), |c| escaped(&c.to_string()));
            return Some(ExtractorSource::HeaderPattern(format!(
                "{any_case}{}: {}([^{end}]+)",
                escaped(name),
                escaped(left)
            )));
        }
    }
    None
}

/// The first text between two delimiters.
pub fn between<'b>(left: &str, right: &str, body: &'b str) -> Option<&'b str> {
    Boundary::new(left, right).find_iter(body).next()
}

/// The shortest texts around the value whose first match is the value.
fn in_text(body: &str, value: &str) -> Option<ExtractorSource> {
    let at = body.find(value)?;
    let before = &body[..at];
    let after = &body[at + value.len()..];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    let right: String = after.chars().take_while(|c| *c != '\n').take(1).collect();
    let starts: Vec<usize> = before[line_start..]
        .char_indices()
        .map(|(at, _)| line_start + at)
        .collect();
    for start in starts.into_iter().rev().take(CONTEXT).skip(3) {
        let left = &before[start..];
        if left.contains("${") || right.is_empty() {
            continue;
        }
        if between(left, &right, body) == Some(value) {
            return Some(ExtractorSource::Boundary {
                left: left.to_owned(),
                right,
            });
        }
    }
    None
}
