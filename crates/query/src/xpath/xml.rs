//! Builds the tree while the scanner parses well-formed XML.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use xpath_eval::NodeKind;

use super::entities;
use super::error::XPathError;
use super::tree::{Name, Span, Tree};
use super::wellformed;

/// Up to this number of attributes, comparing all pairs is cheaper than a set of names.
const FEW_ATTRIBUTES: usize = 16;

/// How the tree represents CDATA sections.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sections {
    /// As separate text nodes.
    Apart,
    /// As part of the surrounding text.
    Merged,
}

pub(super) fn parse(text: &str, namespaces: bool, sections: Sections) -> Result<Tree, XPathError> {
    // Xerces skips a byte order mark in bytes. Saxon gets a text, in which it is a character.
    let text = match sections {
        Sections::Apart => text.trim_start_matches('\u{FEFF}'),
        Sections::Merged => text,
    };
    match entities::expand(text, sections, entities::most_bytes())
        .map_err(|error| error.placed(text))?
    {
        None => parse_expanded(text, namespaces, sections).map_err(|error| error.placed(text)),
        Some(expanded) => {
            let parsed = parse_expanded(&expanded.text, namespaces, sections);
            parsed.map_err(|error| {
                let at = error.at.map(|at| expanded.source_place(at));
                XPathError { at, ..error }.placed(text)
            })
        }
    }
}

fn parse_expanded(text: &str, namespaces: bool, sections: Sections) -> Result<Tree, XPathError> {
    let mut tree = Tree::of_source(namespaces, text);
    tree.keeps_order = sections == Sections::Merged;
    let builder = Builder {
        tree,
        sections,
        open: vec![0],
        first: None,
        joined: String::new(),
        attributes: Vec::new(),
        attribute_names: HashSet::new(),
    };
    wellformed::read(text, builder)
}

/// Receives the parts of the document; ranges refer to the document.
pub(super) struct Builder {
    tree: Tree,
    sections: Sections,
    /// The document and the open elements.
    open: Vec<usize>,
    /// The pending text, if it is one range of the document.
    first: Option<Span>,
    /// The pending text otherwise.
    joined: String,
    /// The attributes of the current element.
    attributes: Vec<(Name, Span)>,
    /// Their names, if there are more than [`FEW_ATTRIBUTES`].
    attribute_names: HashSet<String>,
}

impl Builder {
    /// Whether prefixes stand for namespaces.
    pub(super) fn knows_namespaces(&self) -> bool {
        self.tree.namespaces
    }

    /// Adds an attribute to the next element; false if it already has one with this name.
    pub(super) fn attribute(&mut self, name: Name, value: Span) -> bool {
        let of = |name: Name| self.tree.part(name.whole());
        let is_new = if self.attributes.len() < FEW_ATTRIBUTES {
            !self
                .attributes
                .iter()
                .any(|(known, _)| of(*known) == of(name))
        } else {
            if self.attribute_names.is_empty() {
                self.attribute_names = self
                    .attributes
                    .iter()
                    .map(|(known, _)| of(*known).to_owned())
                    .collect();
            }
            self.attribute_names.insert(of(name).to_owned())
        };
        self.attributes.push((name, value));
        is_new
    }

    /// Stores a value that differs from its source in the document.
    pub(super) fn value(&mut self, value: &str) -> Span {
        self.tree.keep(value)
    }

    /// Starts an element, whose attributes were already added.
    pub(super) fn start(&mut self, name: Name) {
        self.flush();
        let parent = self.parent();
        let id = self.tree.push_element(name, &mut self.attributes, parent);
        self.attributes.clear();
        self.attribute_names.clear();
        self.open.push(id);
    }

    pub(super) fn end(&mut self) {
        self.flush();
        if let Some(element) = self.open.pop() {
            self.tree.close_element(element);
        }
    }

    /// Adds text between markup; line ends are normalized if it contains carriage
    /// returns.
    pub(super) fn text(&mut self, place: Range<usize>, has_return: bool) {
        if place.is_empty() {
            return;
        }
        let span = Span::new(place.start, place.end);
        if !has_return && self.first.is_none() && self.joined.is_empty() {
            self.first = Some(span);
            return;
        }
        self.join();
        self.joined.push_str(&line_ends(self.tree.part(span)));
    }

    /// Adds the character of a reference.
    pub(super) fn character(&mut self, c: char) {
        self.join();
        self.joined.push(c);
    }

    pub(super) fn section(&mut self, place: Range<usize>) {
        if self.sections == Sections::Merged {
            return self.text(place, true);
        }
        self.flush();
        let data = self.changed(place);
        let parent = self.parent();
        self.tree.push_text(data, parent);
    }

    pub(super) fn comment(&mut self, place: Range<usize>) {
        self.flush();
        let text = self.changed(place);
        let parent = self.parent();
        self.tree
            .push_kept(NodeKind::Comment, Name::NONE, text, parent);
    }

    pub(super) fn instruction(&mut self, target: Name, place: Range<usize>) {
        self.flush();
        let data = self.changed(place);
        let parent = self.parent();
        self.tree
            .push_kept(NodeKind::ProcessingInstruction, target, data, parent);
    }

    pub(super) fn into_tree(self) -> Tree {
        self.tree.complete()
    }

    fn parent(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    /// A range of the document with normalized line ends.
    fn changed(&mut self, place: Range<usize>) -> Span {
        let span = Span::new(place.start, place.end);
        let changed = match line_ends(self.tree.part(span)) {
            Cow::Borrowed(_) => return span,
            Cow::Owned(changed) => changed,
        };
        self.tree.keep(&changed)
    }

    /// Moves a single range into the joined text.
    fn join(&mut self) {
        if let Some(first) = self.first.take() {
            self.joined.push_str(self.tree.part(first));
        }
    }

    /// Turns the pending text into a node.
    fn flush(&mut self) {
        let text = match self.first.take() {
            Some(first) => first,
            None if self.joined.is_empty() => return,
            None => self.tree.keep(&self.joined),
        };
        self.joined.clear();
        let parent = self.parent();
        self.tree.push_text(text, parent);
    }
}

fn line_ends(text: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        None => Cow::Borrowed(text),
    }
}
