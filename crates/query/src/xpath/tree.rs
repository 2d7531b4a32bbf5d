//! The document for XPath: a list of nodes in document order.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::ops::Range;

use xpath_eval::{ExpandedName, Node, NodeKind};

use super::error::XPathError;
use super::{html, xml};

/// Stands for the absence of a node or a namespace.
const NONE: u32 = u32::MAX;
const XML_NAMESPACE: &str = "http://www.w3.org/XML/1998/namespace";
/// Longer texts are truncated, since positions are 32-bit numbers.
const LONGEST_BYTES: usize = 1 << 30;

/// A parsed body.
#[derive(Debug)]
pub struct Tree {
    nodes: Vec<NodeData>,
    /// All names and values, concatenated. For XML: the document, followed by texts that differ from their source.
    text: String,
    /// The text nodes, so that an element's text can be read without visiting other nodes.
    texts: Vec<u32>,
    /// The namespace URIs of names.
    uris: Vec<String>,
    /// The indexes of URIs in `uris`.
    uri_places: HashMap<String, u32>,
    /// `xmlns` declarations, in the order of their elements.
    declared: Vec<Declaration>,
    /// While the tree is built: for each prefix, the indexes in `declared` of the open elements' declarations. Walking up
    /// the tree for every name would be quadratic in deep documents.
    in_scope: HashMap<String, Vec<u32>>,
    /// Whether prefixes stand for namespaces; otherwise names are only compared as written.
    pub(super) namespaces: bool,
    /// Whether attributes stay in source order, instead of being sorted as in a `NamedNodeMap` of Xerces.
    pub(super) keeps_order: bool,
}

#[derive(Debug)]
struct NodeData {
    kind: NodeKind,
    parent: u32,
    /// The next sibling, or the next attribute.
    next: u32,
    first_child: u32,
    last_child: u32,
    /// Index after the last node that belongs to this one. Valid once the tree is complete.
    end: u32,
    first_attribute: u32,
    /// With namespace support: the index of the name's URI.
    uri: u32,
    /// The namespace node that binds the prefix of this name.
    own_prefix: u32,
    name: Name,
    text: Span,
}

/// A range of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    start: u32,
    end: u32,
}

impl Span {
    pub(super) fn new(start: usize, end: usize) -> Span {
        Span {
            start: number(start),
            end: number(end),
        }
    }
}

/// A qualified name in the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name {
    whole: Span,
    /// The position after the first colon, or the start if there is none.
    local: u32,
}

impl Name {
    /// `local` is the position after the first colon, or `start` if there is none.
    pub(super) fn new(start: usize, local: usize, end: usize) -> Name {
        Name {
            whole: Span::new(start, end),
            local: number(local),
        }
    }

    /// The empty name.
    pub(super) const NONE: Name = Name {
        whole: Span { start: 0, end: 0 },
        local: 0,
    };

    /// The span of the whole name.
    pub(super) fn whole(self) -> Span {
        self.whole
    }

    /// The range of the whole name.
    pub(super) fn range(self) -> Range<usize> {
        self.whole.start as usize..self.whole.end as usize
    }

    /// The span before the colon, if any.
    fn prefix(self) -> Option<Span> {
        let Span { start, .. } = self.whole;
        (self.local > start + 1).then(|| Span {
            start,
            end: self.local - 1,
        })
    }
}

#[derive(Debug)]
struct Declaration {
    element: u32,
    /// Empty for the default namespace.
    prefix: String,
    uri: String,
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("texts are cut before that")
}

/// The part of a text that is parsed.
fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST_BYTES)]
}

impl Tree {
    /// Parses well-formed XML. Without `namespaces`, which is JMeter's default, no name test matches an element `p:a`; only
    /// `*[name()='p:a']` and `*[local-name()='a']` do.
    ///
    /// # Errors
    /// If the text is not well-formed, with Xerces' message in the usual cases.
    pub fn parse_xml(text: &str, namespaces: bool) -> Result<Tree, XPathError> {
        xml::parse(cut(text), namespaces, xml::Sections::Apart)
    }

    /// Parses well-formed XML like Saxon: with namespaces, and with CDATA sections merged into the text around them.
    ///
    /// # Errors
    /// Same as [`Tree::parse_xml`], with Saxon's prefix and the location of the fault.
    pub fn parse_saxon(text: &str) -> Result<Tree, XPathError> {
        xml::parse(cut(text), true, xml::Sections::Merged).map_err(|error| {
            let position = error
                .place
                .map(|(line, column)| format!("lineNumber: {line}; columnNumber: {column}; "))
                .unwrap_or_default();
            let message = format!("org.xml.sax.SAXParseException; {position}{}", error.message);
            XPathError { message, ..error }
        })
    }

