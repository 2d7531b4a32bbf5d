//! Tag soup, on the tree of the HTML standard, with the white space that JTidy leaves.

use xpath_eval::NodeKind;

use super::tree::Tree;
use crate::html::{Kind, Node, Page};

pub(super) fn parse(text: &str) -> Tree {
    let page = Page::parse(text);
    let lower = text.to_ascii_lowercase();
    let mut builder = Builder {
        tree: Tree::new(false),
        keeps_tbody: lower.contains("<tbody"),
    };
    builder.children(page.root(), 0);
    builder.tree
}

struct Builder {
    tree: Tree,
    /// JTidy implies no `tbody`.
    keeps_tbody: bool,
}

impl Builder {
    fn children(&mut self, node: Node<'_>, parent: usize) {
        for child in node.children() {
            match child.kind() {
                Kind::Text => self.text(child, child.text(), parent),
                Kind::Comment => {
                    self.tree
                        .push(NodeKind::Comment, "", child.text().to_owned(), parent);
                }
                _ if child.name() == "tbody" && !self.keeps_tbody => {
                    self.children(child, parent);
                }
                _ => {
                    let attributes = child
                        .attributes()
                        .map(|(name, value)| (name.to_owned(), value.to_owned()));
                    let id = self
                        .tree
                        .push_element(child.name(), attributes.collect(), parent);
                    self.children(child, id);
                }
            }
        }
    }

    fn text(&mut self, node: Node<'_>, text: &str, parent: usize) {
        let above = self.tree.nodes[parent].name.clone();
        let text = match above.as_str() {
            "pre" | "textarea" | "script" | "style" => text.to_owned(),
            _ => collapsed(node, text, is_inline(&above)),
        };
        if !text.is_empty() {
            self.tree.push(NodeKind::Text, "", text, parent);
        }
    }
}

/// White space once, and none at the edges of blocks.
fn collapsed(node: Node<'_>, text: &str, inline: bool) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\n' | '\r' | '\x0C' if out.ends_with(' ') => {}
            ' ' | '\t' | '\n' | '\r' | '\x0C' => out.push(' '),
            c => out.push(c),
        }
    }
    let is_edge = |sibling: Option<Node<'_>>| match sibling {
        None => !inline,
        Some(node) if node.kind() == Kind::Element => {
            !is_inline(node.name()) || node.name() == "br"
        }
        Some(_) => false,
    };
    if is_edge(node.previous_sibling()) {
        out = out.trim_start_matches(' ').to_owned();
    }
    if is_edge(node.next_sibling()) {
        out.truncate(out.trim_end_matches(' ').len());
    }
    out
}

fn is_inline(name: &str) -> bool {
    const INLINE: [&str; 36] = [
        "a", "abbr", "acronym", "b", "bdo", "big", "br", "button", "cite", "code", "dfn", "em",
        "font", "i", "img", "input", "kbd", "label", "map", "object", "q", "s", "samp", "select",
        "small", "span", "strike", "strong", "sub", "sup", "textarea", "tt", "u", "var", "ins",
        "del",
    ];
    INLINE.contains(&name)
}
