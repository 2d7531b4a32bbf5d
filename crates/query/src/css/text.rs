//! The text of an element: normalised as by jsoup, or unchanged as by Jodd.

use drumfire_java::text::trim;

use super::tree::{Element, name};
use crate::html::HtmlNodeKind;

/// jsoup's `text()`: collapses white space, separates blocks and `<br>`, and omits scripts and styles.
pub(super) fn text(element: Element<'_>) -> String {
    let mut out = String::new();
    push_below(element, &mut out);
    trim(&out).to_owned()
}

/// Appends the text of an element and its descendants, in one pass over the nodes.
fn push_below(top: Element<'_>, out: &mut String) {
    let mut node = top;
    loop {
        open(node, out);
        let mut next = node.first_child();
        while next.is_none() {
            close(node, out);
            if node == top {
                return;
            }
            next = node.next_sibling();
            if next.is_none() {
                node = node.parent().expect("it is below the top");
            }
        }
        node = next.expect("the loop ends with one");
    }
}

fn open(node: Element<'_>, out: &mut String) {
    match node.kind() {
        HtmlNodeKind::Text if !is_data(node) => push_normal(out, node.text(), keeps_space(node)),
        HtmlNodeKind::Element => {
            let apart = is_block(name(node)) || name(node) == "br";
            if apart && !out.is_empty() && !ends_white(out) {
                out.push(' ');
            }
        }
        _ => {}
    }
}

fn close(node: Element<'_>, out: &mut String) {
    if node.kind() != HtmlNodeKind::Element || !is_block(name(node)) {
        return;
    }
    let inline_follows = node.next_sibling().is_some_and(|next| match next.kind() {
        HtmlNodeKind::Text => true,
        HtmlNodeKind::Element => !formats_as_block(name(next)),
        _ => false,
    });
    if inline_follows && !ends_white(out) {
        out.push(' ');
    }
}

/// jsoup's `ownText()`.
pub(super) fn own_text(element: Element<'_>) -> String {
    let mut out = String::new();
    for child in element.children() {
        match child.kind() {
            HtmlNodeKind::Text if !is_data(child) => {
                push_normal(&mut out, child.text(), keeps_space(child));
            }
            HtmlNodeKind::Element if name(child) == "br" && !ends_white(&out) => out.push(' '),
            _ => {}
        }
    }
    trim(&out).to_owned()
}

/// jsoup's `wholeText()` and `wholeOwnText()`: the unchanged text, with `<br>` as a line end.
pub(super) fn whole_text(element: Element<'_>, own: bool) -> String {
    let mut out = String::new();
    let mut push = |node: Element<'_>| match node.kind() {
        HtmlNodeKind::Text if !is_data(node) => out.push_str(node.text()),
        HtmlNodeKind::Element if name(node) == "br" => out.push('\n'),
        _ => {}
    };
    if own {
        element.children().for_each(&mut push)
    } else {
        std::iter::once(element)
            .chain(element.descendants())
            .for_each(&mut push)
    }
    out
}

/// jsoup's `data()`: scripts, styles and comments.
pub(super) fn data(element: Element<'_>) -> String {
    let mut out = String::new();
    for node in element.descendants() {
        match node.kind() {
            HtmlNodeKind::Text if is_data(node) => out.push_str(node.text()),
            HtmlNodeKind::Comment => out.push_str(node.text()),
            _ => {}
        }
    }
    out
}

/// Jodd's `getTextContent()`: all text unchanged, including scripts and styles.
pub(super) fn content(element: Element<'_>) -> String {
    element
        .descendants()
        .filter(|node| node.kind() == HtmlNodeKind::Text)
        .map(|node| node.text())
        .collect()
}

/// Whether jsoup treats this text as data: the text of scripts and styles.
fn is_data(text: Element<'_>) -> bool {
    text.parent()
        .is_some_and(|parent| matches!(name(parent), "script" | "style"))
}

/// `Element.preserveWhitespace`: checks up to six ancestors.
fn keeps_space(text: Element<'_>) -> bool {
    text.ancestors()
        .take(6)
        .any(|above| matches!(name(above), "pre" | "plaintext" | "title" | "textarea"))
}

fn ends_white(out: &str) -> bool {
    out.ends_with(' ')
}

fn push_normal(out: &mut String, text: &str, keep: bool) {
    if keep {
        out.push_str(text);
    } else {
        push_collapsed(out, text);
    }
}

/// `StringUtil.appendNormalisedWhitespace`: also collapses no-break spaces; drops zero-width spaces and soft
/// hyphens.
pub(super) fn push_collapsed(out: &mut String, text: &str) {
    let mut white = ends_white(out);
    for c in text.chars() {
        match c {
            ' ' | '\t' | '\n' | '\x0C' | '\r' | '\u{A0}' => {
                if !white {
                    out.push(' ');
                }
                white = true;
            }
            '\u{200B}' | '\u{AD}' => {}
            c => {
                out.push(c);
                white = false;
            }
        }
    }
}

/// `Tag.isBlock`
fn is_block(name: &str) -> bool {
    BLOCKS.binary_search(&name).is_ok()
}

/// `Tag.formatAsBlock`: also true for unknown tags.
fn formats_as_block(name: &str) -> bool {
    INLINE.binary_search(&name).is_err()
}

/// Sorted for binary search.
const BLOCKS: [&str; 68] = [
    "address",
    "applet",
    "article",
    "aside",
    "audio",
    "blockquote",
    "body",
    "canvas",
    "caption",
    "center",
    "col",
    "colgroup",
    "dd",
    "del",
    "details",
    "dir",
    "div",
    "dl",
    "dt",
    "fieldset",
    "figcaption",
    "figure",
    "footer",
    "form",
    "frame",
    "frameset",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hgroup",
    "hr",
    "html",
    "ins",
    "li",
    "link",
    "listing",
    "main",
    "marquee",
    "math",
    "menu",
    "meta",
    "nav",
    "noframes",
    "noscript",
    "ol",
    "p",
    "plaintext",
    "pre",
    "script",
    "section",
    "style",
    "svg",
    "table",
    "tbody",
    "td",
    "template",
    "tfoot",
    "th",
    "thead",
    "title",
    "tr",
    "ul",
    "video",
];

/// Neither blocks nor formatted as blocks; sorted for binary search.
const INLINE: [&str; 89] = [
    "a", "abbr", "acronym", "address", "area", "b", "base", "basefont", "bdi", "bdo", "bgsound",
    "big", "br", "button", "cite", "code", "command", "data", "datalist", "del", "device", "dfn",
    "em", "embed", "font", "h1", "h2", "h3", "h4", "h5", "h6", "i", "iframe", "img", "input",
    "ins", "kbd", "keygen", "label", "legend", "li", "map", "mark", "menuitem", "meter", "mi",
    "mn", "mo", "msup", "mtext", "nobr", "object", "optgroup", "option", "output", "p", "param",
    "pre", "progress", "q", "rb", "rp", "rt", "rtc", "ruby", "s", "samp", "script", "select",
    "small", "source", "span", "strike", "strong", "style", "sub", "summary", "sup", "td", "text",
    "textarea", "th", "time", "title", "track", "tt", "u", "var", "wbr",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order() {
        assert!(BLOCKS.is_sorted() && INLINE.is_sorted());
        assert!(is_block("div") && !is_block("span") && !is_block("x-item"));
        assert!(formats_as_block("x-item") && formats_as_block("div") && !formats_as_block("h1"));
    }
}
