//! Entities and default attributes of a document's own document type. External ones are not read.
//!
//! A document that declares any is rewritten before it is parsed: entity references become their replacement texts, and missing
//! attributes are added to start tags.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::error::XPathError;
use super::wellformed::{Checked, UNFINISHED, fault};
use super::xml::Sections;

/// The property that limits what entities add to a document.
pub const MAX_ENTITY_BYTES: &str = "drumfire.xml.max_entity_bytes";
/// Its default.
pub const DEFAULT_MAX_ENTITY_BYTES: usize = 16 << 20;

static MOST_ENTITY_BYTES: AtomicUsize = AtomicUsize::new(DEFAULT_MAX_ENTITY_BYTES);

/// Sets the limit of [`MAX_ENTITY_BYTES`] for the whole process.
pub fn limit_entities(most_bytes: usize) {
    MOST_ENTITY_BYTES.store(most_bytes, Ordering::Relaxed);
}

pub(super) fn most_bytes() -> usize {
    MOST_ENTITY_BYTES.load(Ordering::Relaxed)
}

/// Limit of references in one document (`org.apache.xerces.util.SecurityManager`).
const MOST_REFERENCES: usize = 100_000;
/// Limit of entities that refer to each other.
const DEEPEST: usize = 200;
/// Limit of attributes that are declared for one element (`jdk.xml.elementAttributeLimit`).
const MOST_ATTRIBUTES: usize = 10_000;

/// A document without references to its own entities.
pub(super) struct Expanded {
    pub text: String,
    /// For each stretch: where it starts here, where in the source, and whether it was copied from there.
    stretches: Vec<(usize, usize, bool)>,
}

impl Expanded {
    /// The position in the source of a position in the text. Within a replacement it is the end of the reference.
    pub fn source_place(&self, at: usize) -> usize {
        let after = self.stretches.partition_point(|(start, ..)| *start <= at);
        match self.stretches[..after].last() {
            Some((start, source, true)) => source + (at - start),
            Some((_, source, false)) => *source,
            None => at,
        }
    }
}

/// The entities and attributes that a document type declares.
#[derive(Default)]
struct Declarations {
    /// The replacement text, or `None` for an external entity.
    entities: HashMap<String, Option<String>>,
    parameters: HashMap<String, Option<String>>,
    /// By element, in the order of their declarations.
    attributes: HashMap<String, Vec<AttributeDefault>>,
    /// Whether declarations may be missing because they are elsewhere.
    is_partial: bool,
}

struct AttributeDefault {
    name: String,
    /// Whether the value is a text, otherwise blanks in it are collapsed.
    is_text: bool,
    value: Option<String>,
}

/// Whether a document type comes before the first element, after nothing but comments and processing instructions; returns where
/// it begins.
pub fn doctype(text: &str) -> Option<usize> {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let (open, close) = if rest.starts_with("<!--") {
            ("<!--", "-->")
        } else {
            ("<?", "?>")
        };
        let Some(inside) = rest.strip_prefix(open) else {
            return rest
                .starts_with("<!DOCTYPE")
                .then(|| text.len() - rest.len());
        };
        let end = inside.find(close)?;
        rest = &inside[end + close.len()..];
    }
}

/// The document with its own entities and default attributes; `None` if it declares none.
///
/// # Errors
/// An entity that refers to itself, is external where Saxon would read it, or entities that add more than `most_bytes`.
pub(super) fn expand(
    text: &str,
    sections: Sections,
    most_bytes: usize,
) -> Checked<Option<Expanded>> {
    let Some(start) = doctype(text) else {
        return Ok(None);
    };
    let Some((subset, end, is_external)) = split(text, start) else {
        return Ok(None);
    };
    let mut declared = Declarations::default();
    let mut parameter_bytes = most_bytes;
    declared.read(subset, 0, &mut parameter_bytes);
    let is_standalone =
        text[..start].contains("standalone=\"yes\"") || text[..start].contains("standalone='yes'");
    declared.is_partial = (declared.is_partial || is_external) && !is_standalone;
    if declared.entities.is_empty() && declared.attributes.is_empty() && !declared.is_partial {
        return Ok(None);
    }
    let mut expansion = Expansion {
        declared: &declared,
        reads_external: sections == Sections::Merged,
        most_bytes: text.len().saturating_add(most_bytes),
        references: 0,
        place: end,
        open: Vec::new(),
        out: Expanded {
            text: text[..end].to_owned(),
            stretches: vec![(0, 0, true)],
        },
    };
    match expansion.content(&text[end..], Some(end)) {
        Ok(()) => Ok(Some(expansion.out)),
        Err(error) => Err(XPathError {
            at: Some(expansion.place),
            ..error
        }),
    }
}

