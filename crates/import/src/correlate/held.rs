//! Everything in a response that a client may read and send back.
//!
//! | where | names | extractor |
//! |---|---|---|
//! | leaves of JSON | the key; for `id`, the key around it and the words of the request's path | JSON |
//! | hidden fields, `data-…`, `<meta>` and other attributes | the field; the attribute | CSS |
//! | fields of the header, cookies, of each redirect, too | the field; the cookie | regular expression |
//! | addresses of redirects | the segment before; the parameter | regular expression |
//! | words in the body, also within scripts, XML and JSON in JSON | the word before | boundaries, regular expression |
//! | JSON in base64, as in the claims of a JWT | the key | of the text in base64; the plan decodes it |

use drumfire_query::page::{self, Tag};
use serde_json::Value;

use super::relation;
use super::sent::{base64_bytes, json_of, labelled};
use super::worth::is_slug;
use crate::exchange::{Request, Response};

/// A value in a response.
#[derive(Debug, Clone, Copy)]
pub struct Held<'a> {
    pub text: &'a str,
    pub place: Place<'a>,
    /// The keys of JSON that lead to it, or its name alone.
    keys: &'a [&'a str],
    /// The word before it, as in a path.
    is_after: bool,
    path: &'a str,
}

/// Where a response holds a value.
#[derive(Debug, Clone, Copy)]
pub enum Place<'a> {
    /// A JSONPath.
    Json(&'a str),
    Attribute {
        tags: &'a [Tag],
        tag: usize,
        attribute: &'a str,
    },
    /// A field of the header of the response, or of a redirect that led to it.
    Header(HeaderPlace<'a>),
    /// The offset of a word in the body.
    Word(usize),
    /// The offset in this longer text of the body.
    Within(&'a str, usize),
    /// A claim in this text of base64.
    Claim(&'a str),
}

/// A value in a field of a header.
#[derive(Debug, Clone, Copy)]
pub struct HeaderPlace<'a> {
    /// The index of the redirect; `None` for the response itself.
    pub hop: Option<usize>,
    pub field: &'a str,
    /// The text of the field before the value.
    pub before: &'a str,
    /// The characters that end the value; empty for the end of the line.
    pub ends: &'static str,
}

impl Held<'_> {
    /// The names under which the value counts.
    pub fn names(&self) -> Vec<String> {
        match (self.is_after, self.keys) {
            (true, [word]) => relation::after(word, self.text),
            _ => relation::of_leaf(self.keys, self.text, self.path),
        }
    }

    /// Whether its name says that all visitors have it.
    pub fn is_constant(&self) -> bool {
        self.keys
            .last()
            .is_some_and(|key| relation::is_constant(key))
    }
}

/// Receives values; returns whether it wants no more.
type See<'s> = dyn FnMut(Held<'_>) -> bool + 's;

/// The largest body that is searched.
const LARGEST: usize = 4 << 20;

/// The part of a body that is searched.
pub fn searched(response: &Response) -> &str {
    let body = response.body.as_deref();
    body.filter(|body| body.len() <= LARGEST).unwrap_or("")
}

pub fn is_markup(body: &str, response: &Response) -> bool {
    response.mime.contains("html") || response.mime.is_empty() && body.trim_start().starts_with('<')
}

/// Calls `see` for each value of a response until it has seen enough; returns whether it has.
pub fn each(response: &Response, request: &Request, see: &mut See<'_>) -> bool {
    let body = searched(response);
    let path = request.address.bare_path();
    if let Some(json) = json_of(body) {
        let mut leaves = Leaves {
            path: String::from("$"),
            request: &path,
            see,
        };
        if leaves.each(&mut Vec::new(), &json) {
            return true;
        }
    } else if is_markup(body, response) && in_tags(&page::tags(body), &path, see) {
        return true;
    }
    if in_headers(response, &path, see) {
        return true;
    }
    let mut is_enough = false;
    labelled(body, &mut |key, text, at| {
        let held = Held {
            text,
            place: Place::Word(at),
            keys: &[key],
            is_after: false,
            path: "",
        };
        is_enough = is_enough || see(held);
    });
    if is_enough {
        return true;
    }
    let mut texts: Vec<&str> = vec![body];
    texts.extend(response.headers.iter().map(|(_, value)| value.as_str()));
    texts.into_iter().any(|text| in_claims(text, see))
}