    /// Parses HTML or any other text, like the extractor's "Use Tidy".
    pub fn parse_tolerant(text: &str) -> Tree {
        html::parse(cut(text))
    }

    /// An empty document.
    pub(crate) fn empty() -> Tree {
        Tree::with_room(true, 0).complete()
    }

    /// An empty tree whose names and values will be ranges of a document.
    pub(super) fn of_source(namespaces: bool, source: &str) -> Tree {
        let mut tree = Tree::with_room(namespaces, source.len());
        tree.text.push_str(source);
        tree
    }

    /// An empty tree with capacity for a text of `bytes` bytes.
    pub(super) fn with_room(namespaces: bool, bytes: usize) -> Tree {
        let mut tree = Tree {
            nodes: Vec::with_capacity(bytes / 10 + 1),
            text: String::with_capacity(bytes),
            texts: Vec::new(),
            uris: Vec::new(),
            uri_places: HashMap::new(),
            declared: Vec::new(),
            in_scope: HashMap::new(),
            namespaces,
            keeps_order: false,
        };
        tree.push(NodeKind::Root, "", "", 0);
        tree
    }

    /// Adds a node; all nodes that belong to it must be added before its next sibling.
    pub(super) fn push(&mut self, kind: NodeKind, name: &str, text: &str, parent: usize) -> usize {
        let (name, text) = (self.keep_name(name), self.keep(text));
        self.push_kept(kind, name, text, parent)
    }

    /// Adds a text node.
    pub(super) fn push_text(&mut self, text: Span, parent: usize) {
        self.push_kept(NodeKind::Text, Name::NONE, text, parent);
    }

    /// Like [`Tree::push`], but with ranges of the text.
    pub(super) fn push_kept(
        &mut self,
        kind: NodeKind,
        name: Name,
        text: Span,
        parent: usize,
    ) -> usize {
        let id = number(self.nodes.len());
        self.nodes.push(NodeData {
            kind,
            parent: number(parent),
            next: NONE,
            first_child: NONE,
            last_child: NONE,
            end: NONE,
            first_attribute: NONE,
            uri: NONE,
            own_prefix: NONE,
            name,
            text,
        });
        if kind == NodeKind::Text {
            self.texts.push(id);
        }
        if id > 0 && !matches!(kind, NodeKind::Attribute | NodeKind::Namespace) {
            let before = std::mem::replace(&mut self.nodes[parent].last_child, id);
            match before {
                NONE => self.nodes[parent].first_child = id,
                before => self.nodes[before as usize].next = id,
            }
        }
        id as usize
    }

    /// Adds an element with its attributes and declarations (names and values), and sorts these.
    pub(super) fn push_element(
        &mut self,
        name: Name,
        attributes: &mut [(Name, Span)],
        parent: usize,
    ) -> usize {
        let id = self.push_kept(NodeKind::Element, name, Span::new(0, 0), parent);
        for (name, uri) in attributes.iter() {
            if let Some(prefix) = declared_prefix(self.part(name.whole)) {
                let declaration = Declaration {
                    element: number(id),
                    prefix: prefix.to_owned(),
                    uri: self.part(*uri).to_owned(),
                };
                let declaration_index = number(self.declared.len());
                let scope = self.in_scope.entry(declaration.prefix.clone());
                scope.or_default().push(declaration_index);
                self.declared.push(declaration);
            }
        }
        self.resolve(id);
        if !self.keeps_order && attributes.len() > 1 {
            let parts = |(name, value): &(Name, Span)| (self.part(name.whole), self.part(*value));
            attributes.sort_unstable_by(|one, other| parts(one).cmp(&parts(other)));
        }
        let mut last = NONE;
        for (name, value) in attributes.iter() {
            if declared_prefix(self.part(name.whole)).is_some() {
                continue;
            }
            let attribute = self.push_kept(NodeKind::Attribute, *name, *value, id);
            match last {
                NONE => self.nodes[id].first_attribute = number(attribute),
                last => self.nodes[last as usize].next = number(attribute),
            }
            last = number(attribute);
            self.resolve(attribute);
        }
        id
    }