/// The internal subset of the document type at `start`, where the document type ends, and whether there is an external one.
fn split(text: &str, start: usize) -> Option<(&str, usize, bool)> {
    let mut at = start + "<!DOCTYPE".len();
    let mut is_external = false;
    let mut subset = "";
    loop {
        let rest = &text[at..];
        match rest.as_bytes().first()? {
            b'>' => return Some((subset, at + 1, is_external)),
            quote @ (b'"' | b'\'') => at += 2 + rest[1..].find(char::from(*quote))?,
            b'[' => {
                let length = subset_length(&rest[1..])?;
                subset = &rest[1..=length];
                at += length + 2;
            }
            _ => {
                is_external |= rest.starts_with("SYSTEM") || rest.starts_with("PUBLIC");
                at += rest.chars().next().map(char::len_utf8).unwrap_or(1);
            }
        }
    }
}

/// The length of an internal subset, which a `]` ends.
fn subset_length(text: &str) -> Option<usize> {
    let mut at = 0;
    let mut ends = true;
    loop {
        let rest = &text[at..];
        if rest.starts_with(']') {
            return Some(at);
        }
        let declared = ends.then(|| declaration(rest)).flatten();
        at += match declared {
            Some(length) => length,
            None => {
                // One that does not end is not searched again from each of its characters.
                ends &= !opens_declaration(rest);
                rest.chars().next()?.len_utf8()
            }
        };
    }
}

/// Whether a comment, instruction or declaration begins at the start of `text`.
fn opens_declaration(text: &str) -> bool {
    text.starts_with("<!") || text.starts_with("<?")
}

/// The length of the comment, instruction or declaration at the start of `text`.
fn declaration(text: &str) -> Option<usize> {
    for (open, close) in [("<!--", "-->"), ("<?", "?>")] {
        if let Some(inside) = text.strip_prefix(open) {
            return Some(open.len() + inside.find(close)? + close.len());
        }
    }
    if !text.starts_with("<!") {
        return None;
    }
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if open == c => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return Some(at + 1),
            (None, _) => {}
        }
    }
    None
}

/// The words of a declaration: names, signs, and quoted texts with their first quote.
fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => rest[1..].find(first).map_or(rest.len(), |end| end + 1),
            '(' => rest.find(')').map(|end| end + 1).unwrap_or(rest.len()),
            _ => rest
                .find(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '('))
                .unwrap_or(rest.len()),
        };
        words.push(&rest[..length]);
        rest = &rest[length..];
        rest = match first {
            '"' | '\'' => rest.strip_prefix(first).unwrap_or(rest),
            _ => rest,
        };
        rest = rest.trim_start();
    }
    words
}

fn quoted(word: Option<&&str>) -> Option<String> {
    word?.strip_prefix(['"', '\'']).map(str::to_owned)
}

impl Declarations {
    /// Reads the declarations of a subset. Parameter entities may add `left` bytes to it.
    fn read(&mut self, subset: &str, depth: usize, left: &mut usize) {
        let mut rest = subset;
        let mut ends = true;
        while !rest.is_empty() {
            let declared = ends.then(|| declaration(rest)).flatten();
            if let Some(length) = declared {
                let inside = rest[..length].trim_end_matches('>');
                if let Some(entity) = inside.strip_prefix("<!ENTITY") {
                    self.entity(entity);
                } else if let Some(list) = inside.strip_prefix("<!ATTLIST") {
                    self.attributes(list);
                }
                rest = &rest[length..];
                continue;
            }
            ends &= !opens_declaration(rest);
            if let Some(name) = rest.strip_prefix('%').and_then(name_of_reference) {
                self.parameter(name, depth, left);
                rest = &rest[name.len() + 2..];
                continue;
            }
            let first = rest.chars().next().map(char::len_utf8).unwrap_or(1);
            rest = &rest[first..];
        }
    }

