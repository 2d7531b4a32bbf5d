//! Serializes an element as Java's identity transformer does.

use std::fmt::Write;

use xpath_eval::{Node, NodeKind};

use super::tree::NodeRef;

/// `XPathUtil.getNodeContent`: the element with all namespaces that are in scope.
pub(super) fn fragment(node: NodeRef<'_>) -> String {
    let scope = in_scope(node);
    let mut out = String::new();
    let mut left = Vec::new();
    open(node, &scope, "", &mut left, &mut out);
    while let Some(part) = left.pop() {
        match part {
            FragmentPart::End(name) => {
                write!(out, "</{name}>").expect("writing to a String cannot fail");
            }
            FragmentPart::Node(node, default) => match node.kind() {
                NodeKind::Element => {
                    let declared: Vec<(&str, &str)> = node.declared().collect();
                    open(node, &declared, default, &mut left, &mut out);
                }
                NodeKind::Comment => {
                    write!(out, "<!--{}-->", node.text()).expect("writing to a String cannot fail")
                }
                NodeKind::ProcessingInstruction => {
                    write!(out, "<?{} {}?>", node.qualified_name(), node.text())
                        .expect("writing to a String cannot fail");
                }
                _ => escape(node.text(), &[], &mut out),
            },
        }
    }
    out
}

/// All namespaces in scope of an element, outermost first.
pub(crate) fn in_scope(node: NodeRef<'_>) -> Vec<(&str, &str)> {
    let mut chain = vec![node];
    while let Some(parent) = chain.last().and_then(|node| node.parent()) {
        chain.push(parent);
    }
    let mut scope: Vec<(&str, &str)> = Vec::new();
    for (prefix, uri) in chain.iter().rev().flat_map(|node| node.declared()) {
        scope.retain(|(known, _)| *known != prefix);
        scope.push((prefix, uri));
    }
    scope
}

/// A part that is still to be written. A list of them takes the place of recursion: a page may be nested as deeply as it is long.
enum FragmentPart<'n> {
    /// A node, and the default namespace that an enclosing element wrote.
    Node(NodeRef<'n>, &'n str),
    /// The end of an element with this name.
    End(&'n str),
}

/// Writes the start of an element, and puts the rest of it into `left`, last part first. `declared` are the namespaces to write;
/// `default` is the default namespace that an enclosing element wrote.
fn open<'n>(
    node: NodeRef<'n>,
    declared: &[(&'n str, &'n str)],
    default: &'n str,
    left: &mut Vec<FragmentPart<'n>>,
    out: &mut String,
) {
    let name = node.qualified_name();
    out.push('<');
    out.push_str(name);
    // The default namespace comes first.
    let default = match default_namespace(node, declared, default) {
        Some(uri) => {
            attribute("xmlns", uri, out);
            uri
        }
        None => default,
    };
    for (prefix, uri) in declared.iter().filter(|(prefix, _)| !prefix.is_empty()) {
        attribute(&format!("xmlns:{prefix}"), uri, out);
    }
    for own in node.attributes() {
        attribute(own.qualified_name(), own.text(), out);
    }
    if node.children().next().is_none() {
        out.push_str("/>");
        return;
    }
    out.push('>');
    left.push(FragmentPart::End(name));
    let first = left.len();
    left.extend(
        node.children()
            .map(|child| FragmentPart::Node(child, default)),
    );
    left[first..].reverse();
}

/// The `xmlns` to write for an element. Without namespace support an element has no namespace, whatever is in scope; only
/// its own declaration is kept.
fn default_namespace<'n>(
    node: NodeRef<'n>,
    declared: &[(&'n str, &'n str)],
    around: &str,
) -> Option<&'n str> {
    let here = node.declared().find(|(prefix, _)| prefix.is_empty());
    let inherited = declared.iter().find(|(prefix, _)| prefix.is_empty());
    match (here, inherited) {
        (Some((_, uri)), _) => Some(uri),
        (None, Some((_, uri))) if node.tree.namespaces => Some(uri),
        (None, Some(_)) => Some(""),
        (None, None) if !node.tree.namespaces && !around.is_empty() => Some(""),
        (None, None) => None,
    }
}

fn attribute(name: &str, value: &str, out: &mut String) {
    write!(out, " {name}=\"").expect("writing to a String cannot fail");
    let references = [('"', "&#34;"), ('\n', "&#xA;"), ('\t', "&#9;")];
    escape(value, &references, out);
    out.push('"');
}

/// Escapes a text as Xalan and Saxon do; `references` are those of characters that only attributes escape.
pub(crate) fn escape(text: &str, references: &[(char, &str)], out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '\r' => out.push_str("&#xD;"),
            // Only XML 1.1 has them.
            '\u{1}'..='\u{8}' | '\u{B}' | '\u{C}' | '\u{E}'..='\u{1F}' => {
                out.push_str(&format!("&#x{:x};", u32::from(c)));
            }
            c => match references.iter().find(|(escaped, _)| *escaped == c) {
                Some((_, reference)) => out.push_str(reference),
                None => out.push(c),
            },
        }
    }
}
