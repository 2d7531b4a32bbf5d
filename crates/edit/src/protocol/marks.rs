//! The elements that were added or changed since the last commit.

use std::collections::hash_map::DefaultHasher;
use std::collections::{HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;
use std::time::{Duration, Instant};

use drumfire_jmx::{Node, Tree};
use similar::{Algorithm, DiffOp, capture_diff_slices_deadline};

use crate::tree::{Id, Outline};

/// How long elements are compared. Two large plans that have nothing in common are not compared to the end.
const LONGEST: Duration = Duration::from_millis(500);

/// The elements that differ from the last commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// New elements.
    pub added: HashSet<Id>,
    /// Elements that have another text, or another place.
    pub changed: HashSet<Id>,
}

impl Marks {
    /// The mark of an element.
    pub fn of(&self, id: Id) -> Option<&'static str> {
        if self.added.contains(&id) {
            return Some("added");
        }
        self.changed.contains(&id).then_some("changed")
    }
}

/// The elements of a committed plan, for comparisons.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Committed {
    /// The hash of each element's text, without its indentation, in the order of the file.
    texts: Vec<u64>,
    /// The hash of each element's class and name.
    names: Vec<u64>,
}

impl Committed {
    /// Reads a committed plan; `None` if it is not one.
    pub fn read(bytes: &[u8]) -> Option<Committed> {
        let read = drumfire_jmx::read(bytes, Path::new("HEAD")).ok()?;
        Some(Committed::of(&read.tree))
    }

    fn of(tree: &Tree) -> Committed {
        let mut committed = Committed::default();
        crate::tree::each(&tree.roots, &mut |node| {
            committed.texts.push(text_hash(&tree.source.text, node));
            committed.names.push(hash(&[&node.class, &node.name]));
        });
        committed
    }
}

fn hash(texts: &[&str]) -> u64 {
    let mut hasher = DefaultHasher::new();
    texts.hash(&mut hasher);
    hasher.finish()
}

/// The hash of an element's text. Indentation and line ends do not count.
fn text_hash(text: &str, node: &Node) -> u64 {
    let mut hasher = DefaultHasher::new();
    for line in text[node.whole.start..node.whole.end].lines() {
        line.trim().hash(&mut hasher);
    }
    hasher.finish()
}

/// Compares a plan with its committed version.
pub fn marks(committed: &Committed, tree: &Tree, outline: &Outline) -> Marks {
    let present = Committed::of(tree);
    let deadline = Some(Instant::now() + LONGEST);
    let ops =
        capture_diff_slices_deadline(Algorithm::Myers, &committed.texts, &present.texts, deadline);
    let differing = ops.iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    // The committed elements without a counterpart. A text that is among them has moved; a name that is, has changed.
    let (mut texts, mut names) = (Bag::default(), Bag::default());
    let mut fresh: Vec<usize> = Vec::new();
    for op in differing {
        for at in op.old_range() {
            texts.put(committed.texts[at]);
            names.put(committed.names[at]);
        }
        fresh.extend(op.new_range());
    }
    let mut marks = Marks::default();
    for at in fresh {
        let Some(entry) = outline.entries.get(at) else {
            continue;
        };
        let was_there = texts.take(present.texts[at]) | names.take(present.names[at]);
        if was_there {
            marks.changed.insert(entry.id);
        } else {
            marks.added.insert(entry.id);
        }
    }
    renamed(&ops, &mut marks, outline);
    marks
}

/// An element in whose place exactly one committed element stood is a renamed one.
fn renamed(ops: &[DiffOp], marks: &mut Marks, outline: &Outline) {
    for op in ops {
        let DiffOp::Replace {
            old_len,
            new_len,
            new_index,
            ..
        } = op
        else {
            continue;
        };
        if old_len != new_len {
            continue;
        }
        for at in *new_index..*new_index + *new_len {
            let id = outline.entries.get(at).map(|entry| entry.id);
            if let Some(id) = id.filter(|id| marks.added.remove(id)) {
                marks.changed.insert(id);
            }
        }
    }
}

/// Hashes, and how often each is there.
#[derive(Default)]
struct Bag(HashMap<u64, usize>);

impl Bag {
    fn put(&mut self, hash: u64) {
        *self.0.entry(hash).or_default() += 1;
    }

    fn take(&mut self, hash: u64) -> bool {
        let Some(count) = self.0.get_mut(&hash).filter(|count| **count > 0) else {
            return false;
        };
        *count -= 1;
        true
    }
}
