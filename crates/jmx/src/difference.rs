//! Compares the meaning of two plans: elements that were added, removed, moved or renamed, and settings that changed.

use std::collections::BTreeMap;

use crate::comparison::{ComparedElement, compared};
use crate::outline::ShownValue;
use crate::tree::{Node, Tree};

/// One difference. Elements are named by the path of names from the Test Plan down.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // the fields say what they are
pub enum Difference {
    /// Only the later plan has the element.
    Added { element: String },
    /// Only the earlier plan has the element.
    Removed { element: String },
    /// The element stands under another parent, or at another position among its siblings.
    Moved { from: String, to: String },
    /// A setting or the name changed.
    Changed {
        element: String,
        setting: String,
        from: String,
        to: String,
    },
}

/// An element with its path, in the order of the plan.
pub(crate) struct PlacedElement<'t> {
    pub node: &'t Node,
    pub path: String,
    pub parent: Option<usize>,
    pub place: usize,
    pub partner: Option<usize>,
}

/// The differences from one plan to another; empty if they mean the same.
pub fn differences(old: &Tree, new: &Tree) -> Vec<Difference> {
    differences_with(old, new, |_, setting| setting.value.clone())
}

/// The same with values as `shown` shows them; they are compared as they are.
pub fn differences_with(old: &Tree, new: &Tree, shown: ShownValue) -> Vec<Difference> {
    let compared = compared(old, new, shown);
    let above = |element: &ComparedElement<'_>| element.parent.map(|parent| &compared[parent]);
    let mut removed: Vec<&ComparedElement<'_>> = compared
        .iter()
        .filter(|element| {
            element.is_removed() && !above(element).is_some_and(ComparedElement::is_removed)
        })
        .collect();
    removed.sort_by_key(|element| element.old.map(|(at, _)| at));
    let removed = removed.into_iter().map(|element| Difference::Removed {
        element: element.old_path.clone(),
    });
    let mut differences: Vec<Difference> = removed.collect();
    for element in compared.iter().filter(|element| !element.is_removed()) {
        if element.is_added() {
            if !above(element).is_some_and(ComparedElement::is_added) {
                differences.push(Difference::Added {
                    element: element.new_path.clone(),
                });
            }
            continue;
        }
        if element.is_moved {
            differences.push(Difference::Moved {
                from: element.old_path.clone(),
                to: element.new_path.clone(),
            });
        }
        differences.extend(element.changes.iter().map(|change| Difference::Changed {
            element: element.new_path.clone(),
            setting: change.setting.clone(),
            from: change.from.clone(),
            to: change.to.clone(),
        }));
    }
    differences
}

pub(crate) fn entries(tree: &Tree) -> Vec<PlacedElement<'_>> {
    fn add<'t>(nodes: &'t [Node], parent: Option<usize>, all: &mut Vec<PlacedElement<'t>>) {
        for (place, node) in nodes.iter().enumerate() {
            let path = match parent {
                Some(parent) => format!("{} > {}", all[parent].path, node.name),
                None => node.name.to_string(),
            };
            let index = all.len();
            all.push(PlacedElement {
                node,
                path,
                parent,
                place,
                partner: None,
            });
            add(&node.children, Some(index), all);
        }
    }
    let mut all = Vec::new();
    add(&tree.roots, None, &mut all);
    all
}

