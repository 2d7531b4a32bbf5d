//! Compares two plans element by element, as one tree that holds the elements of both.

use std::collections::HashMap;

use crate::difference::{PlacedElement, entries, pair};
use crate::outline::ShownValue;
use crate::settings::{Setting, settings};
use crate::tree::{Node, Tree};

/// An element of two plans. Its place in the list follows the later plan; a removed element follows the sibling that it followed.
#[derive(Debug, Clone)]
pub struct ComparedElement<'t> {
    /// Its number in the earlier plan, in the order of the file, and the element; `None` if it is new.
    pub old: Option<(usize, &'t Node)>,
    /// The same in the later plan; `None` if it was removed.
    pub new: Option<(usize, &'t Node)>,
    /// The index of the element above it in the list.
    pub parent: Option<usize>,
    /// The names from the Test Plan down in the earlier plan.
    pub old_path: String,
    /// The names from the Test Plan down in the later plan.
    pub new_path: String,
    /// Whether it stands under another parent, or at another position among its siblings.
    pub is_moved: bool,
    /// The settings that differ. A new element has all of its settings here, and so does a removed one.
    pub changes: Vec<SettingChange>,
}

/// A setting of an element that differs, or its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// The path of the setting, or `name`, `enabled`.
    pub setting: String,
    /// The property of the element that holds it; empty for the name and `enabled`.
    pub top: String,
    /// The innermost property that holds it.
    pub property: String,
    /// The earlier value; empty if there is none.
    pub from: String,
    /// The later value; empty if there is none.
    pub to: String,
}

impl SettingChange {
    /// The earlier and the later value. An element is enabled unless it says otherwise.
    pub fn values(&self) -> [&str; 2] {
        [&self.from, &self.to].map(|value| match value.as_str() {
            "" if self.setting == "enabled" => "true",
            value => value,
        })
    }
}

impl<'t> ComparedElement<'t> {
    /// The element, in the later plan if it is there.
    pub fn node(&self) -> &'t Node {
        let (_, node) = self.new.or(self.old).expect("it is in one of the plans");
        node
    }

    /// The names from the Test Plan down, in the later plan if it is there.
    pub fn path(&self) -> &str {
        if self.is_removed() {
            &self.old_path
        } else {
            &self.new_path
        }
    }

    /// Whether only the later plan has it.
    pub fn is_added(&self) -> bool {
        self.old.is_none()
    }

    /// Whether only the earlier plan has it.
    pub fn is_removed(&self) -> bool {
        self.new.is_none()
    }

    /// The marks of an element that differs: `added`, `removed`, `moved`, `disabled`, `enabled`, `changed`.
    pub fn marks(&self) -> Vec<&'static str> {
        let both = self.old.zip(self.new);
        let switch = both.map(|((_, old), (_, new))| (old.enabled, new.enabled));
        let marks = [
            (self.is_added(), "added"),
            (self.is_removed(), "removed"),
            (self.is_moved, "moved"),
            (switch == Some((true, false)), "disabled"),
            (switch == Some((false, true)), "enabled"),
            (both.is_some() && !self.changes.is_empty(), "changed"),
        ]
        .into_iter()
        .filter(|(is_such, _)| *is_such);
        marks.map(|(_, word)| word).collect()
    }

    /// Whether the plans differ in it, regardless of the elements below it.
    pub fn differs(&self) -> bool {
        self.is_added() || self.is_removed() || self.is_moved || !self.changes.is_empty()
    }
}

/// The path of the element above, of a path of names.
pub fn above(path: &str) -> &str {
    path.rsplit_once(" > ").map_or("", |(above, _)| above)
}

/// All elements of two plans, each parent before its children. Values are compared as they are, and returned as `shown` shows them.
pub fn compared<'t>(old: &'t Tree, new: &'t Tree, shown: ShownValue) -> Vec<ComparedElement<'t>> {
    let (mut before, mut after) = (entries(old), entries(new));
    pair(&mut before, &mut after);
    let comparison = Comparison {
        is_moved: moved(&before, &after),
        children: [children(&before), children(&after)],
        before,
        after,
        shown,
    };
    let mut all = Vec::new();
    comparison.below((None, None), None, &mut all);
    all
}

