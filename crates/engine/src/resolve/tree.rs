//! The tree that is run: disabled elements are removed, and Module and Include Controllers contain the elements that they
//! point to (`JMeter#pConvertSubTree`).

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drumfire_elements::controllers::{include_controller, module_controller, test_fragment};
use drumfire_elements::other::test_plan;
use drumfire_expr::Properties;
use drumfire_java::file_server;
use drumfire_jmx::{Diagnostic, Name, Node, Props, SourceFile, Span, Tree};
use drumfire_platform::spelling::near_file;

use super::jmeter6;

/// How deep Include Controllers may nest. A file that includes itself exceeds this, which is an error.
const MAX_INCLUDE_DEPTH: usize = 32;

/// One element of the tree that is run.
#[derive(Clone)]
pub struct Element {
    /// Identifies the element in the tree. Thread groups that share an element share its id, as JMeter shares elements that it
    /// does not clone.
    pub id: usize,
    pub class: Name,
    pub gui_class: Name,
    pub name: Name,
    pub props: Props,
    pub span: Span,
    pub source: Arc<SourceFile>,
    trail: Arc<Trail>,
    pub children: Vec<Element>,
}

/// An element's name and those of the elements around it.
struct Trail {
    name: Name,
    above: Option<Arc<Trail>>,
    /// How many names there are.
    length: usize,
}

impl Trail {
    fn new(name: &Name, above: Option<&Arc<Trail>>) -> Trail {
        Trail {
            name: name.clone(),
            above: above.cloned(),
            length: above.map(|above| above.length).unwrap_or(0) + 1,
        }
    }

    /// The names from the Test Plan down.
    fn names(&self) -> Vec<String> {
        let around = std::iter::successors(Some(self), |trail| trail.above.as_deref());
        let mut names: Vec<String> = around.map(|trail| trail.name.to_string()).collect();
        names.reverse();
        names
    }
}

impl Element {
    /// The names of the elements around it, from the Test Plan down, and its own.
    pub fn path(&self) -> Vec<String> {
        self.trail.names()
    }

    /// The element without its children.
    pub fn alone(&self) -> Element {
        Element {
            id: self.id,
            class: self.class.clone(),
            gui_class: self.gui_class.clone(),
            name: self.name.clone(),
            props: self.props.clone(),
            span: self.span,
            source: self.source.clone(),
            trail: self.trail.clone(),
            children: Vec::new(),
        }
    }

    /// An error that points to this element.
    pub fn error(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::error(code, message)
            .at(&self.source, self.span)
            .within(self.path())
    }

    pub fn warning(&self, code: &'static str, message: impl Into<String>) -> Diagnostic {
        Diagnostic::warning(code, message)
            .at(&self.source, self.span)
            .within(self.path())
    }
}

/// Builds the tree that is run, and reports targets that cannot be found.
pub struct Resolver<'a> {
    properties: &'a Properties,
    base_dir: &'a Path,
    pub findings: Vec<Diagnostic>,
    next_id: usize,
    /// The whole tree of the file, disabled elements included, since Module Controllers may point to them.
    roots: Arc<[Node]>,
    source: Arc<SourceFile>,
    include_depth: usize,
    included: HashMap<PathBuf, Tree>,
}