struct Leaves<'s, 'c> {
    path: String,
    request: &'s str,
    see: &'s mut See<'c>,
}

impl Leaves<'_, '_> {
    fn each<'j>(&mut self, keys: &mut Vec<&'j str>, json: &'j Value) -> bool {
        let before = self.path.len();
        match json {
            Value::Object(fields) => {
                for (name, value) in fields {
                    let is_plain = !name.is_empty()
                        && name
                            .bytes()
                            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
                    if is_plain && !name.starts_with(|c: char| c.is_ascii_digit()) {
                        self.path.push('.');
                        self.path.push_str(name);
                    } else {
                        let name = name.replace('\\', "\\\\").replace('\'', "\\'");
                        self.path.push_str(&format!("['{name}']"));
                    }
                    keys.push(name);
                    let is_enough = self.each(keys, value);
                    keys.pop();
                    self.path.truncate(before);
                    if is_enough {
                        return true;
                    }
                }
                false
            }
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    self.path.push_str(&format!("[{place}]"));
                    let is_enough = self.each(keys, item);
                    self.path.truncate(before);
                    if is_enough {
                        return true;
                    }
                }
                false
            }
            Value::String(text) => self.leaf(keys, text),
            Value::Number(number) => self.leaf(keys, &number.to_string()),
            Value::Bool(_) | Value::Null => false,
        }
    }

    fn leaf(&mut self, keys: &[&str], text: &str) -> bool {
        let held = Held {
            text,
            place: Place::Json(&self.path),
            keys,
            is_after: false,
            path: self.request,
        };
        let is_address = text.starts_with('/') || text.contains("://");
        (self.see)(held)
            || is_address
                && in_address(text, self.request, &mut |word, segment, at| {
                    (self.see)(within(text, &word, segment, at))
                })
    }
}

/// Attributes that say how an element looks or what it is, not what it holds.
const LOOKS: [&str; 8] = [
    "id",
    "name",
    "class",
    "style",
    "for",
    "type",
    "integrity",
    "nonce",
];

fn in_tags(tags: &[Tag], path: &str, see: &mut See<'_>) -> bool {
    for (number, tag) in tags.iter().enumerate() {
        if ["script", "link", "style"].contains(&tag.name.as_str()) {
            continue;
        }
        let tag_name = tag
            .attribute("name")
            .or_else(|| tag.attribute("property"))
            .or_else(|| tag.attribute("itemprop"));
        for (attribute, text) in &tag.attributes {
            if LOOKS.contains(&attribute.as_str()) || text.is_empty() {
                continue;
            }
            let is_value = attribute == "value" || attribute == "content";
            let key = match (is_value, tag_name) {
                (true, Some(tag_name)) => tag_name,
                (true, None) => "",
                (false, _) => attribute.strip_prefix("data-").unwrap_or(attribute),
            };
            let place = Place::Attribute {
                tags,
                tag: number,
                attribute,
            };
            let held = Held {
                text,
                place,
                keys: &[key],
                is_after: false,
                path: "",
            };
            if see(held) {
                return true;
            }
            // A short number in a link is one of a list, such as a page or a product.
            let is_link = match attribute.as_str() {
                "action" | "formaction" => false,
                "href" | "data-href" | "data-url" => true,
                _ => continue,
            };
            let counts =
                |segment: &str| !is_link || segment.len() >= SHORTEST_IN_LINKS && !is_slug(segment);
            if in_address(text, path, &mut |word, segment, at| {
                counts(segment) && see(within(text, &word, segment, at))
            }) {
                return true;
            }
        }
    }
    false
}

/// The shortest segment of a link that counts by the word before it.
const SHORTEST_IN_LINKS: usize = 4;

/// A part of an address in the body.
fn within<'a>(whole: &'a str, word: &'a &'a str, text: &'a str, at: usize) -> Held<'a> {
    Held {
        text,
        place: Place::Within(whole, at),
        keys: std::slice::from_ref(word),
        is_after: true,
        path: "",
    }
}