    /// Appends a string to the text.
    pub(super) fn keep(&mut self, text: &str) -> Span {
        let start = self.text.len();
        self.text.push_str(text);
        Span::new(start, self.text.len())
    }

    pub(super) fn keep_name(&mut self, name: &str) -> Name {
        let Span { start, end } = self.keep(name);
        let colon = name.bytes().position(|byte| byte == b':');
        Name {
            whole: Span { start, end },
            local: start + colon.map(|colon| number(colon + 1)).unwrap_or(0),
        }
    }

    pub(super) fn part(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }

    pub(super) fn name(&self, id: usize) -> &str {
        self.part(self.nodes[id].name.whole)
    }

    /// Resolves the namespace of a name. Without namespace support, a prefix gets a made-up namespace, so that
    /// `local-name()` and `name()` still return what is written.
    fn resolve(&mut self, id: usize) {
        let node = &self.nodes[id];
        let is_attribute = node.kind == NodeKind::Attribute;
        let prefix = node.name.prefix();
        if prefix.is_none() && (is_attribute || !self.namespaces) {
            return;
        }
        let owner = if is_attribute {
            node.parent as usize
        } else {
            id
        };
        let prefix = prefix
            .map(|prefix| self.part(prefix))
            .unwrap_or("")
            .to_owned();
        let uri = if self.namespaces {
            self.namespace_in_scope(&prefix).map(str::to_owned)
        } else {
            Some(format!("\0{prefix}"))
        };
        let Some(uri) = uri.filter(|uri| !uri.is_empty()) else {
            return;
        };
        if !prefix.is_empty() {
            let namespace = self.push(NodeKind::Namespace, &prefix, &uri, owner);
            self.nodes[id].own_prefix = number(namespace);
        }
        let uri_index = self.uri_places.get(&uri).copied().unwrap_or_else(|| {
            let uri_index = number(self.uris.len());
            self.uris.push(uri.clone());
            self.uri_places.insert(uri, uri_index);
            uri_index
        });
        self.nodes[id].uri = uri_index;
    }

    /// The declarations of an element: prefixes and URIs.
    fn declared_at(&self, element: usize) -> impl Iterator<Item = (&str, &str)> {
        let element = number(element);
        let first = self
            .declared
            .partition_point(|known| known.element < element);
        let declared_here = self.declared[first..].iter();
        declared_here
            .take_while(move |known| known.element == element)
            .map(|known| (known.prefix.as_str(), known.uri.as_str()))
    }

    /// The namespace of a prefix at the current position.
    fn namespace_in_scope(&self, prefix: &str) -> Option<&str> {
        if prefix == "xml" {
            return Some(XML_NAMESPACE);
        }
        let innermost = *self.in_scope.get(prefix)?.last()?;
        Some(&self.declared[innermost as usize].uri)
    }

    /// Completes an element and ends the scope of its declarations.
    pub(super) fn close_element(&mut self, element: usize) {
        let element = number(element);
        let first = self
            .declared
            .partition_point(|known| known.element < element);
        for known in self.declared[first..]
            .iter()
            .take_while(|known| known.element == element)
        {
            if let Some(scope) = self.in_scope.get_mut(&known.prefix) {
                scope.pop();
            }
        }
    }

    /// Completes the tree: records where each node's descendants end.
    pub(super) fn complete(mut self) -> Tree {
        self.in_scope = HashMap::new();
        self.uri_places = HashMap::new();
        for id in (0..self.nodes.len()).rev() {
            let NodeData { parent, end, .. } = self.nodes[id];
            let end = match end {
                NONE => number(id + 1),
                end => end,
            };
            self.nodes[id].end = end;
            let above = &mut self.nodes[parent as usize].end;
            // The last node that belongs to the parent is visited first.
            if id > 0 && *above == NONE {
                *above = end;
            }
        }
        self
    }

    /// `PrefixResolverDefault` checks the outermost element: first its own name, then its declarations.
    pub(super) fn namespace_at_root(&self, prefix: &str) -> Option<String> {
        let mut children = self.root().children();
        let top = children.find(|child| child.kind() == NodeKind::Element)?;
        let named = top
            .qualified_name()
            .strip_prefix(prefix)
            .is_some_and(|rest| rest.starts_with(':'));
        match named && !self.namespaces {
            true => None,
            false if prefix == "xml" => Some(XML_NAMESPACE.to_owned()),
            false => {
                let mut declared = self.declared_at(top.id);
                let binding = declared.find(|(known, _)| *known == prefix);
                binding.map(|(_, uri)| uri.to_owned())
            }
        }
    }

