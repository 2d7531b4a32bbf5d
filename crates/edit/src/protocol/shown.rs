//! Sessions as messages.

use drumfire_elements::Role;
use drumfire_jmx::Node;

use super::findings::Inspected;
use super::marks::Marks;
use super::types::{self, Change, ConflictText, Element, Field, Hit, Opened};
use crate::forms;
use crate::operations::defaults::{ElementType, role};
use crate::operations::search;
use crate::refused::{Refused, no_element};
use crate::session::Session;
use crate::tree::{Changed, Id, Outline};

/// The longest text that a hit shows whole, and how much of a longer one stands on each side, in characters.
const LONG: usize = 400;
const AROUND: usize = 150;

/// A plan that is open, with what its last inspection found.
pub struct OpenPlan {
    /// Its number.
    pub number: u64,
    /// The session.
    pub session: Session,
    /// The last inspection.
    pub inspected: Inspected,
    /// The elements that differ from the last commit.
    pub marks: Marks,
}

impl OpenPlan {
    /// An element.
    pub fn node(&self, id: Id) -> Option<types::Node> {
        let model = self.session.model();
        let outline = model.outline();
        let at = outline.index(id)?;
        Some(self.node_of(outline, at, model.node_at(at)))
    }

    fn node_of(&self, outline: &Outline, at: usize, node: &Node) -> types::Node {
        let entry = &outline.entries[at];
        types::Node {
            id: entry.id,
            parent: outline.parent(at),
            children: entry.children.clone(),
            class: node.class.to_string(),
            gui: node.gui_class.to_string(),
            type_name: type_name(node),
            name: node.name.to_string(),
            enabled: node.enabled,
            category: role(node).map(Role::menu).unwrap_or("Other").to_owned(),
            findings: self.inspected.counts(entry.id),
            runs: self.inspected.runs(entry.id).map(str::to_owned),
            git: self.marks.of(entry.id).map(str::to_owned),
        }
    }

    /// The whole plan.
    pub fn opened(&self) -> Opened {
        let session = &self.session;
        let model = session.model();
        let outline = model.outline();
        let mut nodes = Vec::with_capacity(outline.entries.len());
        crate::tree::each(&model.tree().roots, &mut |node| {
            nodes.push(self.node_of(outline, nodes.len(), node));
        });
        let fault = session
            .journal_fault()
            .map(|fault| format!("Undo ends with the program: {fault}"));
        Opened {
            plan: self.number,
            revision: session.revision(),
            root: model.root(),
            nodes,
            path: session.path().display().to_string(),
            version: model.tree().jmeter.clone().unwrap_or_default(),
            encoding: session.encoding().to_owned(),
            read_only: session.read_only().is_some(),
            note: session.read_only().map(str::to_owned).or(fault),
            dirty: session.is_dirty(),
            conflict: session.sides().is_some(),
            can_undo: session.can_undo().map(str::to_owned),
            can_redo: session.can_redo().map(str::to_owned),
        }
    }

    /// The outcome of a change; `before` are the elements before it.
    pub fn change(&self, changed: &Changed, before: &Outline) -> Change {
        let session = &self.session;
        let outline = session.model().outline();
        let is_new = |id: Id| before.index(id).is_none();
        let created = changed.nodes.iter().copied().filter(|id| {
            let parent = outline.index(*id).and_then(|at| outline.parent(at));
            is_new(*id) && parent.is_none_or(|parent| !is_new(parent))
        });
        Change {
            revision: session.revision(),
            nodes: changed
                .nodes
                .iter()
                .filter_map(|id| self.node(*id))
                .collect(),
            removed: changed.removed.clone(),
            created: created.collect(),
            dirty: session.is_dirty(),
            can_undo: session.can_undo().map(str::to_owned),
            can_redo: session.can_redo().map(str::to_owned),
        }
    }

    /// An element with its form.
    ///
    /// # Errors
    /// It is not there.
    pub fn element(&self, id: Id) -> Result<Element, Refused> {
        let model = self.session.model();
        let node = model.node(id).ok_or_else(|| no_element(id))?;
        let shown = self.node(id).ok_or_else(|| no_element(id))?;
        let kind = ElementType::of(node);
        let mut fields = forms::fields(&self.session, id);
        let findings = self
            .inspected
            .findings
            .iter()
            .filter(|finding| finding.id == id);
        for finding in findings {
            let Some(property) = &finding.property else {
                continue;
            };
            let holds = |field: &&mut Field| {
                let rest = property.strip_prefix(field.property.as_str());
                rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            };
            if let Some(field) = fields.iter_mut().find(holds) {
                field.findings.push(finding.clone());
            }
        }
        Ok(Element {
            node: shown,
            fields,
            xml: model.text()[node.whole.start..node.whole.end].to_owned(),
            line: model.tree().source.line_column(node.whole.start).0,
            generic: kind.is_none() && model.jar_forms.of(node).is_none(),
            help: kind.and_then(|kind| unless_empty(kind.facts.help)),
            differs: kind.and_then(|kind| unless_empty(kind.facts.differs)),
        })
    }

    /// The conflicts with another program's version of the file.
    pub fn conflicts(&self) -> Vec<ConflictText> {
        let model = self.session.model();
        let outline = model.outline();
        let path = |at: usize| {
            let mut names: Vec<&str> = outline
                .upwards(at)
                .map(|at| model.node_at(at).name.as_str())
                .collect();
            names.reverse();
            names.join(" > ")
        };
        let conflicts = self.session.conflicts().iter();
        let shown = conflicts.map(|conflict| {
            let mut all = 0..outline.entries.len();
            let at = all.find(|at| path(*at) == conflict.element);
            ConflictText {
                element: conflict.element.clone(),
                setting: conflict.setting.clone(),
                ours: conflict.ours.clone(),
                theirs: conflict.theirs.clone(),
                id: at.map(|at| outline.entries[at].id),
            }
        });
        shown.collect()
    }

    /// A place that a search found.
    pub fn hit(&self, hit: &search::Hit, after: Option<&str>) -> Hit {
        let node = self.session.model().node(hit.id);
        let units = drumfire_java::text::utf16_index;
        let (from, to) = window(&hit.before, hit.start, hit.end);
        let before = &hit.before[from..to];
        // The end of the text is the same before and after.
        let after = after.map(|after| {
            let end = after.len().saturating_sub(hit.before.len() - to);
            after.get(from..end).unwrap_or(after).to_owned()
        });
        Hit {
            id: hit.id,
            name: node.map(|node| node.name.to_string()).unwrap_or_default(),
            type_name: node.map(type_name).unwrap_or_default(),
            property: hit.property.clone(),
            start: units(before, hit.start - from),
            end: units(before, hit.end - from),
            before: before.to_owned(),
            after,
        }
    }
}

/// The text, unless it is empty.
fn unless_empty(text: &str) -> Option<String> {
    (!text.is_empty()).then(|| text.to_owned())
}

/// The part of a text that is shown for a hit.
fn window(text: &str, start: usize, end: usize) -> (usize, usize) {
    if text.len() <= LONG {
        return (0, text.len());
    }
    let from = text.floor_char_boundary(start.saturating_sub(AROUND));
    (
        from,
        text.ceil_char_boundary((end + AROUND).min(text.len())),
    )
}

/// The name of an element's type for people.
pub fn type_name(node: &Node) -> String {
    drumfire_elements::type_name(&node.class, &node.gui_class).to_owned()
}
