//! Merges two plans that have a common ancestor by their meaning: elements are followed through moves and renames, and
//! each setting is merged separately.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::difference::{PlacedElement, entries, pair};
use crate::merge_settings::{
    MergeSide, SettingsMerge, ThreeVersions, same_settings, same_tree, woven,
};
use crate::source::{SourceFile, Span};
use crate::tree::{Node, Tree, Value};

/// Something that the two sides changed in different ways.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conflict {
    /// Names from the Test Plan down.
    pub element: String,
    /// The setting, or `name`, `enabled`, `place`, `order`, `removal`.
    pub setting: String,
    /// The value of our side.
    pub ours: String,
    /// The value of their side.
    pub theirs: String,
}

/// The outcome of [`merge`]. Without conflicts both trees are the same.
#[derive(Debug, Clone)]
pub struct Merged {
    /// The merged plan, with our side's values in conflicts.
    pub ours: Tree,
    /// The merged plan, with their side's values in conflicts.
    pub theirs: Tree,
    /// All conflicts.
    pub conflicts: Vec<Conflict>,
}

/// Merges the changes that two plans made to their common ancestor.
pub fn merge(base: &Tree, ours: &Tree, theirs: &Tree) -> Merged {
    // An element of a plugin is copied from its file, so both texts must be available.
    let offset = ours.source.text.len();
    let theirs = shifted(theirs, offset);
    let source = SourceFile::new(
        ours.source.path.clone(),
        format!("{}{}", ours.source.text, theirs.source.text),
    );
    let source = Arc::new(source);
    let sides = [MergeSide::Ours, MergeSide::Theirs].map(|side| {
        let mut merge = Merge::new(base, ours, &theirs, side);
        let roots = merge.roots();
        let tree = Tree {
            source: source.clone(),
            version: ours.version.clone(),
            jmeter: ours.jmeter.clone(),
            roots: roots.into(),
        };
        (tree, merge.conflicts)
    });
    let [(ours, conflicts), (theirs, _)] = sides;
    Merged {
        ours,
        theirs,
        conflicts,
    }
}

/// The tree with all offsets moved, as if its text followed another text.
fn shifted(tree: &Tree, offset: usize) -> Tree {
    fn shift(nodes: &mut [Node], offset: usize) {
        for node in nodes {
            if node.whole != Span::default() {
                node.whole = Span::new(node.whole.start + offset, node.whole.end + offset);
            }
            shift(&mut node.children, offset);
        }
    }
    let mut roots = tree.roots.to_vec();
    shift(&mut roots, offset);
    Tree {
        roots: roots.into(),
        ..tree.clone()
    }
}

/// The versions of one element, as indices into the lists of entries.
#[derive(Debug, Clone, Copy, Default)]
struct MergedElement {
    base: Option<usize>,
    ours: Option<usize>,
    theirs: Option<usize>,
}

/// An index among siblings, and the item that is their parent.
type Position = (usize, Option<usize>);

struct Merge<'t> {
    base: Vec<PlacedElement<'t>>,
    ours: Vec<PlacedElement<'t>>,
    theirs: Vec<PlacedElement<'t>>,
    items: Vec<MergedElement>,
    /// The item of each entry, by version.
    of_base: Vec<usize>,
    of_ours: Vec<usize>,
    of_theirs: Vec<usize>,
    side: MergeSide,
    conflicts: Vec<Conflict>,
}

