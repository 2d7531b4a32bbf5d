//! An extractor for a value, and the variable in its place where it is sent.

use drumfire_elements::{Role, items};
use drumfire_jmx::{Node, Props, Value};

use super::defaults::role;
use super::paste;
use super::search::props;
use super::set::field;
use super::structure::{Target, fits, movable, placed};
use crate::refused::{Refused, no_element};
use crate::tree::{Id, Model, Piece, Step, step};

/// A property of an element that holds a value which a response also holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Use {
    /// The element.
    pub id: Id,
    /// The path of the property.
    pub property: String,
    /// How often the value stands in it.
    pub count: usize,
    /// The text of the property.
    before: String,
}

/// The ways in which a value is written in a plan.
struct Spellings {
    /// Each with the expression that stands for it.
    all: Vec<(String, String)>,
}

impl Spellings {
    /// Those of a value, and of a variable in its place.
    fn of(value: &str, variable: &str) -> Spellings {
        let plain = (value.to_owned(), format!("${{{variable}}}"));
        let encoded = encoded(value);
        let mut all = vec![plain];
        // Nothing stands for an empty value, which would stand everywhere.
        all.retain(|(value, _)| !value.is_empty());
        if encoded != value {
            all.push((encoded, format!("${{__urlencode(${{{variable}}})}}")));
        }
        Spellings { all }
    }

    /// A text with the expressions in the places of the value, and how many there were.
    fn put(&self, text: &str) -> (String, usize) {
        let (mut out, mut count) = (String::with_capacity(text.len()), 0);
        let mut rest = 0;
        while rest < text.len() {
            let here = self.all.iter().find(|(value, _)| {
                text[rest..].starts_with(value.as_str())
                    && is_apart(text, rest, value.len())
                    && !is_name(text, rest, value.len())
            });
            if let Some((value, expression)) = here {
                out.push_str(expression);
                count += 1;
                rest += value.len();
            } else if let Some(sign) = text[rest..].chars().next() {
                out.push(sign);
                rest += sign.len_utf8();
            }
        }
        (out, count)
    }
}

/// A value as JMeter's `__urlencode` writes it.
fn encoded(value: &str) -> String {
    let mut out = String::with_capacity(value.len());
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'-' | b'*' | b'_' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}

/// Whether a part of a text is the name of a parameter, or of a field of JSON.
fn is_name(text: &str, at: usize, length: usize) -> bool {
    let (before, after) = (&text[..at], &text[at + length..]);
    let is_parameter =
        after.starts_with('=') && (before.is_empty() || before.ends_with(['?', '&']));
    let behind = after.strip_prefix('"').map(str::trim_start);
    is_parameter || before.ends_with('"') && behind.is_some_and(|rest| rest.starts_with(':'))
}

/// Whether a part of a text is not a part of a longer word or number.
fn is_apart(text: &str, at: usize, length: usize) -> bool {
    let joins = |inner: Option<char>, outer: Option<char>| {
        inner.is_some_and(char::is_alphanumeric) && outer.is_some_and(char::is_alphanumeric)
    };
    let (before, value, after) = (&text[..at], &text[at..at + length], &text[at + length..]);
    let bytes = before.as_bytes();
    // `%3D` ends in letters that belong to no word.
    let is_escape = bytes.len() >= 3
        && bytes[bytes.len() - 3] == b'%'
        && bytes[bytes.len() - 2..].iter().all(u8::is_ascii_hexdigit);
    (is_escape || !joins(value.chars().next(), before.chars().next_back()))
        && !joins(value.chars().next_back(), after.chars().next())
}

