//! Finds and replaces texts in names and values.

use drumfire_jmx::{Node, Prop, Props, Value};
use regex_automata::meta::Regex;
use regex_automata::util::syntax;
use regex_automata::{Input, Span};

use super::set::field;
use crate::refused::{PARAMETERS, Refused, no_element};
use crate::tree::{Id, Model, Piece, Step, step};

/// The most hits that one search returns.
pub const MOST_HITS: usize = 2_000;

/// Where a search looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Where {
    /// In the names of elements.
    pub names: bool,
    /// In the values of properties.
    pub values: bool,
}

/// A search.
#[derive(Debug, Clone)]
pub struct Query {
    regex: Regex,
    /// Where it looks.
    pub places: Where,
    /// Only in this element and below it.
    pub scope: Option<Id>,
    /// Only in elements of this class.
    pub class: Option<String>,
}

/// How the text of a search is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Reading {
    /// As a regular expression.
    pub regex: bool,
    /// Upper and lower case differ.
    pub case: bool,
    /// Whole words only.
    pub word: bool,
}

impl Query {
    /// A search for a text.
    ///
    /// # Errors
    /// The text is empty, or no regular expression.
    pub fn new(text: &str, reading: Reading, places: Where) -> Result<Query, Refused> {
        if text.is_empty() {
            return Err(Refused::new(PARAMETERS, "the text to find is empty"));
        }
        let pattern = if reading.regex {
            text.to_owned()
        } else {
            escaped(text)
        };
        let pattern = if reading.word {
            format!(r"\b(?:{pattern})\b")
        } else {
            pattern
        };
        let options = syntax::Config::new()
            .case_insensitive(!reading.case)
            .multi_line(true);
        let regex = Regex::builder()
            .syntax(options)
            .build(&pattern)
            .map_err(|error| {
                let why = error
                    .syntax_error()
                    .map(|error| error.to_string())
                    .unwrap_or_else(|| error.to_string());
                let why = why
                    .lines()
                    .last()
                    .unwrap_or_default()
                    .trim_start_matches("error: ");
                Refused::new(
                    PARAMETERS,
                    format!("`{text}` is no regular expression: {why}"),
                )
                .hint("the syntax is that of Rust's crate `regex`")
            })?;
        Ok(Query {
            regex,
            places,
            scope: None,
            class: None,
        })
    }
}

/// The characters that mean themselves, escaped for a regular expression.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for sign in text.chars() {
        if sign.is_ascii_punctuation() {
            out.push('\\');
        }
        out.push(sign);
    }
    out
}

/// A place that a search found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// The element.
    pub id: Id,
    /// The path of the property; `None` for the element's name.
    pub property: Option<String>,
    /// The whole text.
    pub before: String,
    /// Where it begins, as a byte offset in the text.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

/// A text in which a search looks.
struct Searched {
    at: usize,
    property: Option<String>,
    text: String,
}

/// The places that a search finds, in the order of the file, and whether there are more.
///
/// # Errors
/// The element of the scope is not there.
pub fn find(model: &Model, query: &Query) -> Result<(Vec<Hit>, bool), Refused> {
    let mut hits = Vec::new();
    let mut is_full = false;
    each_text(model, query, &mut |searched| {
        for span in query.regex.find_iter(searched.text.as_str()) {
            is_full |= hits.len() == MOST_HITS;
            if is_full {
                return;
            }
            hits.push(Hit {
                id: model.outline().entries[searched.at].id,
                property: searched.property.clone(),
                before: searched.text.clone(),
                start: span.start(),
                end: span.end(),
            });
        }
    })?;
    Ok((hits, is_full))
}

fn each_text(model: &Model, query: &Query, see: &mut dyn FnMut(Searched)) -> Result<(), Refused> {
    let outline = model.outline();
    let range = match query.scope {
        Some(id) => {
            let at = outline.index(id).ok_or_else(|| no_element(id))?;
            at..at + outline.entries[at].below + 1
        }
        None => 0..outline.entries.len(),
    };
    let mut at = 0;
    crate::tree::each(&model.tree().roots, &mut |node| {
        let here = at;
        at += 1;
        if range.contains(&here)
            && query
                .class
                .as_ref()
                .is_none_or(|class| node.class == class.as_str())
        {
            node_texts(node, here, query, see);
        }
    });
    Ok(())
}

fn node_texts(node: &Node, at: usize, query: &Query, see: &mut dyn FnMut(Searched)) {
    if query.places.names && query.regex.is_match(node.name.as_str()) {
        see(Searched {
            at,
            property: None,
            text: node.name.to_string(),
        });
    }
    if query.places.values {
        props(&node.props, "", &mut |path, prop| {
            let text = prop.value.as_str();
            if query.regex.is_match(text.as_ref()) {
                see(Searched {
                    at,
                    property: Some(path.to_owned()),
                    text: text.into_owned(),
                });
            }
        });
    }
}