    /// Reads the declarations in a parameter entity's text. Texts that refer to others twice would double at each level.
    fn parameter(&mut self, name: &str, depth: usize, left: &mut usize) {
        match self.parameters.get(name) {
            Some(Some(text)) if depth < DEEPEST && text.len() < *left => {
                *left -= text.len() + 1;
                let text = text.clone();
                self.read(&text, depth + 1, left);
            }
            _ => self.is_partial = true,
        }
    }

    fn entity(&mut self, text: &str) {
        let words = words(text);
        let (is_parameter, words) = match &*words {
            ["%", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        let [name, definition @ ..] = words else {
            return;
        };
        let value = quoted(definition.first()).map(|value| with_characters(&value));
        let all = if is_parameter {
            &mut self.parameters
        } else {
            &mut self.entities
        };
        // The first declaration of a name holds.
        all.entry((*name).to_owned()).or_insert(value);
    }

    fn attributes(&mut self, text: &str) {
        let words = words(text);
        let Some((element, mut rest)) = words.split_first() else {
            return;
        };
        let list = self.attributes.entry((*element).to_owned()).or_default();
        while let [name, kind, after @ ..] = rest {
            // `NOTATION (a|b)` has one word more.
            let after = match (*kind, after) {
                ("NOTATION", [_, after @ ..]) => after,
                (_, after) => after,
            };
            let (value, after) = match after {
                ["#REQUIRED" | "#IMPLIED", after @ ..] => (None, after),
                ["#FIXED", value, after @ ..] => (quoted(Some(value)), after),
                [value, after @ ..] => (quoted(Some(value)), after),
                [] => return,
            };
            let is_new = !list.iter().any(|known| known.name == *name);
            if is_new && list.len() < MOST_ATTRIBUTES {
                list.push(AttributeDefault {
                    name: (*name).to_owned(),
                    is_text: *kind == "CDATA",
                    value,
                });
            }
            rest = after;
        }
    }
}

/// The text of an entity's value, in which references to characters are replaced and others are not.
fn with_characters(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    let mut rest = value;
    while let Some(at) = rest.find("&#") {
        text.push_str(&rest[..at]);
        rest = &rest[at..];
        let code = name_of_reference(&rest[2..]);
        let number = code.and_then(|code| match code.strip_prefix('x') {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => code.parse().ok(),
        });
        match (code, number.and_then(char::from_u32)) {
            (Some(code), Some(c)) => {
                text.push(c);
                rest = &rest[code.len() + 3..];
            }
            _ => {
                text.push_str("&#");
                rest = &rest[2..];
            }
        }
    }
    text.push_str(rest);
    text
}

struct Expansion<'d> {
    declared: &'d Declarations,
    /// Whether the parser would read external entities.
    reads_external: bool,
    /// The greatest length of the text.
    most_bytes: usize,
    references: usize,
    /// The end of the last reference in the document itself.
    place: usize,
    /// The entities whose text is being read.
    open: Vec<String>,
    out: Expanded,
}

/// The name of the reference at the start of `text`, which has a `&`.
fn reference(text: &str) -> Option<&str> {
    let name = name_of_reference(text.strip_prefix('&')?)?;
    let is_predefined = matches!(name, "amp" | "lt" | "gt" | "quot" | "apos");
    (!is_predefined && !name.is_empty()).then_some(name)
}

/// The name at the start of `text`, if a semicolon follows it. Looks no further than the name.
fn name_of_reference(text: &str) -> Option<&str> {
    let end = text.find(|c| !is_name(c))?;
    text[end..].starts_with(';').then(|| &text[..end])
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | ':' | '-' | '.' | '\u{B7}')
}