/// Calls `see` for the segments and parameters of an address, with the word before each and its offset.
fn in_address(address: &str, path: &str, see: &mut dyn FnMut(&str, &str, usize) -> bool) -> bool {
    let start = address
        .find("://")
        .map(|at| {
            let host = at + 3;
            address[host..]
                .find('/')
                .map(|at| host + at)
                .unwrap_or(address.len())
        })
        .unwrap_or(0);
    let mut before = path
        .rsplit('/')
        .find(|segment| !segment.is_empty())
        .unwrap_or("");
    if address[start..].starts_with('/') {
        before = "";
    }
    let mut at = start;
    for word in address[start..].split(['/', '?', '&', '=', ';', '#']) {
        if !word.is_empty() {
            if see(before, word, at) {
                return true;
            }
            before = word;
        }
        at += word.len() + 1;
    }
    false
}

fn in_headers(response: &Response, path: &str, see: &mut See<'_>) -> bool {
    let fields = response.headers.iter().map(|field| (None, field));
    let hops = response
        .hops
        .iter()
        .enumerate()
        .flat_map(|(hop, head)| head.headers.iter().map(move |field| (Some(hop), field)));
    for (hop, (field, value)) in fields.chain(hops) {
        let lower = field.to_ascii_lowercase();
        let at = |before, ends| HeaderPlace {
            hop,
            field: field.as_str(),
            before,
            ends,
        };
        let is_enough = match lower.as_str() {
            "set-cookie" => {
                let (name, rest) = value.split_once('=').unwrap_or(("", value));
                let text = rest.split(';').next().unwrap_or("").trim();
                let start = value.len() - rest.len();
                let quoted = text
                    .strip_prefix('"')
                    .and_then(|text| text.strip_suffix('"'));
                match quoted {
                    Some(bare) => see(in_field(at(&value[..=start], "\""), bare, &[name], false)),
                    None => see(in_field(at(&value[..start], ";"), text, &[name], false)),
                }
            }
            "location" | "content-location" | "refresh" | "link" => {
                in_address(value, path, &mut |word, text, start| {
                    see(in_field(at(&value[..start], "/?&#;="), text, &[word], true))
                })
            }
            "etag" => see(in_field(at("", ""), value, &["etag"], false)),
            "last-modified" => see(in_field(at("", ""), value, &["lastmodified"], false)),
            "date" | "expires" | "content-length" | "age" | "content-type" | "server" => false,
            _ => {
                let token = value.rsplit(' ').next().unwrap_or(value);
                let before = &value[..value.len() - token.len()];
                see(in_field(at("", ""), value, &[field], false))
                    || (token != value && see(in_field(at(before, ""), token, &[field], false)))
            }
        };
        if is_enough {
            return true;
        }
    }
    false
}

fn in_field<'a>(
    place: HeaderPlace<'a>,
    text: &'a str,
    keys: &'a [&'a str],
    is_after: bool,
) -> Held<'a> {
    Held {
        text,
        place: Place::Header(place),
        keys,
        is_after,
        path: "",
    }
}

/// Calls `see` for the values of JSON that a text holds in base64. Such JSON begins with `eyJ`.
fn in_claims(text: &str, see: &mut See<'_>) -> bool {
    let mut from = 0;
    while let Some(at) = text[from..].find("eyJ").map(|at| from + at) {
        let run = &text[at..];
        let run = &run[..run.find(|c| !is_base64(c)).unwrap_or(run.len())];
        from = at + run.len().max(3);
        let starts_word = !text[..at].ends_with(|c: char| c.is_ascii_alphanumeric());
        let decoded = base64_bytes(run).filter(|_| starts_word && run.len() >= 16);
        let json = decoded.and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok());
        let Some(json) = json else { continue };
        let mut is_enough = false;
        let mut claim = |held: Held<'_>| {
            let held = Held {
                place: Place::Claim(run),
                ..held
            };
            is_enough = is_enough || see(held);
            is_enough
        };
        let mut leaves = Leaves {
            path: String::new(),
            request: "",
            see: &mut claim,
        };
        leaves.each(&mut Vec::new(), &json);
        if is_enough {
            return true;
        }
    }
    false
}

fn is_base64(c: char) -> bool {
    c.is_ascii_alphanumeric() || "+/=-_".contains(c)
}

impl<'a> Held<'a> {
    /// The last key or name.
    pub fn key(&self) -> &'a str {
        self.keys.last().copied().unwrap_or("")
    }
}
