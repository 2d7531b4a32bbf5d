//! The document as XPath sees it: nodes in one list, in document order.

use std::cmp::Ordering;

use xpath_eval::{ExpandedName, Node, NodeKind};

use super::{XPathError, html, xml};

/// A parsed body.
#[derive(Debug)]
pub struct Tree {
    pub(super) nodes: Vec<NodeData>,
    /// Whether prefixes mean namespaces; otherwise a name is all that is written.
    pub(super) namespaces: bool,
    /// Attributes stand in the order they are written, not sorted as in a `NamedNodeMap` of Xerces.
    pub(super) keeps_order: bool,
}

#[derive(Debug)]
pub(super) struct NodeData {
    pub(super) kind: NodeKind,
    /// The qualified name.
    pub(super) name: String,
    /// With namespaces: where the name belongs.
    pub(super) uri: Option<String>,
    pub(super) text: String,
    pub(super) parent: usize,
    pub(super) children: Vec<usize>,
    pub(super) attributes: Vec<usize>,
    /// `xmlns` declarations: prefix (empty for the default) and URI.
    pub(super) declared: Vec<(String, String)>,
    /// The namespace node that binds this name's own prefix.
    own_prefix: Option<usize>,
}

impl Tree {
    /// Parses well-formed XML. Without `namespaces`, which is JMeter's default, an element `p:a` is matched by no name test
    /// but by `*[name()='p:a']` and `*[local-name()='a']`.
    ///
    /// # Errors
    /// If the text is not well-formed, with Xerces' message for the usual cases.
    pub fn parse_xml(text: &str, namespaces: bool) -> Result<Tree, XPathError> {
        xml::parse(text, namespaces, xml::Sections::Apart)
    }

    /// Parses well-formed XML as Saxon does: with namespaces, and CDATA sections as part of the text around them.
    ///
    /// # Errors
    /// As [`Tree::parse_xml`], named as Saxon does but without the place of the fault.
    pub fn parse_saxon(text: &str) -> Result<Tree, XPathError> {
        xml::parse(text, true, xml::Sections::Merged).map_err(|error| {
            XPathError::new(format!("org.xml.sax.SAXParseException; {}", error.message))
        })
    }

    /// Parses HTML or whatever there is, as the extractor's "Use Tidy" does.
    pub fn parse_tolerant(text: &str) -> Tree {
        html::parse(text)
    }

    /// A document that holds nothing.
    pub(crate) fn empty() -> Tree {
        Tree::new(true)
    }

    pub(super) fn new(namespaces: bool) -> Tree {
        let mut tree = Tree {
            nodes: Vec::new(),
            namespaces,
            keeps_order: false,
        };
        tree.push(NodeKind::Root, "", String::new(), 0);
        tree
    }

    /// Adds a node; all that belongs to it must follow before its next sibling.
    pub(super) fn push(
        &mut self,
        kind: NodeKind,
        name: &str,
        text: String,
        parent: usize,
    ) -> usize {
        let id = self.nodes.len();
        self.nodes.push(NodeData {
            kind,
            name: name.to_owned(),
            uri: None,
            text,
            parent,
            children: Vec::new(),
            attributes: Vec::new(),
            declared: Vec::new(),
            own_prefix: None,
        });
        if id > 0 {
            match kind {
                NodeKind::Attribute => self.nodes[parent].attributes.push(id),
                NodeKind::Namespace => {}
                _ => self.nodes[parent].children.push(id),
            }
        }
        id
    }

    /// Adds an element with its attributes and declarations.
    pub(super) fn push_element(
        &mut self,
        name: &str,
        attributes: Vec<(String, String)>,
        parent: usize,
    ) -> usize {
        let id = self.push(NodeKind::Element, name, String::new(), parent);
        let (declared, mut plain): (Vec<_>, Vec<_>) = attributes
            .into_iter()
            .partition(|(name, _)| name == "xmlns" || name.starts_with("xmlns:"));
        self.nodes[id].declared = declared
            .into_iter()
            .map(|(name, uri)| (name.strip_prefix("xmlns:").unwrap_or("").to_owned(), uri))
            .collect();
        self.resolve(id);
        if !self.keeps_order {
            plain.sort();
        }
        for (name, value) in plain {
            let attribute = self.push(NodeKind::Attribute, &name, value, id);
            self.resolve(attribute);
        }
        id
    }

    /// Finds the namespace of a name. Without namespaces a prefix stands for a made-up one, so that `local-name()` and
    /// `name()` still see what is written.
    fn resolve(&mut self, id: usize) {
        let name = self.nodes[id].name.clone();
        let prefix = name.split_once(':').map_or("", |(prefix, _)| prefix);
        let is_attribute = self.nodes[id].kind == NodeKind::Attribute;
        if prefix.is_empty() && (is_attribute || !self.namespaces) {
            return;
        }
        let owner = if is_attribute {
            self.nodes[id].parent
        } else {
            id
        };
        let uri = match self.namespaces {
            true => self.namespace_at(owner, prefix),
            false => Some(format!("\0{prefix}")),
        };
        self.nodes[id].uri = uri.filter(|uri| !uri.is_empty());
        if let (false, Some(uri)) = (prefix.is_empty(), self.nodes[id].uri.clone()) {
            let namespace = self.push(NodeKind::Namespace, prefix, uri, owner);
            self.nodes[id].own_prefix = Some(namespace);
        }
    }

