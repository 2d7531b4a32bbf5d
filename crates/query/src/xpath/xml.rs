//! Well-formed XML.

use quick_xml::Reader;
use quick_xml::errors::IllFormedError;
use quick_xml::escape::unescape;
use quick_xml::events::{BytesStart, Event};
use xpath_eval::NodeKind;

use super::XPathError;
use super::tree::Tree;

pub(super) fn parse(text: &str, namespaces: bool) -> Result<Tree, XPathError> {
    let mut builder = Builder {
        tree: Tree::new(namespaces),
        open: vec![0],
        text: String::new(),
    };
    let mut reader = Reader::from_str(text.trim_start_matches('\u{FEFF}'));
    loop {
        match reader.read_event().map_err(|error| fault(&error))? {
            Event::Start(start) => builder.start(&start)?,
            Event::Empty(start) => {
                builder.start(&start)?;
                builder.open.pop();
            }
            Event::End(_) => {
                builder.flush()?;
                builder.open.pop();
            }
            Event::Text(text) => builder.text.push_str(&line_ends(&text)),
            Event::GeneralRef(reference) => {
                let decoded = unescape(&format!("&{};", &*reference)).map(|text| text.into_owned());
                builder.text.push_str(&decoded.map_err(|_| {
                    XPathError::new(format!(
                        "The entity \"{}\" was referenced, but not declared.",
                        &*reference
                    ))
                })?);
            }
            Event::CData(data) => {
                builder.flush()?;
                let parent = builder.parent();
                builder
                    .tree
                    .push(NodeKind::Text, "", line_ends(&data), parent);
            }
            Event::Comment(comment) => builder.add(NodeKind::Comment, "", line_ends(&comment))?,
            Event::PI(instruction) => {
                let data = instruction.content().trim_start().to_owned();
                builder.add(NodeKind::ProcessingInstruction, instruction.target(), data)?;
            }
            Event::Decl(_) | Event::DocType(_) => builder.flush()?,
            Event::Eof => return builder.finish(),
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

    fn has_root(&self) -> bool {
        self.tree
            .nodes
            .iter()
            .any(|node| node.kind == NodeKind::Element)
    }

    fn start(&mut self, start: &BytesStart<'_>) -> Result<(), XPathError> {
        self.flush()?;
        let parent = self.parent();
        if parent == 0 && self.has_root() {
            return Err(XPathError::new(
                "The markup in the document following the root element must be well-formed.",
            ));
        }
        let mut attributes = Vec::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|error| XPathError::new(error.to_string()))?;
            let raw = attribute
                .value
                .replace("\r\n", " ")
                .replace(['\n', '\r', '\t'], " ");
            let value = unescape(&raw).map_err(|error| XPathError::new(error.to_string()))?;
            attributes.push((attribute.key.as_ref().to_owned(), value.into_owned()));
        }
        let id = self
            .tree
            .push_element(start.name().as_ref(), attributes, parent);
        self.open.push(id);
        Ok(())
    }

    fn add(&mut self, kind: NodeKind, name: &str, text: String) -> Result<(), XPathError> {
        self.flush()?;
        let parent = self.parent();
        self.tree.push(kind, name, text, parent);
        Ok(())
    }

    /// Makes a node of the text collected so far.
    fn flush(&mut self) -> Result<(), XPathError> {
        let text = std::mem::take(&mut self.text);
        let parent = self.parent();
        if parent > 0 && !text.is_empty() {
            self.tree.push(NodeKind::Text, "", text, parent);
        } else if !text.trim_matches([' ', '\t', '\r', '\n']).is_empty() {
            let place = if self.has_root() {
                "trailing section"
            } else {
                "prolog"
            };
            return Err(XPathError::new(format!(
                "Content is not allowed in {place}."
            )));
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Tree, XPathError> {
        self.flush()?;
        if !self.has_root() {
            return Err(XPathError::new("Premature end of file."));
        }
        if self.open.len() > 1 {
            return Err(XPathError::new(
                "XML document structures must start and end within the same entity.",
            ));
        }
        Ok(self.tree)
    }
}

fn line_ends(text: &str) -> String {
    match text.contains('\r') {
        true => text.replace("\r\n", "\n").replace('\r', "\n"),
        false => text.to_owned(),
    }
}

fn fault(error: &quick_xml::Error) -> XPathError {
    XPathError::new(match error {
        quick_xml::Error::IllFormed(IllFormedError::MismatchedEndTag { expected, .. }) => {
            format!(
                "The element type \"{expected}\" must be terminated by the matching end-tag \"</{expected}>\"."
            )
        }
        quick_xml::Error::IllFormed(IllFormedError::UnmatchedEndTag(_)) => {
            "The markup in the document following the root element must be well-formed.".to_owned()
        }
        other => other.to_string(),
    })
}