/// The children of each element, and those without a parent.
fn children(entries: &[PlacedElement<'_>]) -> HashMap<Option<usize>, Vec<usize>> {
    let mut all: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
    for (at, entry) in entries.iter().enumerate() {
        all.entry(entry.parent).or_default().push(at);
    }
    all
}

/// Which elements of the later plan have moved. Of siblings whose order changed, as many as possible count as unmoved.
fn moved(before: &[PlacedElement<'_>], after: &[PlacedElement<'_>]) -> Vec<bool> {
    let mut is_moved = vec![false; after.len()];
    for (parent, members) in children(after) {
        let old_parent = parent.map(|at| after[at].partner);
        let (mut here, mut places) = (Vec::new(), Vec::new());
        for at in members {
            let Some(partner) = after[at].partner.map(|at| &before[at]) else {
                continue;
            };
            if old_parent == partner.parent.map(Some) {
                here.push(at);
                places.push(partner.place);
            } else {
                is_moved[at] = true;
            }
        }
        for (at, stays) in here.into_iter().zip(longest_rise(&places)) {
            is_moved[at] = !stays;
        }
    }
    is_moved
}

/// Which numbers belong to a longest increasing part of a sequence.
fn longest_rise(numbers: &[usize]) -> Vec<bool> {
    // For each length, the start of the increasing part of that length that begins with the largest number.
    let mut starts: Vec<usize> = Vec::new();
    let mut next = vec![None; numbers.len()];
    for at in (0..numbers.len()).rev() {
        let longer = starts.partition_point(|start| numbers[*start] > numbers[at]);
        next[at] = longer.checked_sub(1).map(|shorter| starts[shorter]);
        if longer == starts.len() {
            starts.push(at);
        } else {
            starts[longer] = at;
        }
    }
    let mut is_in = vec![false; numbers.len()];
    let mut at = starts.last().copied();
    while let Some(here) = at {
        is_in[here] = true;
        at = next[here];
    }
    is_in
}

struct Comparison<'t> {
    before: Vec<PlacedElement<'t>>,
    after: Vec<PlacedElement<'t>>,
    is_moved: Vec<bool>,
    children: [HashMap<Option<usize>, Vec<usize>>; 2],
    shown: ShownValue,
}

impl<'t> Comparison<'t> {
    /// Adds the children of an element, which has these numbers in the plans, and everything below them.
    fn below(
        &self,
        (old, new): (Option<usize>, Option<usize>),
        parent: Option<usize>,
        all: &mut Vec<ComparedElement<'t>>,
    ) {
        let [before, after] = &self.children;
        let is_root = parent.is_none();
        let of = |side: &HashMap<Option<usize>, Vec<usize>>, at: Option<usize>| {
            let members = side.get(&at).filter(|_| is_root || at.is_some());
            members.cloned().unwrap_or_default()
        };
        let later = of(after, new);
        // The removed children by the sibling that they follow.
        let mut removed: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        let mut last = None;
        for at in of(before, old) {
            match self.before[at].partner {
                None => removed.entry(last).or_default().push(at),
                Some(partner) if self.after[partner].parent == new => last = Some(partner),
                Some(_) => {}
            }
        }
        let mut add = |old: Option<usize>, new: Option<usize>| {
            let index = all.len();
            all.push(self.element((old, new), parent));
            self.below((old, new), Some(index), all);
        };
        for at in std::iter::once(None).chain(later.into_iter().map(Some)) {
            if let Some(at) = at {
                add(self.after[at].partner, Some(at));
            }
            for gone in removed.remove(&at).unwrap_or_default() {
                add(Some(gone), None);
            }
        }
    }

    fn element(
        &self,
        (old, new): (Option<usize>, Option<usize>),
        parent: Option<usize>,
    ) -> ComparedElement<'t> {
        let path = |entry: Option<&PlacedElement<'_>>| {
            entry.map(|entry| entry.path.clone()).unwrap_or_default()
        };
        let (before, after) = (
            old.map(|at| &self.before[at]),
            new.map(|at| &self.after[at]),
        );
        ComparedElement {
            old: old.map(|at| (at, self.before[at].node)),
            new: new.map(|at| (at, self.after[at].node)),
            parent,
            old_path: path(before),
            new_path: path(after),
            is_moved: old.is_some() && new.is_some_and(|at| self.is_moved[at]),
            changes: changes(
                before.map(|entry| entry.node),
                after.map(|entry| entry.node),
                self.shown,
            ),
        }
    }
}