    pub(crate) fn root(&self) -> NodeRef<'_> {
        NodeRef { tree: self, id: 0 }
    }
}

/// A reference to a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeRef<'a> {
    pub(super) tree: &'a Tree,
    id: usize,
}

impl<'a> NodeRef<'a> {
    fn data(self) -> &'a NodeData {
        &self.tree.nodes[self.id]
    }

    /// The name as written.
    pub(crate) fn qualified_name(self) -> &'a str {
        self.tree.part(self.data().name.whole)
    }

    /// The content of a text, comment, attribute or processing instruction.
    pub(crate) fn text(self) -> &'a str {
        self.tree.part(self.data().text)
    }

    /// Whether `other` is this node or belongs to it.
    pub(crate) fn contains(self, other: NodeRef<'_>) -> bool {
        (self.id..self.data().end as usize).contains(&other.id)
    }

    /// The following siblings; an attribute has none.
    pub(crate) fn following_siblings(self) -> impl Iterator<Item = NodeRef<'a>> + 'a {
        let is_child = !matches!(self.kind(), NodeKind::Attribute | NodeKind::Namespace);
        self.chain(if is_child { self.data().next } else { NONE })
    }

    /// The namespaces declared on this element: prefixes and URIs.
    pub(crate) fn declared(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.tree.declared_at(self.id)
    }

    fn at(self, id: u32) -> Option<NodeRef<'a>> {
        (id != NONE).then_some(NodeRef {
            tree: self.tree,
            id: id as usize,
        })
    }

    /// A node and its successors by `next`.
    fn chain(self, first: u32) -> impl Iterator<Item = NodeRef<'a>> + 'a {
        std::iter::successors(self.at(first), |node| node.at(node.data().next))
    }

    fn local_name(self) -> &'a str {
        let Name { whole, local } = self.data().name;
        let end = whole.end;
        self.tree.part(Span { start: local, end })
    }

    fn uri(self) -> Option<&'a str> {
        let uris = &self.tree.uris;
        uris.get(self.data().uri as usize).map(String::as_str)
    }
}

/// The prefix that an attribute declares, if it is a namespace declaration.
fn declared_prefix(name: &str) -> Option<&str> {
    match name.strip_prefix("xmlns")? {
        "" => Some(""),
        rest => rest.strip_prefix(':'),
    }
}

impl Hash for NodeRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
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
            id: self.data().parent as usize,
        })
    }

    fn children(self) -> impl Iterator<Item = Self> + 'a {
        self.chain(self.data().first_child)
    }

    fn attributes(self) -> impl Iterator<Item = Self> + 'a {
        self.chain(self.data().first_attribute)
    }

    /// Only includes namespaces used by the names of this element and its attributes; that suffices for `name()`.
    fn namespaces(self) -> impl Iterator<Item = Self> + 'a {
        let used = std::iter::once(self).chain(self.attributes());
        used.filter_map(|node| node.at(node.data().own_prefix))
    }

    fn expanded_name(self) -> Option<ExpandedName> {
        if matches!(
            self.kind(),
            NodeKind::Root | NodeKind::Comment | NodeKind::Text
        ) {
            return None;
        }
        Some(ExpandedName {
            namespace_uri: self.uri().map(str::to_owned),
            local_name: self.local_name().to_owned(),
        })
    }

    fn string_value(self) -> String {
        match self.data().kind {
            NodeKind::Root | NodeKind::Element => {
                let mut out = String::new();
                push_text(self, &mut out);
                out
            }
            _ => self.text().to_owned(),
        }
    }

    fn document_order(self, other: Self) -> Ordering {
        self.id.cmp(&other.id)
    }

    fn has_expanded_name(self, namespace_uri: Option<&str>, local_name: &str) -> bool {
        self.local_name() == local_name && self.uri() == namespace_uri
    }
}

fn push_text(node: NodeRef<'_>, out: &mut String) {
    // The descendants of a node directly follow it in the list.
    let (tree, end) = (node.tree, node.data().end);
    let first = tree
        .texts
        .partition_point(|text| (*text as usize) < node.id);
    let texts = tree.texts[first..].iter().take_while(|text| **text < end);
    texts.for_each(|text| out.push_str(tree.part(tree.nodes[*text as usize].text)));
}
