//! Collects everything in a request that could have come from an earlier response.
//!
//! | where | encodings that are opened |
//! |---|---|
//! | segments and parameters of the path, the query | percent |
//! | header fields | quotes, `Bearer …` |
//! | fields of forms and of multipart bodies | percent |
//! | leaves of JSON, at any depth | escapes of JSON |
//! | any of these | JSON, forms and addresses within the text; words of it; base64 of such a text |
//! | other bodies | words, with the name before them |

use std::collections::HashMap;

use base64::Engine as _;
use serde_json::Value;

use super::relation;
use super::worth::{is_deployed, is_numbered, is_telling};
use crate::exchange::{FormPart, Request, RequestBody};
use crate::text::PlanText;
use crate::{curl, url};

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
    /// The names under which it counts.
    pub names: Vec<String>,
    /// The word that stands before it within a longer text.
    pub label: Option<String>,
    /// The index of the longer value in the list of which this is a part.
    pub part_of: Option<usize>,
    /// Whether a header field has it.
    pub is_header: bool,
    /// Whether the address has it.
    pub in_address: bool,
    /// The text that the value has in base64.
    pub decoded: Option<String>,
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
            names: Vec::new(),
            label: None,
            part_of: None,
            is_header: false,
            in_address: false,
            decoded: None,
        }
    }

    /// A value that a user typed.
    pub(super) fn typed(name: &str, value: &str) -> Sent {
        Sent {
            field: name.to_owned(),
            is_field: true,
            ..Sent::bare(name.to_owned(), value.to_owned())
        }
    }

    /// A path segment, named after the segment before it.
    pub(super) fn segment(before: &str, value: &str, number: usize) -> Sent {
        let name = if before.is_empty() { "path" } else { before };
        Sent {
            segment: Some(number),
            names: relation::after(before, value),
            ..Sent::bare(singular(name), value.to_owned())
        }
    }

    /// Whether the value counts wherever it is sent.
    pub fn is_telling(&self) -> bool {
        is_telling(&self.value) && !self.is_constant()
    }

    /// Whether a value that is not distinctive may count by its name: a number, a secret, or a field of the protocol.
    pub fn counts_by_name(&self) -> bool {
        is_numbered(&self.value)
            || relation::is_secret(self.label.as_ref().unwrap_or(&self.field))
            || self
                .names
                .iter()
                .any(|name| name == "etag" || name == "lastmodified")
    }

    /// Whether its name says that it stays as it is.
    pub fn is_constant(&self) -> bool {
        relation::is_constant(self.label.as_ref().unwrap_or(&self.field))
    }
}

/// Header fields whose values the browser generates.
const OWN_FIELDS: [&str; 14] = [
    "accept",
    "accept-language",
    "accept-charset",
    "accept-encoding",
    "content-type",
    "content-encoding",
    "user-agent",
    "referer",
    "origin",
    "x-requested-with",
    "range",
    "date",
    "purpose",
    "from",
];

/// The literal values of a request, in the order in which they are sent. The parts of a longer value follow it.
pub fn values(request: &Request) -> Vec<Sent> {
    let mut sent = Found {
        path: request.address.bare_path(),
        ..Found::default()
    };
    sent.address(&request.address.path);
    for (name, value) in &request.headers {
        if let (Some(name), Some(value)) = (name.literal(), value.literal()) {
            sent.header(name, value);
        }
    }
    sent.body(&request.body);
    sent.all
}

/// The values within a text that base64 hides.
pub fn within(text: &str) -> Vec<Sent> {
    let mut sent = Found::default();
    match json_of(text) {
        Some(json) => sent.leaves(&mut Vec::new(), &json, Depth::Inside(None)),
        None => sent.parts(text, "value", None),
    }
    sent.all
}

/// The most parts of one text that are searched for.
const MOST_PARTS: usize = 60;
/// The longest text whose words are searched for.
const LONGEST: usize = 20_000;

/// Where leaves of JSON stand.
#[derive(Clone, Copy)]
enum Depth {
    /// In the body itself.
    Body,
    /// Within the text of this value.
    Inside(Option<usize>),
}

#[derive(Default)]
struct Found {
    path: String,
    all: Vec<Sent>,
    seen: HashMap<(String, String, String, Option<usize>, bool), usize>,
}