impl<'t> Merge<'t> {
    fn new(base: &'t Tree, ours: &'t Tree, theirs: &'t Tree, side: MergeSide) -> Merge<'t> {
        let (mut ours, mut theirs) = (entries(ours), entries(theirs));
        let (mut base, mut again) = (entries(base), entries(base));
        pair(&mut base, &mut ours);
        pair(&mut again, &mut theirs);
        let mut merge = Merge {
            items: Vec::new(),
            of_base: Vec::new(),
            of_ours: vec![usize::MAX; ours.len()],
            of_theirs: vec![usize::MAX; theirs.len()],
            base,
            ours,
            theirs,
            side,
            conflicts: Vec::new(),
        };
        for (at, other) in again.iter().enumerate() {
            let item = MergedElement {
                base: Some(at),
                ours: merge.base[at].partner,
                theirs: other.partner,
            };
            merge.add(item);
        }
        merge.additions();
        merge
    }

    fn add(&mut self, item: MergedElement) {
        let index = self.items.len();
        if item.base.is_some() {
            self.of_base.push(index);
        }
        if let Some(at) = item.ours {
            self.of_ours[at] = index;
        }
        if let Some(at) = item.theirs {
            self.of_theirs[at] = index;
        }
        self.items.push(item);
    }

    /// Adds the elements that only one side has. An element that both sides added counts once.
    fn additions(&mut self) {
        for at in 0..self.ours.len() {
            if self.ours[at].partner.is_none() {
                let (node, path) = (self.ours[at].node, &self.ours[at].path);
                let twin = self.theirs.iter().position(|other| {
                    other.partner.is_none() && other.node.class == node.class && other.path == *path
                });
                let twin = twin.filter(|twin| self.of_theirs[*twin] == usize::MAX);
                self.add(MergedElement {
                    base: None,
                    ours: Some(at),
                    theirs: twin,
                });
            }
        }
        for at in 0..self.theirs.len() {
            if self.theirs[at].partner.is_none() && self.of_theirs[at] == usize::MAX {
                self.add(MergedElement {
                    theirs: Some(at),
                    ..MergedElement::default()
                });
            }
        }
    }

    fn nodes(&self, item: MergedElement) -> ThreeVersions<'t, Node> {
        ThreeVersions {
            base: item.base.map(|at| self.base[at].node),
            ours: item.ours.map(|at| self.ours[at].node),
            theirs: item.theirs.map(|at| self.theirs[at].node),
        }
    }

    fn path(&self, item: MergedElement) -> String {
        let path = item.ours.map(|at| &self.ours[at].path);
        path.or(item.theirs.map(|at| &self.theirs[at].path))
            .or(item.base.map(|at| &self.base[at].path))
            .cloned()
            .unwrap_or_default()
    }

    fn clash(&mut self, item: MergedElement, setting: &str, ours: &str, theirs: &str) {
        self.conflicts.push(Conflict {
            element: self.path(item),
            setting: setting.to_owned(),
            ours: ours.to_owned(),
            theirs: theirs.to_owned(),
        });
    }