/// Calls `see` for the elements that send something after a sampler: the samplers behind it in its thread group, and elements that
/// act on samplers.
fn each_sender(model: &Model, sampler: Id, see: &mut dyn FnMut(Id, &Node)) -> Result<(), Refused> {
    let outline = model.outline();
    let sampler_at = outline.index(sampler).ok_or_else(|| no_element(sampler))?;
    let entries = &outline.entries;
    let above: Vec<usize> = outline.upwards(sampler_at).collect();
    let group = above
        .iter()
        .find(|at| role(model.node_at(**at)) == Some(Role::ThreadGroup));
    let group = group
        .map(|at| *at..*at + entries[*at].below + 1)
        .unwrap_or(0..entries.len());
    let within = sampler_at..sampler_at + entries[sampler_at].below + 1;
    let mut at = 0;
    crate::tree::each(&model.tree().roots, &mut |node| {
        let here = at;
        at += 1;
        let is_in_scope = || {
            let parent = entries[here].parent;
            group.contains(&here) || parent.is_some_and(|parent| above.contains(&parent))
        };
        let sends = match role(node) {
            _ if within.contains(&here) => false,
            Some(Role::Sampler) => here > sampler_at && group.contains(&here),
            Some(Role::Config | Role::PreProcessor) => is_in_scope(),
            _ => false,
        };
        if sends {
            see(entries[here].id, node);
        }
    });
    Ok(())
}

/// The properties that send a value after a sampler.
///
/// # Errors
/// The sampler is not there.
pub fn uses(model: &Model, sampler: Id, value: &str) -> Result<Vec<Use>, Refused> {
    let spellings = Spellings::of(value, "");
    let mut all = Vec::new();
    each_sender(model, sampler, &mut |id, node| {
        props(&node.props, "", &mut |path, prop| {
            let before = prop.value.as_str();
            let (_, count) = spellings.put(&before);
            let is_name = NAMES.iter().any(|name| path.ends_with(name));
            if count > 0 && !is_name {
                all.push(Use {
                    id,
                    property: path.to_owned(),
                    count,
                    before: before.into_owned(),
                });
            }
        });
    })?;
    Ok(all)
}

/// The values that are sent after a sampler under a name, the most frequent one first: those of parameters, and of fields of JSON
/// and forms. A recording holds the values of its day, which today's responses lack.
///
/// # Errors
/// The sampler is not there.
pub fn sent_as(model: &Model, sampler: Id, name: &str) -> Result<Vec<String>, Refused> {
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut count = |value: &str| {
        if value.is_empty() || value.contains("${") {
            return;
        }
        match counts.iter_mut().find(|(known, _)| known == value) {
            Some((_, count)) => *count += 1,
            None => counts.push((value.to_owned(), 1)),
        }
    };
    each_sender(model, sampler, &mut |_, node| {
        arguments(&node.props, &mut |argument, value| {
            if argument.eq_ignore_ascii_case(name) {
                count(value);
            }
        });
        props(&node.props, "", &mut |_, prop| {
            in_text(&prop.value.as_str(), name, &mut count);
        });
    })?;
    // The order of the file decides between equals.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    Ok(counts.into_iter().map(|(value, _)| value).collect())
}

/// The properties with the names of what is sent.
const NAMES: [&str; 2] = [items::NAME.name, items::HEADER_NAME.name];
/// The properties with the values, in the same order.
const VALUES: [&str; 2] = [items::VALUE.name, items::HEADER_VALUE.name];

/// The names and values of the arguments and header fields in properties.
fn arguments(own: &Props, see: &mut dyn FnMut(&str, &str)) {
    for (name, value) in NAMES.into_iter().zip(VALUES) {
        if own.has(name) {
            see(&own.str(name), &own.str(value));
        }
    }
    for prop in own {
        match &prop.value {
            Value::Element(element) => arguments(&element.props, see),
            Value::List(items) => {
                let elements = items.iter().filter_map(|item| match &item.value {
                    Value::Element(element) => Some(&element.props),
                    _ => None,
                });
                elements.for_each(|props| arguments(props, see));
            }
            _ => {}
        }
    }
}