/// The settings that differ between two versions of an element.
fn changes(old: Option<&Node>, new: Option<&Node>, shown: ShownValue) -> Vec<SettingChange> {
    let mut changes = Vec::new();
    if let (Some(old), Some(new)) = (old, new)
        && old.name != new.name
    {
        changes.push(SettingChange {
            setting: "name".to_owned(),
            top: String::new(),
            property: String::new(),
            from: old.name.to_string(),
            to: new.name.to_string(),
        });
    }
    let of = |node: Option<&Node>| node.map(settings).unwrap_or_default();
    let (before, after) = (of(old), of(new));
    let (earlier, later) = (by_path(&before), by_path(&after));
    let text = |node: Option<&Node>, setting: Option<&Setting>| {
        let both = node.zip(setting);
        both.map(|(node, setting)| shown(node, setting))
            .unwrap_or_default()
    };
    let mut change = |from: Option<&Setting>, to: Option<&Setting>| {
        let Some(setting) = to.or(from) else { return };
        changes.push(SettingChange {
            setting: setting.path.clone(),
            top: setting.top.clone(),
            property: setting.property.clone(),
            from: text(old, from),
            to: text(new, to),
        });
    };
    for (key, setting) in numbered(&after) {
        let from = earlier.get(&key).copied();
        if from.is_none_or(|from| from.value != setting.value) {
            change(from, Some(setting));
        }
    }
    for (key, setting) in numbered(&before) {
        if !later.contains_key(&key) {
            change(Some(setting), None);
        }
    }
    changes
}

/// The settings with their paths. Items of a list may have one name, such as two arguments; the second has the number 1.
fn numbered(settings: &[Setting]) -> impl Iterator<Item = ((&str, usize), &Setting)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    settings.iter().map(move |setting| {
        let count = counts.entry(&setting.path).or_default();
        *count += 1;
        ((setting.path.as_str(), *count - 1), setting)
    })
}

fn by_path(settings: &[Setting]) -> HashMap<(&str, usize), &Setting> {
    numbered(settings).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(names: &[&str]) -> Tree {
        let timers = names.iter().map(|name| {
            let (name, below) = name.split_once('/').unwrap_or((name, ""));
            let node = Node::new("GenericController", "", name);
            match below {
                "" => node,
                below => node.above([Node::new("ConstantTimer", "", below)]),
            }
        });
        Tree::new(Node::new("TestPlan", "", "p").above(timers.collect::<Vec<_>>()))
    }

    fn told(old: &[&str], new: &[&str]) -> String {
        let (old, new) = (plan(old), plan(new));
        let all = compared(&old, &new, |_, setting| setting.value.clone());
        let marks = all[1..].iter().map(|element| {
            let mark = match element {
                element if element.is_added() => "+",
                element if element.is_removed() => "-",
                element if element.is_moved => ">",
                element if element.differs() => "!",
                _ => "",
            };
            let level = if element.parent == Some(0) { "" } else { "/" };
            format!("{level}{mark}{}", element.node().name)
        });
        marks.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn removed_elements_stand_where_they_stood() {
        assert_eq!(told(&["a", "b", "c"], &["a", "c"]), "a -b c");
        assert_eq!(told(&["a", "b", "c"], &["c"]), "-a -b c");
        assert_eq!(told(&["a/t", "b"], &["b"]), "-a /-t b");
        // A child that was kept has left the removed element.
        assert_eq!(told(&["a/t", "b"], &["b/t"]), "-a b />t");
        assert_eq!(told(&[], &["a/t"]), "+a /+t");
    }

    #[test]
    fn two_items_of_one_name_are_compared_in_their_order() {
        use crate::tree::{Element, Prop};
        let with = |values: &[&str]| {
            let items = values.iter().map(|value| {
                let item = Element::new("Argument").with("Argument.name", "n");
                Prop::new("n", item.with("Argument.value", *value))
            });
            let items: Vec<Prop> = items.collect();
            Tree::new(Node::new("Arguments", "", "a").with("Arguments.arguments", items))
        };
        let told = |old: &[&str], new: &[&str]| {
            let (old, new) = (with(old), with(new));
            let all = compared(&old, &new, |_, setting| setting.value.clone());
            let changes = all[0].changes.iter();
            let changes = changes.map(|one| format!("{} {} {}", one.setting, one.from, one.to));
            changes.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(told(&["1", "2"], &["1", "2"]), "");
        assert_eq!(told(&["1", "2"], &["1", "3"]), "arguments[n] 2 3");
        assert_eq!(told(&["1", "2"], &["1"]), "arguments[n] 2 ");
    }

    #[test]
    fn as_few_elements_as_possible_have_moved() {
        assert_eq!(
            told(&["a", "b", "c", "d"], &["d", "a", "b", "c"]),
            ">d a b c"
        );
        assert_eq!(
            told(&["a", "b", "c", "d"], &["b", "c", "d", "a"]),
            "b c d >a"
        );
        assert_eq!(told(&["a", "b", "c"], &["x", "c"]), "!x -b c");
    }
}
