//! Turns XML elements into test elements, by the rules of JMeter's converters (`org.apache.jmeter.save.converters`).

use std::borrow::Cow;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use drumfire_java::values::parse_bool;
use drumfire_platform::spelling::did_you_mean;
use rustc_hash::FxBuildHasher;

use crate::classes::{aliases, canonical_class, full_class_name, is_known_alias};
use crate::diagnostic::Diagnostic;
use crate::name::{Name, NameInterner};
use crate::props::is_property;
use crate::source::{SourceFile, Span};
use crate::tree::{Node, Props};
use crate::upgrade;
use crate::xml::{Document, MAX_DEPTH, NodeId, XmlNode};

/// Findings beyond this number are counted, not listed: nobody would read them.
const MAX_FINDINGS: usize = 100;
/// How many bytes of XML `reference` attributes may repeat. A few nested references could expand to gigabytes; JMeter
/// itself only uses them to share a listener's columns, about a kilobyte each.
const MAX_REFERENCED_BYTES: usize = 8 << 20;

const HASH_TREE: &str = "hashTree";

/// The result of reading a plan.
pub(crate) struct Interpretation {
    pub roots: Vec<Node>,
    pub findings: Vec<Diagnostic>,
}

pub(crate) fn plan(
    document: &Document<'_>,
    root: NodeId,
    source: &Arc<SourceFile>,
) -> Interpretation {
    let mut reader = PlanReader {
        document,
        source,
        url_encoded: document.attribute(root, "version") == Some("1.0"),
        renamed: &[],
        nesting: 0,
        referenced_bytes: 0,
        findings: Vec::new(),
        muted: 0,
        names: NameInterner::default(),
        classes: HashMap::default(),
        kinds: HashMap::default(),
    };
    let roots = reader.outer_tree(root);
    let PlanReader {
        mut findings,
        muted,
        ..
    } = reader;
    if muted > 0 {
        findings.push(
            Diagnostic::note("jmx-more", format!("{muted} more findings are not shown"))
                .in_file(source),
        );
    }
    Interpretation { roots, findings }
}

/// Whether a tag is one of JMeter's test elements, judged by its name alone.
pub(crate) fn is_test_element(tag: &str) -> bool {
    is_known_alias(tag) && tag.starts_with(|c: char| c.is_uppercase()) && tag != "FloatProperty"
}

/// The names of the test elements around an XML element, from the Test Plan down, itself included.
pub(crate) fn path_of(document: &Document<'_>, id: NodeId) -> Vec<String> {
    let is_tree = |id: NodeId| class_of(document, id) == HASH_TREE;
    let mut path = Vec::new();
    let mut at = Some(id);
    while let Some(id) = at {
        let node = document.node(id);
        let in_tree = node.parent().is_some_and(is_tree);
        let element = if !in_tree {
            None
        } else if is_tree(id) {
            // The `hashTree` belongs to the element before it.
            node.previous().filter(|&previous| !is_tree(previous))
        } else {
            Some(id)
        };
        if let Some(element) = element.filter(|&id| !is_property(&class_of(document, id))) {
            let name = document
                .attribute(element, "testname")
                .filter(|name| !name.is_empty());
            path.push(name.unwrap_or(document.node(element).name).to_string());
        }
        at = node.parent();
    }
    path.reverse();
    path
}

