//! The tags of a text, and the `hashTree` behind each element, which the tree of a plan does not describe.

use crate::classes::canonical_class;
use crate::source::Span;
use crate::splice::{blanks_before, tag_name};
use crate::tree::Node;

/// The kind of a piece of markup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TagKind {
    /// A start tag.
    Start,
    /// An end tag.
    End,
    /// A start tag that ends its element.
    Empty,
    /// A comment, a CDATA section or a processing instruction.
    Other,
}

/// Finds the tags of a text that is well-formed XML.
#[derive(Debug)]
pub struct Tags<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Tags<'t> {
    /// The tags behind an offset.
    pub fn new(text: &'t str, at: usize) -> Tags<'t> {
        Tags { text, at }
    }
}

impl Iterator for Tags<'_> {
    type Item = (TagKind, Span);

    fn next(&mut self) -> Option<(TagKind, Span)> {
        let start = self.at + memchr::memchr(b'<', self.text.as_bytes().get(self.at..)?)?;
        let rest = &self.text[start..];
        let (kind, length) = if rest.starts_with("<!--") {
            (TagKind::Other, rest.find("-->")? + "-->".len())
        } else if rest.starts_with("<![CDATA[") {
            (TagKind::Other, rest.find("]]>")? + "]]>".len())
        } else if rest.starts_with("<?") {
            (TagKind::Other, rest.find("?>")? + "?>".len())
        } else if rest.starts_with("<!") {
            (TagKind::Other, rest.find('>')? + 1)
        } else if rest.starts_with("</") {
            (TagKind::End, rest.find('>')? + 1)
        } else {
            let length = tag_length(rest)?;
            let kind = if rest[..length].ends_with("/>") {
                TagKind::Empty
            } else {
                TagKind::Start
            };
            (kind, length)
        };
        self.at = start + length;
        Some((kind, Span::new(start, self.at)))
    }
}

/// The length of a start tag; a `>` in an attribute does not end it.
fn tag_length(rest: &str) -> Option<usize> {
    let mut quote = None;
    for (at, sign) in rest.char_indices() {
        match (quote, sign) {
            (None, '"' | '\'') => quote = Some(sign),
            (Some(open), sign) if open == sign => quote = None,
            (None, '>') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// The first tag at or behind an offset, without comments and processing instructions.
fn next_tag(text: &str, at: usize) -> Option<(TagKind, Span)> {
    Tags { text, at }.find(|(kind, _)| *kind != TagKind::Other)
}

/// The tags of the `hashTree` that holds an element's children.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChildTree {
    /// The element is the last one of its parent, and has none.
    Missing,
    /// `<hashTree/>`.
    Empty(Span),
    /// A start tag and an end tag.
    Whole {
        /// The start tag.
        open: Span,
        /// The end tag.
        close: Span,
    },
}

/// Finds the `hashTree` of an element.
pub fn child_tree(text: &str, node: &Node) -> ChildTree {
    let Some((kind, open)) = next_tag(text, node.whole.end) else {
        return ChildTree::Missing;
    };
    let is_tree = matches!(kind, TagKind::Start | TagKind::Empty)
        && canonical_class(tag_name(text, open)) == "hashTree";
    match kind {
        TagKind::Empty if is_tree => return ChildTree::Empty(open),
        TagKind::Start if is_tree => {}
        _ => return ChildTree::Missing,
    }
    let inside = node
        .children
        .last()
        .map(|last| subtree(text, last).end)
        .unwrap_or(open.end);
    match next_tag(text, inside) {
        Some((TagKind::End, close)) => ChildTree::Whole { open, close },
        _ => ChildTree::Missing,
    }
}

/// An element with its `hashTree`.
pub fn subtree(text: &str, node: &Node) -> Span {
    let end = match child_tree(text, node) {
        ChildTree::Missing => node.whole.end,
        ChildTree::Empty(tree) => tree.end,
        ChildTree::Whole { close, .. } => close.end,
    };
    Span::new(node.whole.start, end)
}

/// An element with its `hashTree` and the line end and the blanks before it.
pub fn subtree_with_blanks(text: &str, node: &Node) -> Span {
    let Span { start, end } = subtree(text, node);
    Span::new(start - blanks_before(text, start).len(), end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_is_found_behind_comments() {
        let text = r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="G" testname="p"/><!-- <hashTree/> --><hashTree>
<X.Y guiclass="g" testname="one"/><hashTree/><!-- -->
<X.Y guiclass="g" testname="two"/></hashTree></hashTree></jmeterTestPlan>"#;
        let read = crate::read::read(text.as_bytes(), std::path::Path::new("p.jmx"));
        let read = read.unwrap_or_else(|faults| panic!("{}", faults[0].render(false)));
        let plan = &read.tree.roots[0];
        let whole = subtree(text, plan);
        assert!(text[..whole.end].ends_with("\"two\"/></hashTree>"));
        assert!(matches!(child_tree(text, plan), ChildTree::Whole { .. }));
        assert!(matches!(
            child_tree(text, &plan.children[0]),
            ChildTree::Empty(_)
        ));
        assert_eq!(child_tree(text, &plan.children[1]), ChildTree::Missing);
    }
}