impl Found {
    /// Adds a value and returns its index.
    fn push(&mut self, sent: Sent) -> usize {
        let key = (
            sent.field.clone(),
            sent.label.clone().unwrap_or_else(|| sent.name.clone()),
            sent.value.clone(),
            sent.segment,
            sent.is_header,
        );
        let next = self.all.len();
        let index = *self.seen.entry(key).or_insert(next);
        if index == next {
            self.all.push(sent);
        }
        index
    }

    fn address(&mut self, path: &PlanText) {
        let mut number = 0;
        let mut before = String::new();
        for literal in path.literals() {
            let (path, query) = if literal.starts_with('&') {
                ("", literal)
            } else {
                literal.split_once('?').unwrap_or((literal, ""))
            };
            for (at, segment) in path.split('/').enumerate() {
                number += usize::from(at > 0);
                if !segment.is_empty() {
                    self.segment(&before, segment, number);
                    segment.clone_into(&mut before);
                }
            }
            for parameter in query.split('&').filter(|parameter| !parameter.is_empty()) {
                let (name, value) = parameter.split_once('=').unwrap_or(("", parameter));
                self.field(&url::decode(name), &url::decode(value), false);
            }
        }
        self.all.iter_mut().for_each(|sent| sent.in_address = true);
    }

    /// A segment, and its parameters such as `;jsessionid=…`.
    fn segment(&mut self, before: &str, segment: &str, number: usize) {
        let mut parts = segment.split(';');
        let main = decoded(parts.next().unwrap_or(""));
        if is_telling(&main) && !relation::is_constant(before) {
            let mut sent = Sent::bare(singular(before), main);
            sent.names = relation::after(before, &sent.value);
            self.push(sent);
        } else if is_numbered(&main) && main == segment {
            let sent = Sent::segment(before, &main, number);
            if !sent.names.is_empty() {
                self.push(sent);
            }
        } else {
            self.parts(&main, before, None);
        }
        for parameter in parts {
            let (name, value) = parameter.split_once('=').unwrap_or(("id", parameter));
            if is_telling(value) {
                self.push(Sent::bare(name.to_owned(), decoded(value)));
            }
        }
    }

    fn header(&mut self, name: &str, value: &str) {
        let lower = name.to_ascii_lowercase();
        if OWN_FIELDS.contains(&lower.as_str()) || value.is_empty() {
            return;
        }
        let wish = match lower.as_str() {
            "authorization" => "token".to_owned(),
            "if-match" => "etag".to_owned(),
            _ => lower.strip_prefix("x-").unwrap_or(&lower).to_owned(),
        };
        let names = match lower.as_str() {
            "if-match" | "if-none-match" => vec!["etag".to_owned()],
            "if-unmodified-since" | "if-modified-since" => vec!["lastmodified".to_owned()],
            _ => relation::of_field(name, value),
        };
        let whole = Sent {
            names,
            field: name.to_owned(),
            is_header: true,
            ..Sent::bare(wish.clone(), value.to_owned())
        };
        let words: Vec<&str> = value.split(' ').collect();
        let token = match words.as_slice() {
            // A scheme and its credentials.
            [scheme, token] if scheme.bytes().all(|byte| byte.is_ascii_alphabetic()) => token,
            _ => value,
        };
        let index = self.push(Sent {
            value: token.to_owned(),
            ..whole
        });
        self.open(token, &wish, index);
    }

    /// A field, and what its value holds.
    fn field(&mut self, name: &str, value: &str, is_number: bool) {
        let names = relation::of_leaf(&[name], value, &self.path);
        self.named(name, value, is_number, names);
    }

    fn named(&mut self, name: &str, value: &str, is_number: bool, names: Vec<String>) {
        if value.is_empty() {
            return;
        }
        let wish = if name.is_empty() { "value" } else { name };
        let index = self.push(Sent {
            field: name.to_owned(),
            is_field: true,
            is_number,
            names,
            ..Sent::bare(wish.to_owned(), value.to_owned())
        });
        self.open(value, wish, index);
    }

    /// Looks into the text of a value.
    fn open(&mut self, value: &str, name: &str, place: usize) {
        if let Some(json) = json_of(value) {
            self.leaves(&mut Vec::new(), &json, Depth::Inside(Some(place)));
            return;
        }
        if let Some(text) = base64_text(value) {
            if let Some(sent) = self.all.get_mut(place) {
                sent.decoded = Some(text);
            }
            return;
        }
        self.parts(value, name, Some(place));
    }