/// XStream's spelling of class names as tags: `_-` is `$` and `__` is `_` (`XmlFriendlyNameCoder`).
fn tag_to_class(tag: &str) -> Cow<'_, str> {
    if !tag.contains('_') {
        return Cow::Borrowed(tag);
    }
    let mut out = String::with_capacity(tag.len());
    let mut rest = tag;
    while let Some(at) = rest.find('_') {
        out.push_str(&rest[..at]);
        let (decoded, length) = match rest.as_bytes().get(at + 1) {
            Some(b'-') => ('$', 2),
            Some(b'_') => ('_', 2),
            _ => ('_', 1),
        };
        out.push(decoded);
        rest = &rest[at + length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The class of an XML element: its `class` attribute, or else its tag.
fn written_class<'d>(document: &'d Document<'_>, id: NodeId) -> Cow<'d, str> {
    match document.attribute(id, "class") {
        Some(class) => Cow::Borrowed(class),
        None => tag_to_class(document.node(id).name),
    }
}

/// The canonical name of that class.
fn class_of<'d>(document: &'d Document<'_>, id: NodeId) -> Cow<'d, str> {
    match written_class(document, id) {
        // These tags make up most of a plan and are aliases of nothing else.
        Cow::Borrowed(
            tag @ ("stringProp" | "boolProp" | "intProp" | "elementProp" | "collectionProp"
            | "hashTree"),
        ) => Cow::Borrowed(tag),
        Cow::Borrowed(name) => Cow::Borrowed(canonical_class(name)),
        Cow::Owned(name) => Cow::Owned(canonical_class(&name).to_string()),
    }
}

pub(crate) struct PlanReader<'d, 'x> {
    pub document: &'d Document<'x>,
    source: &'d Arc<SourceFile>,
    /// Texts of plans of version 1.0 are URL-encoded (`ConversionHelp.decode`).
    pub url_encoded: bool,
    /// Renamed properties of the test element that is being read.
    pub renamed: &'static [(&'static str, &'static str)],
    /// How many properties enclose the one that is being read.
    pub nesting: usize,
    referenced_bytes: usize,
    findings: Vec<Diagnostic>,
    muted: usize,
    pub names: NameInterner,
    /// Classes by their spelling in the file.
    classes: HashMap<String, Rc<ClassName>, FxBuildHasher>,
    /// Test elements by the spelling of their class and then of their GUI class.
    kinds: HashMap<String, HashMap<String, Rc<TestKind>, FxBuildHasher>, FxBuildHasher>,
}

/// A `<hashTree>` that is being read.
struct OpenTree {
    next: Option<NodeId>,
    nodes: Vec<Node>,
    /// Whether an element has been read whose tree has not.
    tree_due: bool,
}

impl OpenTree {
    fn new(first_child: Option<NodeId>) -> Self {
        OpenTree {
            next: first_child,
            nodes: Vec::new(),
            tree_due: false,
        }
    }
}

/// A class name after upgrades.
pub(crate) struct ClassName {
    pub full: String,
    pub canonical: Name,
}

/// The facts that all test elements of one class and one GUI class share.
struct TestKind {
    /// The canonical name, after upgrades.
    class: Name,
    written_class: Name,
    gui_class: Name,
    renamed_properties: &'static [(&'static str, &'static str)],
    /// JMeter no longer has the class and loads an element that does nothing in its place.
    is_removed: bool,
}

impl<'d, 'x> PlanReader<'d, 'x> {
    pub fn node(&self, id: NodeId) -> &'d XmlNode<'x> {
        self.document.node(id)
    }

    pub fn attribute(&self, id: NodeId, name: &str) -> Option<&'d str> {
        self.document.attribute(id, name)
    }

    pub fn class_of(&self, id: NodeId) -> Cow<'d, str> {
        class_of(self.document, id)
    }

    /// Reports something inside an XML element.
    pub fn report(&mut self, id: NodeId, span: Span, finding: Diagnostic) {
        if self.findings.len() >= MAX_FINDINGS {
            self.muted += 1;
            return;
        }
        self.findings.push(
            finding
                .at(self.source, span)
                .within(path_of(self.document, id)),
        );
    }

    /// Reports an unknown name, with the most similar known name as help, or else the given help.
    pub fn unknown_name<'a>(
        &self,
        code: &'static str,
        message: String,
        written: &str,
        known: impl Iterator<Item = &'a str>,
        otherwise: &str,
    ) -> Diagnostic {
        let finding = Diagnostic::error(code, message);
        // The search is slow for a file with a million unknown names, and the result would not be shown.
        let will_show = self.findings.len() < MAX_FINDINGS;
        match did_you_mean(written, known.take_while(|_| will_show)) {
            Some(meant) => finding.help(format!("did you mean {meant}?")),
            None => finding.help(otherwise),
        }
    }

    /// Whether reading stopped inside the element, so that its content is incomplete.
    pub fn is_cut(&self, id: NodeId) -> bool {
        self.node(id).end().is_none()
    }

    /// The class of an element after the upgrades of `SaveService`'s XStream mapper.
    pub fn upgraded_class(&mut self, written: &str) -> Rc<ClassName> {
        if let Some(class) = self.classes.get(written) {
            return class.clone();
        }
        let full = full_class_name(written);
        let full = upgrade::renamed_class(full).unwrap_or_else(|| full.to_string());
        let class = Rc::new(self.class_name(full));
        self.classes.insert(written.to_owned(), class.clone());
        class
    }

    fn class_name(&mut self, full: String) -> ClassName {
        let canonical = self.names.get(canonical_class(&full));
        ClassName { full, canonical }
    }

    /// The facts about a test element, by the names of its class and GUI class in the file.
    fn test_kind(&mut self, written: &str, gui: &str) -> Rc<TestKind> {
        let kind = self.kinds.get(written).and_then(|kinds| kinds.get(gui));
        if let Some(kind) = kind {
            return kind.clone();
        }
        let mut class = self.upgraded_class(written);
        if let Some(full) = upgrade::renamed_test_class(&class.full, full_class_name(gui)) {
            class = Rc::new(self.class_name(full));
        }
        let kind = Rc::new(TestKind {
            class: class.canonical.clone(),
            written_class: self.names.get(written),
            gui_class: self.upgraded_class(gui).canonical.clone(),
            renamed_properties: upgrade::renamed_properties(&class.full),
            is_removed: upgrade::is_removed(full_class_name(written)),
        });
        let kinds = self.kinds.entry(written.to_owned()).or_default();
        kinds.insert(gui.to_owned(), kind.clone());
        kind
    }

    fn outer_tree(&mut self, root: NodeId) -> Vec<Node> {
        let Some(first) = self.node(root).first_child() else {
            if !self.is_cut(root) {
                let span = self.node(root).tag();
                let finding = Diagnostic::error(
                    "jmx-no-tree",
                    "the plan is empty: <jmeterTestPlan> holds no <hashTree>",
                );
                self.report(root, span, finding.help(crate::sniff::SAVE_AGAIN));
            }
            return Vec::new();
        };
        if self.class_of(first) != HASH_TREE {
            let node = self.node(first);
            let message = format!(
                "<jmeterTestPlan> holds <{}> where its <hashTree> should be",
                node.name
            );
            let finding = Diagnostic::error("jmx-no-tree", message)
                .help("put <hashTree> and </hashTree> around the elements");
            self.report(first, node.tag(), finding);
            return Vec::new();
        }
        let roots = self.hash_tree(first);
        if roots.is_empty() && !self.is_cut(first) && self.node(first).first_child().is_none() {
            let finding = Diagnostic::error(
                "jmx-no-elements",
                "the plan is empty: its outer <hashTree> holds no Test Plan",
            );
            let span = self.node(first).tag();
            self.report(first, span, finding.help(crate::sniff::SAVE_AGAIN));
        }
        roots
    }

    /// Reads elements and trees alternately: a tree holds the children of the element before it (`HashTreeConverter`).
    /// The last element may lack its tree. Iterative, because a deep plan would overflow the stack.
    fn hash_tree(&mut self, id: NodeId) -> Vec<Node> {
        let mut around: Vec<OpenTree> = Vec::new();
        let mut tree = OpenTree::new(self.follow(id).and_then(|id| self.node(id).first_child()));
        loop {
            let Some(child) = tree.next else {
                let Some(mut outer) = around.pop() else {
                    return tree.nodes;
                };
                if let Some(last) = outer.nodes.last_mut() {
                    last.children.append(&mut tree.nodes);
                }
                tree = outer;
                continue;
            };
            tree.next = self.node(child).next();
            if self.class_of(child) != HASH_TREE {
                if tree.tree_due {
                    self.missing_tree(child);
                }
                tree.tree_due = true;
                tree.nodes.extend(self.test_element(child));
                continue;
            }
            if !tree.tree_due {
                self.unexpected_tree(child);
            }
            tree.tree_due = false;
            if around.len() >= MAX_DEPTH {
                self.too_deep(child);
            } else if let Some(target) = self.follow(child) {
                let below = OpenTree::new(self.node(target).first_child());
                around.push(std::mem::replace(&mut tree, below));
            }
        }
    }

    /// Reports an element that is nested too deeply: `reference` attributes and nested properties can go deeper than the
    /// tags of the file.
    pub fn too_deep(&mut self, id: NodeId) {
        let finding = Diagnostic::error("xml-depth", "elements are nested too deep")
            .help("no plan needs this; the file was probably not written by JMeter");
        self.report(id, self.node(id).tag(), finding);
    }

    fn unexpected_tree(&mut self, id: NodeId) {
        let message = match self.node(id).previous() {
            None => "<hashTree> has no element before it",
            Some(_) => "<hashTree> follows another <hashTree>, so it belongs to no element",
        };
        let finding = Diagnostic::error("jmx-stray-tree", message)
            .help("each element is followed by one <hashTree>: remove this one, or put back the element that is missing before it");
        self.report(id, self.node(id).tag(), finding);
    }

    fn missing_tree(&mut self, id: NodeId) {
        let node = self.node(id);
        let before = node
            .previous()
            .map(|previous| self.node(previous).name)
            .unwrap_or("");
        let message = format!(
            "<hashTree> is missing between <{before}> and <{}>",
            node.name
        );
        let finding = Diagnostic::error("jmx-missing-tree", message).help(
            "write <hashTree/> between them; what is below the first goes into that <hashTree>",
        );
        self.report(id, node.tag(), finding);
    }

    /// One test element without what is below it (`TestElementConverter`); `None` if it cannot be one.
    fn test_element(&mut self, id: NodeId) -> Option<Node> {
        let id = self.follow(id)?;
        let written = written_class(self.document, id);
        // A known class was already checked at its first occurrence.
        if !self.kinds.contains_key(&*written) && !self.check_class(id, &written) {
            return None;
        }
        let gui = self.attribute(id, "guiclass");
        if gui.is_none() && !self.is_cut(id) {
            let node = self.node(id);
            let finding = Diagnostic::error("jmx-no-guiclass", format!("<{}> has no guiclass attribute", node.name))
                .help("JMeter refuses the whole plan without it; write guiclass=\"…\" as JMeter saves it for such an element");
            self.report(id, node.tag(), finding);
        }
        let kind = self.test_kind(&written, gui.unwrap_or(""));
        self.renamed = kind.renamed_properties;
        let props: Props = self.properties(id).into_iter().collect();
        let name = self.attribute(id, "testname").unwrap_or("");
        let name = self.decode(id, self.node(id).tag(), name);
        let enabled_as = self.attribute(id, "enabled");
        let mut node = Node {
            class: kind.class.clone(),
            written_class: kind.written_class.clone(),
            gui_class: kind.gui_class.clone(),
            name: self.names.get(&name),
            enabled: enabled_as.is_none_or(parse_bool),
            enabled_as: self.names.get(enabled_as.unwrap_or("")),
            span: self.node(id).tag(),
            whole: self.node(id).span(),
            props,
            children: Vec::new(),
        };
        override_by_properties(&mut node);
        upgrade::rename_values(&node.class, &mut node.props);
        if kind.is_removed && node.enabled {
            self.warn_of_removed(id, &node);
        }
        Some(node)
    }

    /// Whether a class is a test element of JMeter's or could be one of a plugin; reports it if it is neither.
    fn check_class(&mut self, id: NodeId, written: &str) -> bool {
        let node = self.node(id);
        let finding = if self.upgraded_class(written).canonical == "ObsoleteGui" {
            Diagnostic::error(
                "jmx-removed-element",
                format!("JMeter no longer has {written} and refuses the whole plan for it"),
            )
            .help("remove the element, or replace it with a Thread Group")
        } else if is_property(canonical_class(written)) {
            Diagnostic::error("jmx-stray-property", format!("<{}> is not inside an element", node.name))
                .help("a property stands between the start tag and the end tag of its element, not in a <hashTree>")
        } else if written.contains('.') || is_test_element(written) {
            return true;
        } else {
            let message = format!(
                "<{}> is neither an element of JMeter nor a full class name",
                node.name
            );
            let otherwise =
                "write a plugin's element with its full class name, such as com.example.Sampler";
            self.unknown_name(
                "jmx-unknown-element",
                message,
                written,
                test_elements(),
                otherwise,
            )
        };
        self.report(id, node.tag(), finding);
        false
    }

    fn warn_of_removed(&mut self, id: NodeId, node: &Node) {
        let message = format!(
            "JMeter no longer has {}: 5.6.3 loads an element that does nothing instead",
            node.written_class
        );
        let finding = Diagnostic::warning("jmx-removed-element", message)
            .help("replace it with the element that does its job today, or disable it");
        self.report(id, self.node(id).tag(), finding);
    }

    /// Decodes text of a plan of version 1.0, which is URL-encoded; other text stays as it is.
    pub fn decode<'t>(&mut self, id: NodeId, span: Span, text: &'t str) -> Cow<'t, str> {
        if !self.url_encoded || !text.contains(['%', '+']) {
            return Cow::Borrowed(text);
        }
        match url_decode(text) {
            Some(decoded) => Cow::Owned(decoded),
            None => {
                let finding = Diagnostic::error("jmx-bad-escape", "a % is not followed by two hexadecimal digits")
                    .help("texts in a plan of version 1.0 are URL-encoded: write %25 for %, or set version=\"1.2\"");
                self.report(id, span, finding);
                Cow::Borrowed(text)
            }
        }
    }

    /// The element itself, or the one that its `reference` attribute leads to (XStream's `ReferenceByXPathUnmarshaller`).
    pub fn follow(&mut self, id: NodeId) -> Option<NodeId> {
        let Some(path) = self.attribute(id, "reference") else {
            return Some(id);
        };
        let node = self.node(id);
        let budget = MAX_REFERENCED_BYTES - self.referenced_bytes;
        let target = crate::reference::resolve(self.document, id, path)
            .filter(|&target| {
                self.node(target)
                    .end()
                    .is_some_and(|end| end <= node.tag().start)
            })
            .filter(|&target| self.attribute(target, "reference").is_none());
        let Some(target) = target else {
            let finding = Diagnostic::error(
                "jmx-bad-reference",
                format!("reference=\"{path}\" leads to no earlier element"),
            )
            .help("remove the attribute and write the content out");
            self.report(id, node.tag(), finding);
            return None;
        };
        let span = self.node(target).span();
        let size = span.end - span.start;
        if size > budget {
            let finding = Diagnostic::error(
                "jmx-bad-reference",
                "the plan refers to its own parts too often",
            )
            .help("remove reference attributes and write the content out");
            self.report(id, node.tag(), finding);
            return None;
        }
        self.referenced_bytes += size;
        Some(target)
    }
}

