//! Parses any page with html5ever.

use ego_tree::iter::Edge;
use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, driver};
use scraper::{Html, HtmlTreeSink, Node};

use super::{Attribute, HtmlNodeKind, NONE, NodeData, Page, TextSpan};

pub(super) fn parse(html: &str) -> Page {
    let tree_builder = TreeBuilderOpts {
        scripting_enabled: false,
        ..TreeBuilderOpts::default()
    };
    let options = ParseOpts {
        tree_builder,
        ..ParseOpts::default()
    };
    let sink = HtmlTreeSink::new(Html::new_document());
    let html = driver::parse_document(sink, options).one(html);
    let mut copy = Copy {
        page: Page {
            text: String::new(),
            nodes: Vec::new(),
            attributes: Vec::new(),
        },
        open: Vec::new(),
    };
    for edge in html.tree.root().traverse() {
        match edge {
            Edge::Open(node) => copy.open(node.value()),
            Edge::Close(node) => copy.close(node.value()),
        }
    }
    copy.page
}

/// A page under construction, with the open nodes and each one's last child.
struct Copy {
    page: Page,
    open: Vec<(u32, u32)>,
}

impl Copy {
    fn open(&mut self, node: &Node) {
        if is_left_out(node) {
            return;
        }
        let mut attributes = TextSpan::new(self.page.attributes.len(), self.page.attributes.len());
        let (kind, text) = match node {
            Node::Document => (HtmlNodeKind::Document, TextSpan::default()),
            Node::Element(element) => {
                for (name, value) in element.attrs() {
                    let attribute = Attribute {
                        name: self.add(name),
                        value: self.add(value),
                    };
                    self.page.attributes.push(attribute);
                }
                attributes = TextSpan::new(attributes.start as usize, self.page.attributes.len());
                (HtmlNodeKind::Element, self.add(element.name()))
            }
            Node::Text(text) => (HtmlNodeKind::Text, self.add(text)),
            Node::Comment(comment) => (HtmlNodeKind::Comment, self.add(comment)),
            _ => return,
        };
        let id = TextSpan::new(0, self.page.nodes.len()).end;
        let (parent, previous) = match self.open.last_mut() {
            Some((parent, last)) => (*parent, std::mem::replace(last, id)),
            None => (NONE, NONE),
        };
        self.page.nodes.push(NodeData {
            kind,
            parent,
            previous,
            end: 0,
            text,
            attributes,
        });
        self.open.push((id, NONE));
    }

    fn close(&mut self, node: &Node) {
        if is_left_out(node) {
            return;
        }
        if let Some((id, _)) = self.open.pop() {
            self.page.nodes[id as usize].end = TextSpan::new(0, self.page.nodes.len()).end;
        }
    }

    fn add(&mut self, text: &str) -> TextSpan {
        let start = self.page.text.len();
        self.page.text.push_str(text);
        TextSpan::new(start, self.page.text.len())
    }
}

/// Nodes that a page omits. As in jsoup, the contents of a template are its children.
fn is_left_out(node: &Node) -> bool {
    matches!(
        node,
        Node::Fragment | Node::Doctype(_) | Node::ProcessingInstruction(_)
    )
}
