//! Serializes an element as Java's identity transformer does.

use std::fmt::Write;

use xpath_eval::{Node, NodeKind};

use super::tree::NodeRef;

/// `XPathUtil.getNodeContent`: the element with all namespaces that are in scope.
pub(super) fn fragment(node: NodeRef<'_>) -> String {
    let mut chain = vec![node];
    while let Some(parent) = chain.last().and_then(|node| node.parent()) {
        chain.push(parent);
    }
    let mut scope: Vec<(&str, &str)> = Vec::new();
    for (prefix, uri) in chain.iter().rev().flat_map(|node| node.declared()) {
        scope.retain(|(known, _)| *known != prefix);
        scope.push((prefix, uri));
    }
    let mut out = String::new();
    element(node, &scope, "", &mut out);
    out
}

/// `declared` are the namespaces to write; `default` is the default namespace that an enclosing element wrote.
fn element(node: NodeRef<'_>, declared: &[(&str, &str)], default: &str, out: &mut String) {
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
    for child in node.children() {
        match child.kind() {
            NodeKind::Element => {
                let declared: Vec<(&str, &str)> = child.declared().collect();
                element(child, &declared, default, out);
            }
            NodeKind::Comment => {
                write!(out, "<!--{}-->", child.text()).expect("writing to a String cannot fail")
            }
            NodeKind::ProcessingInstruction => {
                write!(out, "<?{} {}?>", child.qualified_name(), child.text())
                    .expect("writing to a String cannot fail");
            }
            _ => escape(child.text(), false, out),
        }
    }
    write!(out, "</{name}>").expect("writing to a String cannot fail");
}

/// The `xmlns` to write for an element. Without namespace support an element has no namespace, whatever is in scope; only
/// its own declaration is kept.
fn default_namespace<'n>(
    node: NodeRef<'n>,
    declared: &[(&'n str, &'n str)],
    around: &str,
) -> Option<&'n str> {
    let own = node.declared().find(|(prefix, _)| prefix.is_empty());
    let inherited = declared.iter().find(|(prefix, _)| prefix.is_empty());
    match (own, inherited) {
        (Some((_, uri)), _) => Some(uri),
        (None, Some((_, uri))) if node.tree.namespaces => Some(uri),
        (None, Some(_)) => Some(""),
        (None, None) if !node.tree.namespaces && !around.is_empty() => Some(""),
        (None, None) => None,
    }
}

fn attribute(name: &str, value: &str, out: &mut String) {
    write!(out, " {name}=\"").expect("writing to a String cannot fail");
    escape(value, true, out);
    out.push('"');
}

fn escape(text: &str, in_attribute: bool, out: &mut String) {
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' if in_attribute => out.push_str("&#34;"),
            '\n' if in_attribute => out.push_str("&#xA;"),
            '\t' if in_attribute => out.push_str("&#9;"),
            '\r' => out.push_str("&#xD;"),
            c => out.push(c),
        }
    }
}