impl<'a> Resolver<'a> {
    pub fn new(tree: Tree, properties: &'a Properties, base_dir: &'a Path) -> Resolver<'a> {
        let (tree, note) = jmeter6::as_saved(tree);
        Resolver {
            properties,
            base_dir,
            findings: note.into_iter().collect(),
            next_id: 0,
            roots: tree.roots,
            source: tree.source,
            include_depth: 0,
            included: HashMap::new(),
        }
    }

    /// The Test Plan with everything below it.
    pub fn resolve(&mut self) -> Option<Element> {
        let roots = self.roots.clone();
        let source = self.source.clone();
        let Some(plan) = roots.iter().find(|node| node.class == test_plan::CLASS) else {
            let finding = Diagnostic::error("no-test-plan", "the file has no Test Plan");
            let finding = match roots.first() {
                Some(first) => finding.help(format!(
                    "it is probably a fragment, since it begins with a {}: run the plan that includes it, or put a Test Plan around its elements",
                    first.class
                )),
                None => finding,
            };
            self.findings.push(finding.in_file(&source));
            return None;
        };
        Some(self.element(plan, &source, None))
    }

    fn element(
        &mut self,
        node: &Node,
        source: &Arc<SourceFile>,
        above: Option<&Arc<Trail>>,
    ) -> Element {
        let trail = Arc::new(Trail::new(&node.name, above));
        let id = self.next_id;
        self.next_id += 1;
        let children = match node.class.as_str() {
            module_controller::CLASS => self.module(node, source, &trail),
            include_controller::CLASS => self.include(node, source, &trail),
            _ => self.elements(&node.children, source, &trail),
        };
        Element {
            id,
            class: node.class.clone(),
            gui_class: node.gui_class.clone(),
            name: node.name.clone(),
            props: node.props.clone(),
            span: node.span,
            source: source.clone(),
            trail,
            children,
        }
    }

    fn elements(
        &mut self,
        nodes: &[Node],
        source: &Arc<SourceFile>,
        trail: &Arc<Trail>,
    ) -> Vec<Element> {
        nodes
            .iter()
            .filter(|node| node.enabled)
            .map(|node| self.element(node, source, Some(trail)))
            .collect()
    }

    /// Module Controller (`ModuleController`): runs the controller that it names in its place, wherever that one is in the
    /// plan and even if it is disabled.
    ///
    /// Property: `ModuleController.node_path`: names from the Test Plan down. A path that leads nowhere is an error here;
    /// JMeter ends such a run as it begins.
    ///
    /// `ModuleController#getReplacementSubTree`: the chosen controller itself, enabled, with everything below it.
    fn module(
        &mut self,
        node: &Node,
        source: &Arc<SourceFile>,
        trail: &Arc<Trail>,
    ) -> Vec<Element> {
        let names: Vec<String> = node
            .props
            .list("ModuleController.node_path")
            .iter()
            .map(|prop| prop.value.as_str().into_owned())
            .collect();
        let roots = self.roots.clone();
        let mut found = None;
        // The first name is the GUI's root; the Test Plan's own name is the second.
        traverse(&roots, &names, 1, &mut found);
        let Some(target) = found else {
            let finding = Diagnostic::error(
                "module-target-missing",
                format!("Module Controller '{}' has no selected controller: nothing is at '{}'", node.name, names.join(" > ")),
            )
            .at(source, node.span)
            .within(trail.names())
            .help("was an element on that path renamed? Choose the controller again in the Module Controller");
            self.findings.push(finding);
            return Vec::new();
        };
        if trail.length > drumfire_jmx::MAX_DEPTH {
            let finding = Diagnostic::error(
                "module-recursion",
                format!("Module Controller '{}' includes itself", node.name),
            )
            .at(source, node.span)
            .within(trail.names());
            self.findings.push(finding);
            return Vec::new();
        }
        vec![self.element(&target, source, Some(trail))]
    }

    /// Include Controller (`IncludeController`): runs the elements below the first Test Fragment of another file.
    ///
    /// Property: `IncludeController.includepath`, relative to the working directory or to the plan; the JMeter property
    /// `includecontroller.prefix` comes before it. Different from JMeter: a file that cannot be read keeps the plan from
    /// running, where JMeter logs it and runs the rest.
    ///
    /// `IncludeController#loadIncludedElements`: the elements below the first Test Fragment of the file.
    fn include(
        &mut self,
        node: &Node,
        source: &Arc<SourceFile>,
        trail: &Arc<Trail>,
    ) -> Vec<Element> {
        let written = node.props.str("IncludeController.includepath").into_owned();
        if written.is_empty() {
            return self.elements(&node.children, source, trail);
        }
        if self.include_depth >= MAX_INCLUDE_DEPTH {
            self.findings.push(
                Diagnostic::error("include-recursion", format!("'{written}' includes itself"))
                    .at(source, node.span)
                    .within(trail.names()),
            );
            return Vec::new();
        }
        let prefix = self
            .properties
            .get("includecontroller.prefix")
            .unwrap_or_default();
        let file = file_server::resolve_included(&prefix, &written, self.base_dir);
        let tree = match self.load_included(&file) {
            Ok(tree) => tree,
            Err(faults) => {
                self.findings.extend(faults.into_iter().map(|fault| {
                    let folders = [PathBuf::new(), self.base_dir.to_path_buf()];
                    let near = near_file(Path::new(written.trim()), &folders)
                        .filter(|_| fault.code == "file-not-found");
                    let help = match near {
                        Some(near) => Some(format!("write `{}`, which exists", near.display())),
                        None => fault.help.clone(),
                    };
                    let message = format!("cannot include '{written}': {}", fault.message);
                    let finding = Diagnostic::error("include-failed", message)
                        .at(source, node.span)
                        .within(trail.names());
                    match help {
                        Some(help) => finding.help(help),
                        None => finding,
                    }
                }));
                return Vec::new();
            }
        };
        self.include_depth += 1;
        let fragment = fragment_children(&tree.roots);
        if fragment.is_none() {
            let finding = Diagnostic::warning(
                "include-without-fragment",
                format!("'{written}' has no Test Fragment: nothing is included"),
            );
            self.findings
                .push(finding.at(source, node.span).within(trail.names()));
        }
        let children = self.elements(fragment.unwrap_or(&[]), &tree.source, trail);
        self.include_depth -= 1;
        children
    }

    fn load_included(&mut self, file: &Path) -> Result<Tree, Vec<Diagnostic>> {
        if let Some(tree) = self.included.get(file) {
            return Ok(tree.clone());
        }
        let read = drumfire_jmx::read_file(file)?;
        self.findings.extend(read.warnings);
        let (tree, note) = jmeter6::as_saved(read.tree);
        self.findings.extend(note);
        self.included.insert(file.to_path_buf(), tree.clone());
        Ok(tree)
    }
}

/// The children of the first Test Fragment (`IncludeController#getProperBranch`).
fn fragment_children(nodes: &[Node]) -> Option<&[Node]> {
    for node in nodes {
        match node.class.as_str() {
            test_plan::CLASS => return fragment_children(&node.children),
            test_fragment::CLASS => return Some(&node.children),
            _ => {}
        }
    }
    None
}

/// `ModuleController#traverse`: the last element that has the names in that order.
fn traverse(nodes: &[Node], names: &[String], level: usize, found: &mut Option<Node>) {
    let Some(name) = names.get(level) else { return };
    for node in nodes {
        if node.class == module_controller::CLASS || node.name != *name {
            continue;
        }
        if names.len() == level + 1 {
            *found = Some(node.clone());
        }
        traverse(&node.children, names, level + 1, found);
    }
}