    /// The words of a text: distinctive ones, and short ones that follow a word.
    fn parts(&mut self, text: &str, name: &str, part_of: Option<usize>) {
        if text.len() > LONGEST || is_deployed(text) {
            return;
        }
        let plain = decoded(text);
        if plain != text {
            self.parts(&plain, name, part_of);
            return;
        }
        let mut count = 0;
        let mut before = "";
        for word in words(text) {
            if word.is_empty() || count >= MOST_PARTS {
                continue;
            }
            let label = if before.is_empty() { name } else { before };
            let part = |value: &str| Sent {
                part_of,
                ..Sent::bare(label.to_owned(), decoded(value))
            };
            if word != text && is_telling(word) && !relation::is_constant(label) {
                self.push(part(word));
                count += 1;
            } else if word != text && is_numbered(word) && !before.is_empty() {
                let names = match relation::words(before).last() {
                    Some(_) => relation::after(before, word),
                    None => Vec::new(),
                };
                if !names.is_empty() {
                    self.push(Sent {
                        names,
                        label: Some(before.to_owned()),
                        ..part(word)
                    });
                    count += 1;
                }
            }
            // A prefix that the client adds: `cart_8f3e2d1c9b7a`. UUIDs are no such words.
            let is_uuid = word
                .bytes()
                .all(|byte| byte.is_ascii_hexdigit() || byte == b'-');
            for piece in word.split(['_', '.', '-', '~']).filter(|_| !is_uuid) {
                if piece != word && piece.len() >= 8 && is_telling(piece) && count < MOST_PARTS {
                    self.push(part(piece));
                    count += 1;
                }
            }
            before = word;
        }
    }

    fn body(&mut self, body: &RequestBody) {
        match body {
            RequestBody::Form(fields) => {
                for (name, value) in fields {
                    if let (Some(name), Some(value)) = (name.literal(), value.literal()) {
                        self.field(name, value, false);
                    }
                }
            }
            RequestBody::Multipart(parts) => {
                for part in parts {
                    if let FormPart::Field { name, value, .. } = part
                        && let (Some(name), Some(value)) = (name.literal(), value.literal())
                    {
                        self.field(name, value, false);
                    }
                }
            }
            RequestBody::Raw(text) => self.raw(text),
            RequestBody::None | RequestBody::File { .. } => {}
        }
    }

    /// Reads JSON leaf by leaf, and any other text as words with the names before them. If the body already contains variables, a
    /// number stands in for each while it is parsed.
    fn raw(&mut self, text: &PlanText) {
        let whole = match text.literal() {
            Some(literal) => literal.to_owned(),
            None => text.literals().collect::<Vec<_>>().join("0"),
        };
        if let Ok(json) = serde_json::from_str::<Value>(&whole) {
            self.leaves(&mut Vec::new(), &json, Depth::Body);
            return;
        }
        if let Some(fields) = curl::form_fields(&whole) {
            for (name, value) in fields {
                if let (Some(name), Some(value)) = (name.literal(), value.literal()) {
                    self.field(name, value, false);
                }
            }
            return;
        }
        labelled(&whole, &mut |key, value, _| {
            let names = relation::of_field(key, value);
            if is_telling(value) && !relation::is_constant(key) {
                self.push(Sent {
                    names,
                    ..Sent::bare(key.to_owned(), value.to_owned())
                });
            } else if is_numbered(value) && !names.is_empty() {
                self.push(Sent {
                    names,
                    label: Some(key.to_owned()),
                    ..Sent::bare(key.to_owned(), value.to_owned())
                });
            }
        });
        self.parts(&whole, "value", None);
    }

