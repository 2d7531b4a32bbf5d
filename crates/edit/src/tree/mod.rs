//! The model of a plan: its text, the tree that was read from it, and a number for each element that outlives changes.

pub mod markup;
mod outline;
mod step;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drumfire_jmx::{Diagnostic, Node, Read, Tree};

use crate::jar_forms::JarForms;
pub use outline::Outline;
pub use step::{Id, Patch, Piece, Step, step};

/// The elements that a step changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changed {
    /// New elements, and those whose text, parent or children are others now.
    pub nodes: Vec<Id>,
    /// Elements that are gone.
    pub removed: Vec<Id>,
}

/// A plan that is being edited.
#[derive(Debug, Clone)]
pub struct Model {
    path: PathBuf,
    tree: Tree,
    outline: Arc<Outline>,
    /// The warnings of reading the text.
    pub warnings: Vec<Diagnostic>,
    /// The forms of classes that no facts describe.
    pub jar_forms: Arc<JarForms>,
    next: Id,
}

impl Model {
    /// A plan that was read from its file.
    pub fn new(path: &Path, read: Read) -> Model {
        let mut ids = Vec::new();
        let mut next = 1;
        each_start(&read.tree.roots, &mut |_| {
            ids.push(next);
            next += 1;
        });
        Model {
            path: path.to_owned(),
            outline: Arc::new(Outline::new(&read.tree.roots, &ids)),
            tree: read.tree,
            warnings: read.warnings,
            jar_forms: Arc::default(),
            next,
        }
    }

    /// The text of the file.
    pub fn text(&self) -> &str {
        &self.tree.source.text
    }

    /// The plan.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// The elements.
    pub fn outline(&self) -> &Arc<Outline> {
        &self.outline
    }

    /// The first element of the plan, which is its Test Plan.
    pub fn root(&self) -> Id {
        self.outline
            .entries
            .first()
            .map(|entry| entry.id)
            .unwrap_or(0)
    }

    /// An element by its number.
    pub fn node(&self, id: Id) -> Option<&Node> {
        let at = self.outline.index(id)?;
        Some(self.outline.node(&self.tree.roots, at))
    }

    /// The element with an index.
    pub fn node_at(&self, at: usize) -> &Node {
        self.outline.node(&self.tree.roots, at)
    }

    /// The parent of an element; `None` for the Test Plan.
    pub fn parent(&self, id: Id) -> Option<&Node> {
        let at = self.outline.index(id)?;
        Some(self.node_at(self.outline.entries[at].parent?))
    }