    fn roots(&mut self) -> Vec<Node> {
        let alive: Vec<bool> = (0..self.items.len()).map(|at| self.is_alive(at)).collect();
        let mut parents: Vec<Option<usize>> =
            (0..self.items.len()).map(|at| self.parent(at)).collect();
        self.open_circles(&mut parents);
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.items.len()];
        let mut roots = Vec::new();
        for at in (0..self.items.len()).filter(|at| alive[*at]) {
            match parents[at] {
                Some(parent) => children[parent].push(at),
                None => roots.push(at),
            }
        }
        self.assemble(None, &roots, &children)
    }

    /// Whether an element survives. One that a side removed is gone, unless the other side changed something in it.
    fn is_alive(&mut self, at: usize) -> bool {
        let item = self.items[at];
        let nodes = self.nodes(item);
        let (Some(base), None) = (nodes.base, nodes.ours.and(nodes.theirs)) else {
            return true;
        };
        let Some(left) = nodes.ours.or(nodes.theirs) else {
            return false;
        };
        if same_tree(base, left) {
            return false;
        }
        let words = match nodes.ours {
            Some(_) => ["changed", "removed"],
            None => ["removed", "changed"],
        };
        // The conflict about its parent's removal covers this one.
        let parent = item
            .base
            .and_then(|at| self.base[at].parent)
            .map(|parent| self.items[self.of_base[parent]]);
        let is_told = parent.is_some_and(|parent| match nodes.ours {
            Some(_) => parent.theirs.is_none(),
            None => parent.ours.is_none(),
        });
        if !is_told {
            self.clash(item, "removal", words[0], words[1]);
        }
        nodes.of(self.side).is_some()
    }

    fn parent(&mut self, at: usize) -> Option<usize> {
        let item = self.items[at];
        let base = item
            .base
            .map(|at| self.base[at].parent.map(|up| self.of_base[up]));
        let ours = item
            .ours
            .map(|at| self.ours[at].parent.map(|up| self.of_ours[up]));
        let theirs = item
            .theirs
            .map(|at| self.theirs[at].parent.map(|up| self.of_theirs[up]));
        let (Some(left), Some(right)) = (ours, theirs) else {
            return ours.or(theirs).or(base).flatten();
        };
        match base {
            _ if left == right => left,
            Some(base) if base == left => right,
            Some(base) if base == right => left,
            _ => {
                let place_in =
                    |up: Option<usize>| up.map(|up| self.path(self.items[up])).unwrap_or_default();
                let (one, other) = (place_in(left), place_in(right));
                self.clash(item, "place", &one, &other);
                match self.side {
                    MergeSide::Ours => left,
                    MergeSide::Theirs => right,
                }
            }
        }
    }

    /// Breaks cycles, which arise when each side moved one element into the other: both go where the preferred side has
    /// them.
    fn open_circles(&mut self, parents: &mut [Option<usize>]) {
        for at in 0..parents.len() {
            let mut seen = BTreeSet::new();
            let mut up = Some(at);
            while let Some(here) = up {
                if !seen.insert(here) {
                    break;
                }
                up = parents[here];
            }
            if up.is_none() {
                continue;
            }
            self.clash(self.items[at], "place", "moved", "moved");
            for here in seen {
                let item = self.items[here];
                let old_parent = match self.side {
                    MergeSide::Ours => item
                        .ours
                        .map(|at| self.ours[at].parent.map(|up| self.of_ours[up])),
                    MergeSide::Theirs => item
                        .theirs
                        .map(|at| self.theirs[at].parent.map(|up| self.of_theirs[up])),
                };
                parents[here] = old_parent.unwrap_or(parents[here]);
            }
        }
    }

    fn assemble(
        &mut self,
        parent: Option<usize>,
        members: &[usize],
        children: &[Vec<usize>],
    ) -> Vec<Node> {
        let ordered = self.ordered(parent, members);
        let mut nodes = Vec::with_capacity(ordered.len());
        for at in ordered {
            let mut node = self.node(self.items[at]);
            node.children = self.assemble(Some(at), &children[at], children);
            nodes.push(node);
        }
        nodes
    }

    /// The order of the side that changed it, with the elements that only the other side placed there.
    fn ordered(&mut self, parent: Option<usize>, members: &[usize]) -> Vec<usize> {
        let sequence = |of: &dyn Fn(&MergedElement) -> Option<Position>| {
            let mut here: Vec<(usize, usize)> = members
                .iter()
                .filter_map(|at| {
                    let (rank, up) = of(&self.items[*at])?;
                    (up == parent).then_some((rank, *at))
                })
                .collect();
            here.sort_unstable();
            here.into_iter().map(|(_, at)| at).collect::<Vec<usize>>()
        };
        let up = |entry: &PlacedElement<'_>, of: &[usize]| entry.parent.map(|up| of[up]);
        let base = sequence(&|item| {
            let entry = &self.base[item.base?];
            Some((entry.place, up(entry, &self.of_base)))
        });
        let ours = sequence(&|item| {
            let entry = &self.ours[item.ours?];
            Some((entry.place, up(entry, &self.of_ours)))
        });
        let theirs = sequence(&|item| {
            let entry = &self.theirs[item.theirs?];
            Some((entry.place, up(entry, &self.of_theirs)))
        });
        let common = |list: &[usize]| -> Vec<usize> {
            list.iter()
                .filter(|at| [&base, &ours, &theirs].iter().all(|all| all.contains(at)))
                .copied()
                .collect()
        };
        let (was, left, right) = (common(&base), common(&ours), common(&theirs));
        let clashes = left != was && right != was && left != right;
        let leads = match (clashes, left == was) {
            (true, _) => self.side == MergeSide::Ours,
            (false, unmoved) => !unmoved || right == was,
        };
        let woven = if leads {
            woven(&ours, &theirs)
        } else {
            woven(&theirs, &ours)
        };
        let mut ordered: Vec<usize> = woven.into_iter().copied().collect();
        ordered.extend(
            members
                .iter()
                .filter(|at| !ordered.contains(at))
                .copied()
                .collect::<Vec<_>>(),
        );
        if clashes && let Some(parent) = parent {
            let names = |list: &[usize]| {
                list.iter()
                    .map(|at| {
                        let path = self.path(self.items[*at]);
                        path.rsplit(" > ").next().unwrap_or_default().to_owned()
                    })
                    .collect::<Vec<_>>()
                    .join(", ")
            };
            let (one, other) = (names(&left), names(&right));
            self.clash(self.items[parent], "order", &one, &other);
        }
        ordered
    }

    /// The merged settings of an element, without its children.
    fn node(&mut self, item: MergedElement) -> Node {
        let nodes = self.nodes(item);
        if let Some(Some(settled)) = nodes.settled(same_settings) {
            return alone(settled);
        }
        let Some(version) = nodes.of(self.side).or(nodes.ours).or(nodes.theirs) else {
            unreachable!("an element that is kept has a version")
        };
        let (Some(ours), Some(theirs)) = (nodes.ours, nodes.theirs) else {
            return alone(version);
        };
        let mut merged = alone(ours);
        // The element no longer matches its text in the file.
        merged.whole = Span::default();
        let (names, switches) = (
            [nodes.base.map(text), Some(text(ours)), Some(text(theirs))],
            [nodes.base, Some(ours), Some(theirs)].map(|node| node.map(|node| node.enabled)),
        );
        match three_way(&names) {
            Some(name) => merged.name = name.as_str().into(),
            None => {
                self.clash(item, "name", &ours.name, &theirs.name);
                merged.name = version.name.clone();
            }
        }
        let enabled = three_way(&switches).copied().unwrap_or(version.enabled);
        let donor = if enabled == ours.enabled {
            ours
        } else {
            theirs
        };
        merged.enabled = donor.enabled;
        merged.enabled_as = donor.enabled_as.clone();
        let mut clashes = Vec::new();
        let mut clash = |setting: &str, three: ThreeVersions<'_, Value>| {
            clashes.push((setting.to_owned(), shown(three.ours), shown(three.theirs)));
        };
        let mut settings = SettingsMerge {
            side: self.side,
            clash: &mut clash,
        };
        merged.props = settings.props("", nodes.map(|node| Some(&node.props)));
        for (setting, ours, theirs) in clashes {
            self.clash(item, &setting, &ours, &theirs);
        }
        merged
    }
}