/// The values behind `NAME=` and `"NAME":` in a text.
fn in_text(text: &str, name: &str, see: &mut dyn FnMut(&str)) {
    let lower = text.to_ascii_lowercase();
    let name = name.to_ascii_lowercase();
    for (at, _) in lower.match_indices(&name) {
        let rest = &text[at + name.len()..];
        let is_quoted = text[..at].ends_with('"') && rest.starts_with('"');
        let value = match is_quoted {
            true => rest[1..]
                .trim_start()
                .strip_prefix(':')
                .map(str::trim_start),
            false if is_apart(text, at, name.len()) => rest.strip_prefix('='),
            false => None,
        };
        let Some(value) = value else { continue };
        let (value, ends) = match value.strip_prefix('"') {
            Some(inner) => (inner, &['"'][..]),
            None => (
                value,
                &['&', ';', '#', ',', '}', ']', '"', ' ', '\n', '\r'][..],
            ),
        };
        see(&value[..value.find(ends).unwrap_or(value.len())]);
    }
}

/// An extractor in a sampler, given as text of a plan, and its variable in the places of a value.
///
/// # Errors
/// The sampler is not there, the text is no element, or a property cannot hold a variable.
pub fn put(
    model: &Model,
    sampler: Id,
    extractor: &str,
    variable: &str,
    value: &str,
) -> Result<Step, Refused> {
    movable(model)?;
    let target = Target {
        parent: sampler,
        index: usize::MAX,
    };
    let (branches, nodes): (Vec<_>, Vec<_>) =
        paste::branches(model, extractor)?.into_iter().unzip();
    for node in &nodes {
        fits(model, sampler, node)?;
    }
    let mut pieces: Vec<Piece> = vec![placed(model, target, &branches, &[])?];
    let spellings = Spellings::of(value, variable);
    let mut count = 0;
    for one in uses(model, sampler, value)? {
        let node = model.node(one.id).ok_or_else(|| no_element(one.id))?;
        let (after, _) = spellings.put(&one.before);
        let splices = field(model.tree(), node, &one.property, Some(&after));
        pieces.extend(splices.map_err(|refused| refused.of(one.id))?);
        count += one.count;
    }
    let label = match count {
        1 => format!("Extract {variable}, sent once"),
        _ => format!("Extract {variable}, sent {count} times"),
    };
    Ok(step(label, model.text(), pieces))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_replaced_where_it_stands_alone() {
        let put = |value: &str, text: &str| Spellings::of(value, "v").put(text);
        let once = |text: &str| (text.to_owned(), 1);
        assert_eq!(put("a1", "/x?t=a1&u=a12"), once("/x?t=${v}&u=a12"));
        assert_eq!(put("a1", "Bearer a1"), once("Bearer ${v}"));
        assert_eq!(put("a1", "t%3Da1"), once("t%3D${v}"));
        assert_eq!(put("a1", "za1 é"), ("za1 é".to_owned(), 0));
        let twice = "${v}${v}".to_owned();
        assert_eq!(put("/", "//"), (twice, 2));
        assert_eq!(put("", "a1"), ("a1".to_owned(), 0));
        assert_eq!(put("shop", "/x?shop=shop"), once("/x?shop=${v}"));
        assert_eq!(put("id", r#"{"id" : "id"}"#), once(r#"{"id" : "${v}"}"#));
        let both = "a=${v}&b=${__urlencode(${v})}".to_owned();
        assert_eq!(put("é", "éé é"), ("éé ${v}".to_owned(), 1));
        assert_eq!(put("x/y z", "a=x/y z&b=x%2Fy+z"), (both, 2));
    }

    #[test]
    fn values_are_found_behind_their_name() {
        let found = |text: &str| {
            let mut found = Vec::new();
            in_text(text, "sid", &mut |value| found.push(value.to_owned()));
            found
        };
        assert_eq!(found("/x?sid=a1&aside=2&SID=b2#t"), ["a1", "b2"]);
        assert_eq!(found(r#"{"sid": "a b", "n": {"sid":7}}"#), ["a b", "7"]);
        assert_eq!(found("sid"), [""; 0]);
        assert_eq!(found("ésid=1 sid = 2 sid="), [""]);
    }
}