    fn leaves<'j>(&mut self, keys: &mut Vec<&'j str>, value: &'j Value, depth: Depth) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    keys.push(name);
                    self.leaves(keys, value, depth);
                    keys.pop();
                }
            }
            Value::Array(items) => {
                for item in items {
                    self.leaves(keys, item, depth);
                }
            }
            Value::String(text) => self.leaf(keys, text, false, depth),
            Value::Number(number) => self.leaf(keys, &number.to_string(), true, depth),
            Value::Bool(_) | Value::Null => {}
        }
    }

    fn leaf(&mut self, keys: &[&str], value: &str, is_number: bool, depth: Depth) {
        let key = keys.last().copied().unwrap_or("");
        let names = relation::of_leaf(keys, value, &self.path);
        match depth {
            Depth::Body => self.named(key, value, is_number, names),
            Depth::Inside(part_of) if !value.is_empty() => {
                let name = if key.is_empty() { "value" } else { key };
                let index = self.push(Sent {
                    names,
                    label: Some(key.to_owned()),
                    part_of,
                    is_number,
                    ..Sent::bare(name.to_owned(), value.to_owned())
                });
                self.parts(value, name, Some(part_of.unwrap_or(index)));
            }
            Depth::Inside(_) => {}
        }
    }
}

/// The words of a text. Base64 is one word, although `+`, `/` and `=` stand between other words.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let runs = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.~+/=".contains(c));
    runs.flat_map(move |run| {
        let is_whole = is_base64_run(run);
        run.split(move |c: char| !is_whole && "+/=".contains(c))
    })
}

/// Whether a run of characters is Base64 rather than several words.
fn is_base64_run(run: &str) -> bool {
    let has_plus = run
        .find('+')
        .is_some_and(|at| at > 0 && run[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric()));
    // A name of a field stands before a value; padding does not.
    let has_padding_only = run
        .match_indices('=')
        .all(|(at, _)| !run[at + 1..].starts_with(|c: char| c.is_ascii_alphanumeric()));
    run.len() >= 20 && has_plus && has_padding_only && !run.contains('.') && is_telling(run)
}

fn decoded(text: &str) -> String {
    percent_encoding::percent_decode_str(text)
        .decode_utf8_lossy()
        .into_owned()
}

/// A text as an object or a list of JSON, if it is one.
pub(super) fn json_of(text: &str) -> Option<Value> {
    if text.trim_start().starts_with(['{', '[']) {
        serde_json::from_str(text.trim()).ok()
    } else {
        None
    }
}

/// The text that a value has in base64: JSON, or words with something between them.
fn base64_text(value: &str) -> Option<String> {
    let is_long = value.len() >= 12;
    if !is_long || !value.bytes().all(is_base64) {
        return None;
    }
    let bytes = base64_bytes(value)?;
    let text = String::from_utf8(bytes).ok()?;
    let is_text = text.chars().all(|c| !c.is_control() || c == '\n')
        && (text.contains(|c: char| ":={/,;|".contains(c)) || is_telling(&text));
    is_text.then_some(text)
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/=-_".contains(&byte)
}

/// The bytes of either alphabet of base64, with or without padding.
pub(super) fn base64_bytes(value: &str) -> Option<Vec<u8>> {
    let standard = value
        .trim_end_matches('=')
        .replace('-', "+")
        .replace('_', "/");
    base64::prelude::BASE64_STANDARD_NO_PAD
        .decode(standard)
        .ok()
}

/// Calls `see` for each word in a text that has a name before it, with the name, the word and its offset: `"cartId": 7`,
/// `token=abc`, `<sid>abc</sid>`.
pub(super) fn labelled(text: &str, see: &mut dyn FnMut(&str, &str, usize)) {
    let bytes = text.as_bytes();
    let mut key = (0, 0);
    let mut at = 0;
    while at < bytes.len() {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len()
            && (is_word(bytes[at])
                || (b".~".contains(&bytes[at])
                    && bytes.get(at + 1).is_some_and(|next| is_word(*next))))
        {
            at += 1;
        }
        let between = &bytes[key.1..start];
        let links = between.len() <= 8
            && between.iter().all(|byte| b"\"'\\:=># ([".contains(byte))
            && between.iter().any(|byte| b":=>#".contains(byte));
        if links && key.1 > key.0 {
            see(&text[key.0..key.1], &text[start..at], start);
        }
        key = (start, at);
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_".contains(&byte)
}

/// The singular of a path segment: in `carts/17`, 17 is a `cart_id`.
fn singular(name: &str) -> String {
    let name = name.trim_end_matches(".html");
    let name = if name.is_empty() { "path" } else { name };
    let base = name.strip_suffix('s').unwrap_or(name);
    if base.ends_with("id") {
        base.to_owned()
    } else {
        format!("{base}_id")
    }
}