/// A property overrides the attribute of the same meaning, because JMeter sets it later.
fn override_by_properties(node: &mut Node) {
    if let Some(name) = node.props.value("TestElement.name") {
        node.name = name.as_str().into_owned().into();
    }
    if let Some(enabled) = node.props.value("TestElement.enabled") {
        node.enabled = enabled.as_bool();
    }
    if let Some(gui) = node.props.value("TestElement.gui_class") {
        node.gui_class = canonical_class(&gui.as_str()).into();
    }
}

/// The short names of test elements.
pub(crate) fn test_elements() -> impl Iterator<Item = &'static str> {
    aliases().filter(|name| is_test_element(name))
}

/// `java.net.URLDecoder`: `+` is a blank, `%` starts a byte of UTF-8; `None` is its `IllegalArgumentException`.
fn url_decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = rest.get(..2)?;
                let value = std::str::from_utf8(digits)
                    .ok()
                    .filter(|d| !d.starts_with('+'))?;
                bytes.push(u8::from_str_radix(value, 16).ok()?);
                rest = &rest[2..];
            }
            _ => bytes.push(byte),
        }
    }
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_spell_class_names() {
        assert_eq!(tag_to_class("ThreadGroup"), "ThreadGroup");
        assert_eq!(tag_to_class("HTTPSampler__"), "HTTPSampler_");
        assert_eq!(tag_to_class("com.x.Outer_-Inner"), "com.x.Outer$Inner");
        assert_eq!(tag_to_class("a_b_"), "a_b_");
    }

    #[test]
    fn url_decoding_as_java_does_it() {
        assert_eq!(url_decode("a%20b+c").as_deref(), Some("a b c"));
        assert_eq!(url_decode("%C3%A9é").as_deref(), Some("éé"));
        for bad in ["a%2", "%", "%zz", "%+1"] {
            assert_eq!(url_decode(bad), None, "{bad}");
        }
    }
}
