//! The elements of a plan by their numbers.

use std::collections::HashMap;

use drumfire_jmx::Node;

use super::step::Id;

/// An element's place in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its number.
    pub id: Id,
    /// The parent, as an index in the order of the file.
    pub parent: Option<usize>,
    /// Its place among its siblings.
    pub place: usize,
    /// The numbers of its children.
    pub children: Vec<Id>,
    /// How many elements are below it.
    pub below: usize,
}

/// All elements of a plan in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The elements.
    pub entries: Vec<Entry>,
    by_id: HashMap<Id, usize>,
}

impl Outline {
    /// The outline of a plan whose elements have these numbers, in the order of the file.
    pub fn new(roots: &[Node], ids: &[Id]) -> Outline {
        let mut outline = Outline {
            entries: Vec::with_capacity(ids.len()),
            by_id: HashMap::with_capacity(ids.len()),
        };
        outline.add(roots, None, ids);
        outline
    }

    fn add(&mut self, nodes: &[Node], parent: Option<usize>, ids: &[Id]) -> Vec<Id> {
        let mut siblings = Vec::with_capacity(nodes.len());
        for (place, node) in nodes.iter().enumerate() {
            let at = self.entries.len();
            let id = ids[at];
            siblings.push(id);
            self.by_id.insert(id, at);
            self.entries.push(Entry {
                id,
                parent,
                place,
                children: Vec::new(),
                below: 0,
            });
            let children = self.add(&node.children, Some(at), ids);
            self.entries[at].below = self.entries.len() - at - 1;
            self.entries[at].children = children;
        }
        siblings
    }

    /// The index of an element in the order of the file.
    pub fn index(&self, id: Id) -> Option<usize> {
        self.by_id.get(&id).copied()
    }

    /// The element to which places among siblings lead, from the roots down.
    pub fn at_path(&self, path: &[usize]) -> Option<Id> {
        let (first, below) = path.split_first()?;
        let mut roots = self.entries.iter().filter(|entry| entry.parent.is_none());
        let root = roots.nth(*first)?.id;
        below.iter().try_fold(root, |id, place| {
            self.entry(id)?.children.get(*place).copied()
        })
    }

    /// An element's place in the tree.
    pub fn entry(&self, id: Id) -> Option<&Entry> {
        self.index(id).map(|at| &self.entries[at])
    }

    /// The number of the parent.
    pub fn parent(&self, at: usize) -> Option<Id> {
        self.entries[at]
            .parent
            .map(|parent| self.entries[parent].id)
    }

    /// The numbers of an element and of all elements below it, in the order of the file.
    pub fn ids_of(&self, at: usize) -> Vec<Id> {
        let all = &self.entries[at..=at + self.entries[at].below];
        all.iter().map(|entry| entry.id).collect()
    }

    /// The indices of an element and of its ancestors, from the element upwards.
    pub fn upwards(&self, at: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(at), |at| self.entries[*at].parent)
    }

    /// The element with an index.
    pub fn node<'t>(&self, roots: &'t [Node], at: usize) -> &'t Node {
        let mut places: Vec<usize> = self.upwards(at).map(|at| self.entries[at].place).collect();
        let first = places.pop().unwrap_or_default();
        let root = &roots[first];
        places
            .into_iter()
            .rev()
            .fold(root, |node, place| &node.children[place])
    }
}
