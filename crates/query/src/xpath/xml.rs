//! Well-formed XML.

use std::borrow::Cow;

use quick_xml::Reader;
use quick_xml::escape::{EscapeError, unescape};
use quick_xml::events::{BytesStart, Event};
use xpath_eval::NodeKind;

use super::XPathError;
use super::tree::Tree;
use super::wellformed;

/// What becomes of CDATA sections.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sections {
    /// Text nodes of their own.
    Apart,
    /// Part of the text around them.
    Merged,
}

pub(super) fn parse(text: &str, namespaces: bool, sections: Sections) -> Result<Tree, XPathError> {
    let text = text.trim_start_matches('\u{FEFF}');
    wellformed::check(text)?;
    let mut builder = Builder {
        tree: Tree::with_room(namespaces, text.len()),
        open: vec![0],
        text: String::new(),
    };
    builder.tree.keeps_order = sections == Sections::Merged;
    let mut reader = Reader::from_str(text);
    loop {
        let event = reader.read_event();
        match event.map_err(|error| XPathError::new(error.to_string()))? {
            Event::Start(start) => builder.start(&start)?,
            Event::Empty(start) => {
                builder.start(&start)?;
                builder.open.pop();
            }
            Event::End(_) => {
                builder.flush();
                builder.open.pop();
            }
            Event::Text(text) => builder.add_text(&text),
            Event::GeneralRef(reference) => {
                let decoded = unescape(&format!("&{};", &*reference)).map(|text| text.into_owned());
                let decoded = decoded.map_err(|error| XPathError::new(error.to_string()))?;
                builder.text.push_str(&decoded);
            }
            Event::CData(data) if sections == Sections::Merged => {
                builder.add_text(&data);
            }
            Event::CData(data) => {
                builder.flush();
                let parent = builder.parent();
                builder
                    .tree
                    .push(NodeKind::Text, "", &line_ends(&data), parent);
            }
            Event::Comment(comment) => builder.add(NodeKind::Comment, "", &line_ends(&comment)),
            Event::PI(instruction) => {
                let data = instruction.content().trim_start();
                builder.add(NodeKind::ProcessingInstruction, instruction.target(), data);
            }
            Event::Decl(_) | Event::DocType(_) => builder.flush(),
            Event::Eof => return Ok(builder.tree),
        }
    }
}

struct Builder {
    tree: Tree,
    open: Vec<usize>,
    text: String,
}

impl Builder {
    fn parent(&self) -> usize {
        self.open.last().copied().unwrap_or(0)
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), XPathError> {
        self.flush();
        let parent = self.parent();
        let mut attributes = Vec::new();
        let mut values = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| XPathError::new(error.to_string()))?;
            attributes.push(attribute);
        }
        for attribute in &attributes {
            values.push((attribute.key.as_ref(), value(&attribute.value)?));
        }
        let id = self
            .tree
            .push_element(start.name().as_ref(), &mut values, parent);
        self.open.push(id);
        Ok(())
    }

    fn add_text(&mut self, text: &str) {
        self.text.push_str(&line_ends(text));
    }

    fn add(&mut self, kind: NodeKind, name: &str, text: &str) {
        self.flush();
        let parent = self.parent();
        self.tree.push(kind, name, text, parent);
    }

    /// Makes a node of the text collected so far; around the root element there is none.
    fn flush(&mut self) {
        let parent = self.parent();
        if parent > 0 && !self.text.is_empty() {
            self.tree.push(NodeKind::Text, "", &self.text, parent);
        }
        self.text.clear();
    }
}

/// The value of an attribute: white space as blanks, references decoded.
fn value(raw: &str) -> Result<Cow<'_, str>, XPathError> {
    let fault = |error: EscapeError| XPathError::new(error.to_string());
    if !raw.contains(['\n', '\r', '\t']) {
        return unescape(raw).map_err(fault);
    }
    let raw = raw.replace("\r\n", " ").replace(['\n', '\r', '\t'], " ");
    let value = unescape(&raw).map_err(fault)?;
    Ok(Cow::Owned(value.into_owned()))
}

fn line_ends(text: &str) -> Cow<'_, str> {
    match memchr::memchr(b'\r', text.as_bytes()) {
        Some(_) => Cow::Owned(text.replace("\r\n", "\n").replace('\r', "\n")),
        None => Cow::Borrowed(text),
    }
}
