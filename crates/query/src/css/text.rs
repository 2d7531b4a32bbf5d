//! The text of elements: jsoup's for readers, and Jodd's as it stands.

use ego_tree::iter::Edge;
use scraper::Node;

use super::tree::{Element, name};

/// jsoup's `text()`: white space collapsed, blocks and `<br>` apart, no scripts and styles.
pub(super) fn text(element: Element<'_>) -> String {
    let mut out = String::new();
    for edge in element.traverse() {
        match edge {
            Edge::Open(node) => match node.value() {
                Node::Text(text) if !is_data(node) => {
                    push_normal(&mut out, text, keeps_space(node))
                }
                Node::Element(_) => {
                    let apart = is_block(name(node)) || name(node) == "br";
                    if apart && !out.is_empty() && !ends_white(&out) {
                        out.push(' ');
                    }
                }
                _ => {}
            },
            Edge::Close(node) if node.value().is_element() && is_block(name(node)) => {
                let inline_follows = node.next_sibling().is_some_and(|next| match next.value() {
                    Node::Text(_) => true,
                    Node::Element(_) => !formats_as_block(name(next)),
                    _ => false,
                });
                if inline_follows && !ends_white(&out) {
                    out.push(' ');
                }
            }
            Edge::Close(_) => {}
        }
    }
    out.trim_matches(|c| c <= ' ').to_owned()
}

/// jsoup's `ownText()`.
pub(super) fn own_text(element: Element<'_>) -> String {
    let mut out = String::new();
    for child in element.children() {
        match child.value() {
            Node::Text(text) if !is_data(child) => push_normal(&mut out, text, keeps_space(child)),
            Node::Element(_) if name(child) == "br" && !ends_white(&out) => out.push(' '),
            _ => {}
        }
    }
    out.trim_matches(|c| c <= ' ').to_owned()
}

/// jsoup's `wholeText()` and `wholeOwnText()`: as it stands, `<br>` as a line end.
pub(super) fn whole_text(element: Element<'_>, own: bool) -> String {
    let mut out = String::new();
    let mut push = |node: Element<'_>| match node.value() {
        Node::Text(text) if !is_data(node) => out.push_str(text),
        Node::Element(_) if name(node) == "br" => out.push('\n'),
        _ => {}
    };
    match own {
        true => element.children().for_each(&mut push),
        false => element.descendants().for_each(&mut push),
    }
    out
}

/// jsoup's `data()`: scripts, styles and comments.
pub(super) fn data(element: Element<'_>) -> String {
    let mut out = String::new();
    for node in element.descendants() {
        match node.value() {
            Node::Text(text) if is_data(node) => out.push_str(text),
            Node::Comment(comment) => out.push_str(comment),
            _ => {}
        }
    }
    out
}

/// Jodd's `getTextContent()`: all text as it stands, scripts and styles included.
pub(super) fn content(element: Element<'_>) -> String {
    element
        .descendants()
        .filter_map(|node| node.value().as_text())
        .map(|text| &**text)
        .collect()
}

/// Whether jsoup keeps this text as data: that of scripts and styles.
fn is_data(text: Element<'_>) -> bool {
    text.parent()
        .is_some_and(|parent| matches!(name(parent), "script" | "style"))
}

/// `Element.preserveWhitespace`: looks six levels up.
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

/// `StringUtil.appendNormalisedWhitespace`: no-break spaces collapse too, zero-width spaces and soft hyphens vanish.
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
    const BLOCKS: &str = " html head body frameset script noscript style meta link title frame noframes section nav \
         aside hgroup header footer p h1 h2 h3 h4 h5 h6 ul ol pre div blockquote hr address figure figcaption form \
         fieldset ins del dl dt dd li table caption thead tfoot tbody colgroup col tr th td video audio canvas details \
         menu plaintext template article main svg math center dir applet marquee listing ";
    is_listed(BLOCKS, name)
}

/// `Tag.formatAsBlock`: also true for unknown tags.
fn formats_as_block(name: &str) -> bool {
    const INLINE: &str = " object base font tt i b u big small em strong dfn code samp kbd var cite abbr time acronym \
         mark ruby rt rp rtc a img br wbr map q sub sup bdo iframe embed span input select textarea label button \
         optgroup option legend datalist keygen output progress meter area param source track summary command device \
         basefont bgsound menuitem data bdi s strike nobr rb text mi mo msup mn mtext title p h1 h2 h3 h4 h5 h6 pre \
         address li th td script style ins del ";
    !is_listed(INLINE, name)
}

fn is_listed(list: &str, name: &str) -> bool {
    list.split_ascii_whitespace().any(|listed| listed == name)
}