/// Passes all simple properties with their paths.
pub fn props(own: &Props, above: &str, see: &mut dyn FnMut(&str, &Prop)) {
    for prop in own {
        if !prop.name.starts_with("TestElement.") {
            within(prop, &joined(above, &prop.name), see);
        }
    }
}

fn joined(above: &str, name: &str) -> String {
    if above.is_empty() {
        name.to_owned()
    } else {
        format!("{above}/{name}")
    }
}

fn within(prop: &Prop, path: &str, see: &mut dyn FnMut(&str, &Prop)) {
    match &prop.value {
        Value::Element(element) => props(&element.props, path, see),
        Value::List(items) | Value::Map(items) => {
            for (at, item) in items.iter().enumerate() {
                within(item, &format!("{path}/{at}"), see);
            }
        }
        Value::Object(_) | Value::Null => {}
        _ => see(path, prop),
    }
}

/// A text with the hits of a search replaced, except those that are skipped, which are counted over the whole plan.
fn replaced(
    query: &Query,
    text: &str,
    with: &str,
    is_regex: bool,
    keeps: &mut dyn FnMut() -> bool,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    let mut groups = query.regex.create_captures();
    let mut search_from = 0;
    while search_from <= text.len() {
        query
            .regex
            .search_captures(&Input::new(text).span(search_from..text.len()), &mut groups);
        let Some(hit) = groups.get_match() else { break };
        let Span { start, end } = hit.span();
        if !keeps() {
            out.push_str(&text[from..start]);
            if is_regex {
                groups.interpolate_string_into(text, with, &mut out);
            } else {
                out.push_str(with);
            }
            from = end;
        }
        // An empty hit is followed by the next character.
        search_from = if end > start {
            end
        } else {
            text[end..]
                .chars()
                .next()
                .map(|sign| end + sign.len_utf8())
                .unwrap_or(text.len() + 1)
        };
    }
    out.push_str(&text[from..]);
    out
}

/// A hit with the text after the replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Replaced {
    /// The hit.
    pub hit: Hit,
    /// The whole text after the replacement of this hit.
    pub after: String,
}

/// The hits with the texts that a replacement would give them.
///
/// # Errors
/// The element of the scope is not there.
pub fn preview(
    model: &Model,
    query: &Query,
    with: &str,
    is_regex: bool,
) -> Result<(Vec<Replaced>, bool), Refused> {
    let (hits, more) = find(model, query)?;
    let mut all = Vec::with_capacity(hits.len());
    let mut match_index = 0;
    for (at, hit) in hits.iter().enumerate() {
        let is_same = at > 0 && hits[at - 1].id == hit.id && hits[at - 1].property == hit.property;
        match_index = if is_same { match_index + 1 } else { 0 };
        let mut seen = 0;
        let after = replaced(query, &hit.before, with, is_regex, &mut || {
            seen += 1;
            seen - 1 != match_index
        });
        all.push(Replaced {
            hit: hit.clone(),
            after,
        });
    }
    Ok((all, more))
}

/// Replaces all hits of a search, except those whose numbers are skipped.
///
/// # Errors
/// The element of the scope is not there, or a property cannot hold the new text.
pub fn replace(
    model: &Model,
    query: &Query,
    with: &str,
    is_regex: bool,
    skip: &[usize],
) -> Result<Step, Refused> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut number = 0;
    let mut count = 0;
    let mut fault = None;
    each_text(model, query, &mut |searched| {
        let after = replaced(query, &searched.text, with, is_regex, &mut || {
            number += 1;
            let is_skipped = skip.contains(&(number - 1));
            count += usize::from(!is_skipped);
            is_skipped
        });
        if after == searched.text {
            return;
        }
        let node = model.node_at(searched.at);
        let replaced = match &searched.property {
            Some(property) => field(model.tree(), node, property, Some(&after)),
            None if after.trim().is_empty() => Err(Refused::unfit("an element needs a name")),
            None => {
                let splices = drumfire_jmx::set_name(model.tree(), node, &after);
                Ok(splices.into_iter().map(Piece::from).collect())
            }
        };
        match replaced {
            Ok(replaced) => pieces.extend(replaced),
            Err(refused) => fault = Some(refused.of(model.outline().entries[searched.at].id)),
        }
    })?;
    match fault {
        Some(refused) => Err(refused),
        None => Ok(step(format!("Replace {count} times"), model.text(), pieces)),
    }
}