fn alone(node: &Node) -> Node {
    Node {
        children: Vec::new(),
        ..node.clone()
    }
}

fn text(node: &Node) -> String {
    node.name.to_string()
}

fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::List(items)) => format!("{} items", items.len()),
        Some(value) => value.as_str().into_owned(),
        None => "(nothing)".to_owned(),
    }
}

/// The version to take of base, ours and theirs; `None` if both sides changed it.
fn three_way<T: PartialEq>(versions: &[Option<T>; 3]) -> Option<&T> {
    let [base, ours, theirs] = versions;
    match () {
        () if ours == theirs || base == theirs => ours.as_ref(),
        () if base == ours => theirs.as_ref(),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Element, Prop};

    fn plan(children: Vec<Node>) -> Tree {
        Tree::new(
            Node::new("TestPlan", "", "p")
                .above([Node::new("ThreadGroup", "", "g").above(children)]),
        )
    }

    fn get(name: &str, path: &str) -> Node {
        Node::new("HTTPSamplerProxy", "", name).with("HTTPSampler.path", path)
    }

    fn lines(tree: &Tree) -> String {
        fn add(nodes: &[Node], depth: usize, text: &mut String) {
            for node in nodes {
                let path = node.props.str("HTTPSampler.path");
                text.push_str(&format!("{}{}{path} ", "-".repeat(depth), node.name));
                add(&node.children, depth + 1, text);
            }
        }
        let mut text = String::new();
        add(&tree.roots[0].children[0].children, 0, &mut text);
        text.trim_end().to_owned()
    }

    fn three(base: Vec<Node>, ours: Vec<Node>, theirs: Vec<Node>) -> Merged {
        merge(&plan(base), &plan(ours), &plan(theirs))
    }

    fn told(merged: &Merged) -> Vec<String> {
        let conflicts = merged.conflicts.iter();
        conflicts
            .map(|one| {
                format!(
                    "{} {}: {} | {}",
                    one.element, one.setting, one.ours, one.theirs
                )
            })
            .collect()
    }

    #[test]
    fn changes_of_both_sides_are_kept() {
        let merged = three(
            vec![get("a", "/a"), get("b", "/b"), get("c", "/c")],
            vec![
                get("a", "/x"),
                get("n", "/n"),
                get("b", "/b"),
                get("c", "/c"),
            ],
            vec![get("c", "/c"), get("a", "/a"), get("second", "/b")],
        );
        assert_eq!(told(&merged), [""; 0]);
        assert_eq!(lines(&merged.ours), "c/c a/x n/n second/b");
        assert_eq!(lines(&merged.ours), lines(&merged.theirs));
    }

    #[test]
    fn removals_win_unless_the_other_side_changed_the_element() {
        let both = || vec![get("a", "/a"), get("b", "/b")];
        let merged = three(both(), vec![get("b", "/b")], both());
        assert_eq!(lines(&merged.ours), "b/b");
        assert!(merged.conflicts.is_empty());
        let merged = three(
            both(),
            vec![get("b", "/b")],
            vec![get("a", "/x"), get("b", "/b")],
        );
        assert_eq!(told(&merged), ["p > g > a removal: removed | changed"]);
        assert_eq!(lines(&merged.ours), "b/b");
        assert_eq!(lines(&merged.theirs), "a/x b/b");
    }

    #[test]
    fn the_same_setting_changed_twice_is_a_conflict() {
        let merged = three(
            vec![get("a", "/a")],
            vec![get("a", "/x")],
            vec![get("a", "/y")],
        );
        assert_eq!(told(&merged), ["p > g > a path: /x | /y"]);
        assert_eq!(lines(&merged.ours), "a/x");
        assert_eq!(lines(&merged.theirs), "a/y");
        let same = three(
            vec![get("a", "/a")],
            vec![get("a", "/x")],
            vec![get("a", "/x")],
        );
        assert!(same.conflicts.is_empty());
    }

    #[test]
    fn moves_are_followed_and_circles_are_a_conflict() {
        let folder =
            |name: &str, inner: Vec<Node>| Node::new("GenericController", "", name).above(inner);
        let merged = three(
            vec![folder("f", vec![]), get("a", "/a")],
            vec![folder("f", vec![get("a", "/a")])],
            vec![folder("f", vec![]), get("a", "/z")],
        );
        assert_eq!(told(&merged), [""; 0]);
        assert_eq!(lines(&merged.ours), "f -a/z");
        let merged = three(
            vec![folder("f", vec![]), folder("h", vec![])],
            vec![folder("f", vec![folder("h", vec![])])],
            vec![folder("h", vec![folder("f", vec![])])],
        );
        assert!(!merged.conflicts.is_empty());
        assert_eq!(lines(&merged.ours), "f -h");
        assert_eq!(lines(&merged.theirs), "h -f");
    }

    #[test]
    fn arguments_are_merged_one_by_one() {
        let with = |pairs: &[(&str, &str)]| {
            let items = pairs.iter().map(|(name, value)| {
                let argument = Element::new("Argument")
                    .with("Argument.name", *name)
                    .with("Argument.value", *value);
                Prop::new(name, argument)
            });
            let items: Vec<Prop> = items.collect();
            vec![Node::new("Arguments", "", "udv").with("Arguments.arguments", items)]
        };
        let merged = three(
            with(&[("host", "a"), ("port", "1"), ("old", "x")]),
            with(&[("host", "b"), ("port", "1"), ("mine", "m"), ("old", "x")]),
            with(&[("host", "a"), ("port", "2"), ("yours", "y")]),
        );
        assert_eq!(told(&merged), [""; 0]);
        let text = crate::outline(&merged.ours);
        for line in ["[host]: b", "[port]: 2", "[mine]: m", "[yours]: y"] {
            assert!(text.contains(line), "{line}: {text}");
        }
        assert!(!text.contains("[old]"), "{text}");
    }

    #[test]
    fn the_same_element_added_twice_is_one() {
        let merged = three(vec![], vec![get("n", "/n")], vec![get("n", "/n")]);
        assert_eq!(lines(&merged.ours), "n/n");
        let merged = three(vec![], vec![get("n", "/1")], vec![get("n", "/2")]);
        assert_eq!(told(&merged), ["p > g > n path: /1 | /2"]);
    }
}
