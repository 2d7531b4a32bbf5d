//! Builds the tree for arbitrary HTML: that of the HTML standard, with the white space that
//! JTidy leaves.

use std::borrow::Cow;

use xpath_eval::NodeKind;

use super::tree::Tree;
use crate::html::{HtmlNode, HtmlNodeKind, Page};

pub(super) fn parse(text: &str) -> Tree {
    let page = Page::parse(text);
    let root = page.root();
    let bodies = root.descendants().filter(|node| node.name() == "tbody");
    // JTidy does not imply `tbody`.
    let keeps_tbody = bodies.count() == 0 || writes_tbody(text);
    let mut tree = Tree::with_room(false, text.len());
    let mut attributes = Vec::new();
    // The enclosing elements, each with its node in the tree.
    let mut open = vec![(root, 0)];
    for node in root.descendants() {
        while Some(open[open.len() - 1].0) != node.parent() {
            open.pop();
        }
        let parent = open[open.len() - 1].1;
        match node.kind() {
            HtmlNodeKind::Text => push_text(&mut tree, node, parent),
            HtmlNodeKind::Comment => {
                tree.push(NodeKind::Comment, "", node.text(), parent);
            }
            _ if node.name() == "tbody" && !keeps_tbody => open.push((node, parent)),
            _ => {
                attributes.clear();
                attributes.extend(
                    node.attributes()
                        .map(|(name, value)| (tree.keep_name(name), tree.keep(value))),
                );
                let name = tree.keep_name(node.name());
                let id = tree.push_element(name, &mut attributes, parent);
                open.push((node, id));
            }
        }
    }
    tree.complete()
}

fn writes_tbody(text: &str) -> bool {
    const TAG: &[u8] = b"<tbody";
    let bytes = text.as_bytes();
    let mut tags = memchr::memchr_iter(b'<', bytes);
    tags.any(|at| {
        let tag = bytes.get(at..at + TAG.len());
        tag.is_some_and(|tag| tag.eq_ignore_ascii_case(TAG))
    })
}

fn push_text(tree: &mut Tree, node: HtmlNode<'_>, parent: usize) {
    let above = tree.name(parent);
    let text = match above {
        "pre" | "textarea" | "script" | "style" => Cow::Borrowed(node.text()),
        _ => collapsed(node, is_inline(above)),
    };
    if !text.is_empty() {
        tree.push(NodeKind::Text, "", &text, parent);
    }
}

/// Collapses white space, and removes it at the edges of blocks.
fn collapsed<'p>(node: HtmlNode<'p>, inline: bool) -> Cow<'p, str> {
    let mut out = once(node.text());
    let is_edge = |sibling: Option<HtmlNode<'_>>| match sibling {
        None => !inline,
        Some(node) if node.kind() == HtmlNodeKind::Element => {
            !is_inline(node.name()) || node.name() == "br"
        }
        Some(_) => false,
    };
    if is_edge(node.previous_sibling()) {
        out = trimmed(out, |text| text.trim_start_matches(' '));
    }
    if is_edge(node.next_sibling()) {
        out = trimmed(out, |text| text.trim_end_matches(' '));
    }
    out
}

fn trimmed<'p>(text: Cow<'p, str>, trim: impl Fn(&str) -> &str) -> Cow<'p, str> {
    match text {
        Cow::Borrowed(text) => Cow::Borrowed(trim(text)),
        Cow::Owned(text) => Cow::Owned(trim(&text).to_owned()),
    }
}

/// Collapses each run of white space to one blank.
fn once(text: &str) -> Cow<'_, str> {
    let mut before = b'x';
    let is_plain = text.bytes().all(|byte| {
        let fits = byte == b' ' && before != b' ' || !is_white(byte);
        before = byte;
        fits
    });
    if is_plain {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\n' | '\r' | '\x0C' if out.ends_with(' ') => {}
            ' ' | '\t' | '\n' | '\r' | '\x0C' => out.push(' '),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | b'\x0C')
}

fn is_inline(name: &str) -> bool {
    INLINE.binary_search(&name).is_ok()
}

/// Sorted for binary search.
const INLINE: [&str; 36] = [
    "a", "abbr", "acronym", "b", "bdo", "big", "br", "button", "cite", "code", "del", "dfn", "em",
    "font", "i", "img", "input", "ins", "kbd", "label", "map", "object", "q", "s", "samp",
    "select", "small", "span", "strike", "strong", "sub", "sup", "textarea", "tt", "u", "var",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(INLINE.is_sorted() && is_inline("span") && !is_inline("p"));
    }

    #[test]
    fn white_space_stands_once() {
        assert_eq!(once(" a \n b\t"), " a b ");
        assert!(matches!(once("a b é"), Cow::Borrowed("a b é")));
        assert_eq!(once("\n"), " ");
    }
}