    /// A number that no element has or had.
    pub fn fresh_id(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// Makes a step and notes in it which elements it removed and inserted.
    ///
    /// # Errors
    /// The text would no longer be a plan; then nothing changes.
    pub fn apply(&mut self, step: &mut Step) -> Result<Changed, Vec<Diagnostic>> {
        let Some((replaced, inserted)) = step.joined(self.text()) else {
            let finding =
                Diagnostic::error("edit-other-text", "the change was made for another text");
            return Err(vec![finding]);
        };
        if step.patches.is_empty() {
            return Ok(Changed::default());
        }
        let is_clean = self.warnings.is_empty();
        if is_clean && let Some(path) = drumfire_jmx::reread(&mut self.tree, replaced, &inserted) {
            return Ok(Changed {
                nodes: self.outline.at_path(&path).into_iter().collect(),
                removed: Vec::new(),
            });
        }
        let mut starts = Vec::with_capacity(self.outline.entries.len());
        each_start(&self.tree.roots, &mut |start| starts.push(start));
        if !is_clean || !drumfire_jmx::reread_siblings(&mut self.tree, replaced, &inserted) {
            let text = self.text();
            let behind = &text[replaced.end..];
            let text = [&text[..replaced.start], inserted.as_str(), behind].concat();
            let read = drumfire_jmx::read(text.as_bytes(), &self.path)?;
            self.tree = read.tree;
            self.warnings = read.warnings;
        }
        let ids = self.carried(&starts, step);
        let outline = Outline::new(&self.tree.roots, &ids);
        let before = std::mem::replace(&mut self.outline, Arc::new(outline));
        Ok(self.changed(&before, step))
    }

    /// The numbers of the elements of the new tree. An element that began outside of the patches keeps its number.
    fn carried(&mut self, starts: &[usize], step: &mut Step) -> Vec<Id> {
        let mut ids_by_start: HashMap<usize, Id> =
            HashMap::with_capacity(self.outline.entries.len());
        step.patches
            .iter_mut()
            .for_each(|patch| patch.removed_ids.clear());
        let mut moved = MovedStarts::new(&step.patches);
        let mut removed: Vec<(usize, Id)> = Vec::new();
        for (entry, start) in self.outline.entries.iter().zip(starts) {
            match moved.place(*start) {
                Place::Moved(start) => drop(ids_by_start.insert(start, entry.id)),
                Place::Removed(patch) => removed.push((patch, entry.id)),
            }
        }
        for (patch, id) in removed {
            step.patches[patch].removed_ids.push(id);
        }
        self.numbered(&ids_by_start, step)
    }

    fn numbered(&mut self, kept: &HashMap<usize, Id>, step: &mut Step) -> Vec<Id> {
        let inserted = step.inserted_spans();
        let mut taken = vec![0; inserted.len()];
        let mut ids = Vec::with_capacity(kept.len());
        let mut next = self.next;
        each_start(&self.tree.roots, &mut |start| {
            if let Some(id) = kept.get(&start) {
                ids.push(*id);
                return;
            }
            let patch = inserted.partition_point(|span| span.end <= start);
            let is_inside = inserted.get(patch).is_some_and(|span| span.start <= start);
            let given = is_inside.then(|| step.patches[patch].inserted_ids.get(taken[patch]));
            let id = given.flatten().copied().unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            if is_inside {
                let inserted_ids = &mut step.patches[patch].inserted_ids;
                if taken[patch] == inserted_ids.len() {
                    inserted_ids.push(id);
                }
                taken[patch] += 1;
            }
            ids.push(id);
        });
        self.next = next;
        ids
    }

    fn changed(&self, before: &Outline, step: &Step) -> Changed {
        let inserted = step.inserted_spans();
        let mut nodes = Vec::new();
        let mut entries = self.outline.entries.iter();
        each(&self.tree.roots, &mut |node| {
            let Some(entry) = entries.next() else { return };
            let at = inserted.partition_point(|span| span.end < node.whole.start);
            let is_touched = inserted
                .get(at)
                .is_some_and(|span| span.start < node.whole.end);
            let old = before.entry(entry.id);
            let same_place = old.is_some_and(|old| {
                old.children == entry.children
                    && old.parent.map(|at| before.entries[at].id)
                        == entry.parent.map(|at| self.outline.entries[at].id)
            });
            if is_touched || !same_place {
                nodes.push(entry.id);
            }
        });
        let gone = before.entries.iter().map(|entry| entry.id);
        Changed {
            nodes,
            removed: gone
                .filter(|id| self.outline.index(*id).is_none())
                .collect(),
        }
    }
}

/// Where an element begins after a step.
enum Place {
    Moved(usize),
    /// In the text that a patch removes.
    Removed(usize),
}

/// Moves increasing offsets over patches.
struct MovedStarts<'p> {
    patches: &'p [Patch],
    next: usize,
    growth: isize,
}

impl<'p> MovedStarts<'p> {
    fn new(patches: &'p [Patch]) -> Self {
        MovedStarts {
            patches,
            next: 0,
            growth: 0,
        }
    }

    fn place(&mut self, start: usize) -> Place {
        while let Some(patch) = self.patches.get(self.next)
            && patch.end() <= start
        {
            self.growth += patch.inserted.len() as isize - patch.removed.len() as isize;
            self.next += 1;
        }
        match self.patches.get(self.next) {
            Some(patch) if patch.start <= start => Place::Removed(self.next),
            _ => Place::Moved(start.wrapping_add_signed(self.growth)),
        }
    }
}

/// Passes all elements to `see`, in the order of the file.
pub fn each<'t>(nodes: &'t [Node], see: &mut dyn FnMut(&'t Node)) {
    for node in nodes {
        see(node);
        each(&node.children, see);
    }
}

fn each_start(nodes: &[Node], see: &mut dyn FnMut(usize)) {
    each(nodes, &mut |node| see(node.whole.start));
}