    fn namespace_at(&self, mut element: usize, prefix: &str) -> Option<String> {
        if prefix == "xml" {
            return Some("http://www.w3.org/XML/1998/namespace".to_owned());
        }
        loop {
            let node = &self.nodes[element];
            if let Some((_, uri)) = node.declared.iter().find(|(known, _)| known == prefix) {
                return Some(uri.clone());
            }
            if node.kind == NodeKind::Root {
                return None;
            }
            element = node.parent;
        }
    }

    /// `PrefixResolverDefault` asks the outermost element: first its own name, then its declarations.
    pub(super) fn namespace_at_root(&self, prefix: &str) -> Option<String> {
        let top = *self.nodes[0]
            .children
            .iter()
            .find(|child| self.nodes[**child].kind == NodeKind::Element)?;
        let named = self.nodes[top]
            .name
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(':'));
        match named && !self.namespaces {
            true => None,
            false => self.namespace_at(top, prefix),
        }
    }

    pub(crate) fn root(&self) -> NodeRef<'_> {
        NodeRef { tree: self, id: 0 }
    }
}

/// A handle on a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeRef<'a> {
    pub(super) tree: &'a Tree,
    pub(super) id: usize,
}

impl<'a> NodeRef<'a> {
    pub(super) fn data(self) -> &'a NodeData {
        &self.tree.nodes[self.id]
    }

    /// The name as it is written.
    pub(crate) fn qualified_name(self) -> &'a str {
        &self.data().name
    }

    /// What a text, comment, attribute or processing instruction holds.
    pub(crate) fn text(self) -> &'a str {
        &self.data().text
    }

    /// The namespaces declared here: prefix and URI.
    pub(crate) fn declared(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let declared = self.data().declared.iter();
        declared.map(|(prefix, uri)| (prefix.as_str(), uri.as_str()))
    }

    fn all(self, ids: &'a [usize]) -> impl Iterator<Item = NodeRef<'a>> + 'a {
        ids.iter().map(move |id| NodeRef {
            tree: self.tree,
            id: *id,
        })
    }
}

impl PartialEq for NodeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl Eq for NodeRef<'_> {}

impl<'a> Node<'a> for NodeRef<'a> {
    fn kind(self) -> NodeKind {
        self.data().kind
    }

    fn parent(self) -> Option<Self> {
        (self.id > 0).then(|| NodeRef {
            tree: self.tree,
            id: self.data().parent,
        })
    }

    fn children(self) -> impl Iterator<Item = Self> + 'a {
        self.all(&self.data().children)
    }

    fn attributes(self) -> impl Iterator<Item = Self> + 'a {
        self.all(&self.data().attributes)
    }

    /// Only those that the names of this element and its attributes use; enough for `name()`.
    fn namespaces(self) -> impl Iterator<Item = Self> + 'a {
        let attributes = self.data().attributes.iter();
        let used = std::iter::once(self.id).chain(attributes.copied());
        used.filter_map(move |id| self.tree.nodes[id].own_prefix)
            .map(move |id| NodeRef {
                tree: self.tree,
                id,
            })
    }

    fn expanded_name(self) -> Option<ExpandedName> {
        let data = self.data();
        if matches!(
            data.kind,
            NodeKind::Root | NodeKind::Comment | NodeKind::Text
        ) {
            return None;
        }
        let local = data
            .name
            .split_once(':')
            .map_or(data.name.as_str(), |(_, local)| local);
        Some(ExpandedName {
            namespace_uri: data.uri.clone(),
            local_name: local.to_owned(),
        })
    }

    fn string_value(self) -> String {
        match self.data().kind {
            NodeKind::Root | NodeKind::Element => {
                let mut out = String::new();
                push_text(self, &mut out);
                out
            }
            _ => self.data().text.clone(),
        }
    }

    fn document_order(self, other: Self) -> Ordering {
        self.id.cmp(&other.id)
    }

    fn has_expanded_name(self, namespace_uri: Option<&str>, local_name: &str) -> bool {
        let data = self.data();
        let local = data
            .name
            .split_once(':')
            .map_or(data.name.as_str(), |(_, local)| local);
        local == local_name && data.uri.as_deref() == namespace_uri
    }
}

fn push_text(node: NodeRef<'_>, out: &mut String) {
    // All that is below a node follows it in the list.
    let nodes = &node.tree.nodes;
    let is_below = |mut id: usize| {
        while id > node.id {
            id = nodes[id].parent;
        }
        id == node.id
    };
    for (offset, data) in nodes[node.id + 1..].iter().enumerate() {
        match data.kind {
            NodeKind::Attribute | NodeKind::Namespace => {}
            _ if !is_below(node.id + 1 + offset) => return,
            NodeKind::Text => out.push_str(&data.text),
            _ => {}
        }
    }
}