/// Pairs the elements of two plans: first by class and path, then by class and name wherever they stand, and last by class and
/// position under the same parent, which catches renamed elements.
pub(crate) fn pair(before: &mut [PlacedElement<'_>], after: &mut [PlacedElement<'_>]) {
    let by = |before: &mut [PlacedElement<'_>],
              after: &mut [PlacedElement<'_>],
              key: &dyn Fn(&PlacedElement<'_>) -> String| {
        let mut open: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (at, entry) in before
            .iter()
            .enumerate()
            .rev()
            .filter(|(_, entry)| entry.partner.is_none())
        {
            open.entry(key(entry)).or_default().push(at);
        }
        for (at, entry) in after.iter_mut().enumerate() {
            if entry.partner.is_none()
                && let Some(partner) = open.get_mut(&key(entry)).and_then(Vec::pop)
            {
                entry.partner = Some(partner);
                before[partner].partner = Some(at);
            }
        }
    };
    by(before, after, &|entry| {
        format!("{}\0{}", entry.node.class, entry.path)
    });
    by(before, after, &|entry| {
        format!("{}\0{}", entry.node.class, entry.node.name)
    });
    for at in 0..after.len() {
        if after[at].partner.is_some() {
            continue;
        }
        let parent = after[at].parent.map(|parent| after[parent].partner);
        let renamed = before.iter().position(|old| {
            old.partner.is_none()
                && old.node.class == after[at].node.class
                && old.place == after[at].place
                && parent == old.parent.map(Some)
        });
        if let Some(old) = renamed {
            after[at].partner = Some(old);
            before[old].partner = Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(children: Vec<Node>) -> Tree {
        Tree::new(
            Node::new("TestPlan", "", "p")
                .above([Node::new("ThreadGroup", "", "g").above(children)]),
        )
    }

    fn get(name: &str, path: &str) -> Node {
        Node::new("HTTPSamplerProxy", "", name).with("HTTPSampler.path", path)
    }

    #[test]
    fn equal_plans_have_none() {
        let one = plan(vec![get("a", "/a")]);
        assert!(differences(&one, &one).is_empty());
    }

    #[test]
    fn differences_name_additions_removals_moves_changes_and_renames() {
        let old = plan(vec![get("a", "/a"), get("b", "/b"), get("c", "/c")]);
        let new = plan(vec![
            get("b", "/b"),
            get("a", "/x"),
            get("d", "/c"),
            Node::new("ConstantTimer", "", "t"),
        ]);
        let path = |name: &str| format!("p > g > {name}");
        let changed = |element: &str, setting: &str, from: &str, to: &str| Difference::Changed {
            element: path(element),
            setting: setting.to_owned(),
            from: from.to_owned(),
            to: to.to_owned(),
        };
        assert_eq!(
            differences(&old, &new),
            [
                Difference::Moved {
                    from: path("a"),
                    to: path("a")
                },
                changed("a", "path", "/a", "/x"),
                changed("d", "name", "c", "d"),
                Difference::Added { element: path("t") },
            ]
        );
        let disabled = {
            let mut node = get("a", "/a");
            node.enabled = false;
            plan(vec![node])
        };
        assert_eq!(
            differences(&plan(vec![get("a", "/a")]), &disabled),
            [changed("a", "enabled", "", "false")]
        );
        let gone = differences(&old, &plan(vec![]));
        assert_eq!(gone.len(), 3);
    }

    #[test]
    fn a_disabled_argument_is_one_and_plans_of_jmeter_6_keep_their_version() {
        let text = |enabled: &str| {
            format!(
                r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="6.0.0"><hashTree><Arguments guiclass="ArgumentsPanel" testclass="Arguments" testname="a">
<collectionProp name="Arguments.arguments"><elementProp name="x" elementType="Argument"{enabled}><stringProp name="Argument.name">x</stringProp><stringProp name="Argument.value">1</stringProp></elementProp></collectionProp>
</Arguments><hashTree/></hashTree></jmeterTestPlan>"#
            )
        };
        let read = |text: &str| {
            let read = crate::read(text.as_bytes(), "p.jmx".as_ref());
            read.expect("it is a plan").tree
        };
        let (old, new) = (read(&text("")), read(&text(r#" enabled="false""#)));
        let [
            Difference::Changed {
                setting, from, to, ..
            },
        ] = &differences(&old, &new)[..]
        else {
            panic!("one change");
        };
        assert_eq!(
            (&**setting, &**from, &**to),
            ("arguments[x].enabled", "", "false")
        );
        let written = crate::write(&new);
        assert!(written.contains(r#"jmeter="6.0.0""#), "{written}");
        assert!(differences(&new, &read(&written)).is_empty());
    }
}