/// The meaning of a reference.
enum Referred<'d> {
    /// It is left to the parser, which reports it.
    Unknown,
    Text(&'d str),
    /// Nothing replaces it.
    Nothing,
}

impl<'d> Expansion<'d> {
    fn copy(&mut self, text: &str, source: Option<usize>) -> Checked {
        if let Some(source) = source {
            self.out.stretches.push((self.out.text.len(), source, true));
        }
        self.out.text.push_str(text);
        if self.out.text.len() > self.most_bytes {
            fault(format!(
                "The entities of the document add more bytes than {} allows",
                MAX_ENTITY_BYTES
            ))
        } else {
            Ok(())
        }
    }

    /// Notes that a replacement begins, whose reference ends at this place in the source.
    fn replaced(&mut self, end: Option<usize>) {
        if let Some(end) = end {
            let start = self.out.text.len();
            self.out.stretches.push((start, end, false));
        }
    }

    fn referred(&mut self, name: &str) -> Checked<Referred<'d>> {
        self.references += 1;
        if self.references > MOST_REFERENCES {
            return fault(format!(
                "The parser has encountered more than \"{MOST_REFERENCES}\" entity expansions in this document; this is the limit \
                 imposed by the application."
            ));
        }
        if self.open.iter().any(|open| open == name) || self.open.len() >= DEEPEST {
            return fault(format!(
                "Recursive entity reference \"{name}\". (Reference path: {} -> {name}),",
                self.open.join(" -> ")
            ));
        }
        match self.declared.entities.get(name) {
            Some(Some(text)) => Ok(Referred::Text(text)),
            Some(None) if self.reads_external => {
                fault(format!("The external entity \"{name}\" is not read"))
            }
            Some(None) => Ok(Referred::Nothing),
            None if !self.declared.is_partial => Ok(Referred::Unknown),
            None if self.reads_external => fault(format!(
                "The entity \"{name}\" is not declared in the document, and external declarations are not read"
            )),
            None => Ok(Referred::Nothing),
        }
    }

    /// Copies content. `source` is where it begins in the document; a replacement text has none.
    fn content(&mut self, text: &str, source: Option<usize>) -> Checked {
        let mut at = 0;
        let source_at = |at: usize| source.map(|source| source + at);
        while at < text.len() {
            let rest = &text[at..];
            let plain = memchr::memchr2(b'<', b'&', rest.as_bytes()).unwrap_or(rest.len());
            if plain > 0 {
                self.copy(&rest[..plain], source_at(at))?;
                at += plain;
                continue;
            }
            if let Some(name) = reference(rest) {
                let length = name.len() + 2;
                self.place = source_at(at + length).unwrap_or(self.place);
                match self.referred(name)? {
                    Referred::Unknown => self.copy(&rest[..length], source_at(at))?,
                    Referred::Nothing => {}
                    Referred::Text(replacement) => {
                        self.replaced(source_at(at + length));
                        self.open.push(name.to_owned());
                        self.content(replacement, None)?;
                        self.open.pop();
                    }
                }
                at += length;
                continue;
            }
            let skipped = [
                ("<!--", "-->"),
                ("<![CDATA[", "]]>"),
                ("<?", "?>"),
                ("</", ">"),
                ("&", ";"),
            ]
            .iter()
            .find(|(open, _)| rest.starts_with(open));
            let length = match skipped {
                Some(("&", _)) => 1,
                Some((_, close)) => rest.find(close).map_or(rest.len(), |end| end + close.len()),
                None => {
                    at += self.start_tag(rest, source_at(at))?;
                    continue;
                }
            };
            self.copy(&rest[..length], source_at(at))?;
            at += length;
        }
        Ok(())
    }

    /// Copies the start tag at the start of `text` with its default attributes; returns its length.
    fn start_tag(&mut self, text: &str, source: Option<usize>) -> Checked<usize> {
        let name_end = text[1..].find(is_end).map_or(text.len(), |end| end + 1);
        let declared = self.declared;
        let defaults = declared
            .attributes
            .get(&text[1..name_end])
            .map(Vec::as_slice)
            .unwrap_or_default();
        let mut attributes: Vec<&str> = Vec::new();
        let mut at = name_end;
        self.copy(&text[..at], source)?;
        let source_at = |at: usize| source.map(|source| source + at);
        loop {
            let rest = &text[at..];
            let Some(stop) = rest.find(['>', '"', '\'', '<']) else {
                if source.is_none() {
                    return fault(UNFINISHED);
                }
                self.copy(rest, source_at(at))?;
                return Ok(text.len());
            };
            let before = &rest[..stop];
            let quote = rest[stop..].chars().next().unwrap_or('>');
            if matches!(quote, '>' | '<') {
                let slash = before.strip_suffix('/').unwrap_or(before);
                self.copy(slash, source_at(at))?;
                let missing = defaults
                    .iter()
                    .filter(|one| !attributes.contains(&&*one.name));
                for default in missing {
                    if let Some(value) = &default.value {
                        self.copy(&format!(" {}=\"", default.name), None)?;
                        self.value(value, default.is_text, None)?;
                        self.copy("\"", None)?;
                    }
                }
                let taken = usize::from(quote == '>');
                self.copy(
                    &rest[slash.len()..stop + taken],
                    source_at(at + slash.len()),
                )?;
                return Ok(at + stop + taken);
            }
            let name = before.trim().trim_end_matches('=').trim_end();
            let name = name.rsplit(char::is_whitespace).next().unwrap_or(name);
            attributes.push(name);
            self.copy(&rest[..=stop], source_at(at))?;
            at += stop + 1;
            let Some(length) = text[at..].find(quote) else {
                self.copy(&text[at..], source_at(at))?;
                return Ok(text.len());
            };
            let is_text = defaults
                .iter()
                .find(|one| one.name == name)
                .is_none_or(|one| one.is_text);
            self.value(&text[at..at + length], is_text, source_at(at))?;
            at += length;
            self.copy(&text[at..=at], source_at(at))?;
            at += 1;
        }
    }

    /// Copies the value of an attribute.
    fn value(&mut self, text: &str, is_text: bool, source: Option<usize>) -> Checked {
        if is_text {
            return self.value_text(text, source);
        }
        let start = self.out.text.len();
        self.value_text(text, source)?;
        let value = self.out.text.split_off(start);
        let words: Vec<&str> = value.split_whitespace().collect();
        self.out.text.push_str(&words.join(" "));
        Ok(())
    }

    fn value_text(&mut self, text: &str, source: Option<usize>) -> Checked {
        let mut at = 0;
        let source_at = |at: usize| source.map(|source| source + at);
        while at < text.len() {
            let rest = &text[at..];
            let plain = memchr::memchr3(b'&', b'"', b'\'', rest.as_bytes()).unwrap_or(rest.len());
            if plain > 0 {
                self.copy(&rest[..plain], source_at(at))?;
                at += plain;
                continue;
            }
            let quote = match rest.as_bytes()[0] {
                b'"' => Some("&#34;"),
                b'\'' => Some("&#39;"),
                _ => None,
            };
            if let Some(quote) = quote {
                // In a replacement text, a quote does not end the value.
                self.copy(quote, source_at(at))?;
                at += 1;
                continue;
            }
            let Some(name) = reference(rest) else {
                self.copy("&", source_at(at))?;
                at += 1;
                continue;
            };
            let length = name.len() + 2;
            self.place = source_at(at + length).unwrap_or(self.place);
            if let Some(None) = self.declared.entities.get(name) {
                return fault(format!(
                    "The external entity reference \"&{name};\" is not permitted in an attribute value."
                ));
            }
            match self.referred(name)? {
                Referred::Unknown => self.copy(&rest[..length], source_at(at))?,
                Referred::Nothing => {}
                Referred::Text(replacement) => {
                    self.replaced(source_at(at + length));
                    self.open.push(name.to_owned());
                    self.value_text(replacement, None)?;
                    self.open.pop();
                }
            }
            at += length;
        }
        Ok(())
    }
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || matches!(c, '>' | '/')
}
