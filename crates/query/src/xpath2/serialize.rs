//! Nodes as Saxon writes them: indented XML without a declaration (`XdmNode#toString`, `XMLIndenter`).

use std::fmt::Write;

use xpath_eval::{Node, NodeKind};

use crate::xpath::NodeRef;
use crate::xpath::serialize::{escape, in_scope};

/// If the attributes of a start tag are longer, each is written on a separate line.
const LINE_LENGTH: usize = 80;

pub(super) fn node(node: NodeRef<'_>) -> String {
    let mut writer = NodeWriter::default();
    match node.kind() {
        NodeKind::Attribute => {
            let mut out = format!("{}=\"", node.qualified_name());
            escape_value(&node.string_value(), "&quot;", &mut out);
            out.push('"');
            return out;
        }
        NodeKind::Text => return node.text().replace('&', "&amp;").replace('<', "&lt;"),
        NodeKind::Root => node.children().for_each(|child| writer.node(child, &[])),
        NodeKind::Element => {
            let mut scope = in_scope(node);
            scope.retain(|(_, uri)| !uri.is_empty());
            writer.element(node, &scope);
        }
        _ => writer.node(node, &[]),
    }
    writer.out
}

/// A part that is still to be written.
enum IndentedPart<'t> {
    Node(NodeRef<'t>),
    /// The end of an element, and whether white space is preserved behind it.
    End(NodeRef<'t>, bool),
}

#[derive(Default)]
struct NodeWriter<'t> {
    out: String,
    level: usize,
    after_start: bool,
    after_end: bool,
    /// White space that is only written if no indentation replaces it.
    pending: &'t str,
    /// Whether an enclosing element has `xml:space="preserve"`.
    preserves: bool,
}

impl<'t> NodeWriter<'t> {
    fn node(&mut self, node: NodeRef<'t>, declared: &[(&str, &str)]) {
        match node.kind() {
            NodeKind::Element => self.element(node, declared),
            NodeKind::Text => self.text(node),
            NodeKind::Comment => {
                self.indent_if(self.after_end && self.level > 0);
                write!(self.out, "<!--{}-->", node.string_value())
                    .expect("writing to a String cannot fail");
            }
            NodeKind::ProcessingInstruction => {
                self.indent_if(self.after_end && self.level > 0);
                let (name, data) = (node.qualified_name(), node.string_value());
                let space = if data.is_empty() { "" } else { " " };
                write!(self.out, "<?{name}{space}{data}?>")
                    .expect("writing to a String cannot fail");
            }
            _ => {}
        }
    }

    fn text(&mut self, node: NodeRef<'t>) {
        let text = node.text();
        if !self.preserves && text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r')) {
            self.pending = text;
            return;
        }
        escape(text, &[], &mut self.out);
        self.after_start = false;
        self.after_end = false;
    }

    /// Writes a new line, or else the pending white space.
    fn indent_if(&mut self, wanted: bool) {
        let pending = std::mem::take(&mut self.pending);
        if wanted && !self.preserves {
            self.out.push('\n');
            self.spaces(self.level * 3);
        } else {
            self.out.push_str(pending);
        }
    }

    fn spaces(&mut self, count: usize) {
        self.out.extend(std::iter::repeat_n(' ', count));
    }

    /// Writes an element with all that is in it. A list of what is left takes the place of recursion: a page may be nested as
    /// deeply as it is long.
    fn element(&mut self, node: NodeRef<'t>, declared: &[(&str, &str)]) {
        let mut left = Vec::new();
        self.open(node, declared, &mut left);
        while let Some(part) = left.pop() {
            match part {
                IndentedPart::Node(child) if child.kind() == NodeKind::Element => {
                    let declared_here: Vec<(&str, &str)> = child.declared().collect();
                    self.open(child, &declared_here, &mut left);
                }
                IndentedPart::Node(child) => self.node(child, &[]),
                IndentedPart::End(node, preserved) => {
                    self.level -= 1;
                    self.indent_if(self.after_end);
                    self.preserves = preserved;
                    write!(self.out, "</{}>", node.qualified_name())
                        .expect("writing to a String cannot fail");
                    self.after_start = false;
                    self.after_end = true;
                }
            }
        }
    }

    /// Writes the start of an element, and puts the rest of it into `left`, last part first.
    fn open(
        &mut self,
        node: NodeRef<'t>,
        declared: &[(&str, &str)],
        left: &mut Vec<IndentedPart<'t>>,
    ) {
        self.indent_if((self.after_start || self.after_end) && self.level > 0);
        self.start_tag(node, declared);
        if node.children().next().is_none() {
            self.out.push_str("/>");
            self.after_start = false;
            self.after_end = true;
            return;
        }
        self.out.push('>');
        left.push(IndentedPart::End(node, self.preserves));
        self.preserves |= node
            .attributes()
            .any(|own| own.qualified_name() == "xml:space" && own.text() == "preserve");
        self.level += 1;
        self.after_start = true;
        self.after_end = false;
        let first = left.len();
        left.extend(node.children().map(IndentedPart::Node));
        left[first..].reverse();
    }

    fn start_tag(&mut self, node: NodeRef<'t>, declared: &[(&str, &str)]) {
        let mut attributes = Vec::new();
        let default = declared.iter().filter(|(prefix, _)| prefix.is_empty());
        let others = declared.iter().filter(|(prefix, _)| !prefix.is_empty());
        for (prefix, uri) in default.chain(others) {
            let colon = if prefix.is_empty() { "" } else { ":" };
            attributes.push((format!("xmlns{colon}{prefix}"), (*uri).to_owned()));
        }
        for own in node.attributes() {
            attributes.push((own.qualified_name().to_owned(), own.string_value()));
        }
        let wraps = !self.preserves && is_long(&attributes);
        let indentation = self.level * 3 + node.qualified_name().chars().count() + 2;
        write!(self.out, "<{}", node.qualified_name()).expect("writing to a String cannot fail");
        for (index, (name, value)) in attributes.iter().enumerate() {
            if wraps && index > 0 {
                self.out.push('\n');
                self.spaces(indentation);
            } else {
                self.out.push(' ');
            }
            write!(self.out, "{name}=\"").expect("writing to a String cannot fail");
            escape_value(value, "&#34;", &mut self.out);
            self.out.push('"');
        }
    }
}

/// Whether the attributes exceed a line: names and values, plus eight characters for each attribute and the
/// syntax of namespaces.
fn is_long(attributes: &[(String, String)]) -> bool {
    attributes.len() > 1 && attributes.iter().map(length).sum::<usize>() > LINE_LENGTH
}

fn length((name, value): &(String, String)) -> usize {
    let name = match name.strip_prefix("xmlns") {
        Some(prefix) => prefix.chars().count() + 9,
        None => name.chars().count() + 8,
    };
    name + value.chars().count()
}

/// Escapes the value of an attribute, with this reference for quotes.
fn escape_value(value: &str, quote: &str, out: &mut String) {
    escape(
        value,
        &[('"', quote), ('\n', "&#xA;"), ('\t', "&#x9;")],
        out,
    );
}
