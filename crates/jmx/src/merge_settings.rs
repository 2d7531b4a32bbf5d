//! Merges the settings of one element three ways: a setting that only one side changed is taken
//! from that side.

use std::collections::BTreeSet;

use crate::settings::item_name;
use crate::tree::{Element, Node, Prop, Props, Value};

/// The side whose value is taken in a conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MergeSide {
    Ours,
    Theirs,
}

/// One thing in its three versions; `None` where a version lacks it.
pub(crate) struct ThreeVersions<'t, T: ?Sized> {
    pub base: Option<&'t T>,
    pub ours: Option<&'t T>,
    pub theirs: Option<&'t T>,
}

impl<T: ?Sized> Clone for ThreeVersions<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for ThreeVersions<'_, T> {}

impl<'t, T: ?Sized> ThreeVersions<'t, T> {
    pub fn map<U: ?Sized>(self, of: impl Fn(&'t T) -> Option<&'t U>) -> ThreeVersions<'t, U> {
        ThreeVersions {
            base: self.base.and_then(&of),
            ours: self.ours.and_then(&of),
            theirs: self.theirs.and_then(&of),
        }
    }

    pub fn of(self, side: MergeSide) -> Option<&'t T> {
        match side {
            MergeSide::Ours => self.ours,
            MergeSide::Theirs => self.theirs,
        }
    }

    /// The version to take, if at most one side changed it.
    pub fn settled(self, same: impl Fn(&T, &T) -> bool) -> Option<Option<&'t T>> {
        let equal = |one: Option<&T>, other: Option<&T>| match (one, other) {
            (Some(one), Some(other)) => same(one, other),
            (None, None) => true,
            _ => false,
        };
        if equal(self.ours, self.theirs) || equal(self.base, self.theirs) {
            Some(self.ours)
        } else if equal(self.base, self.ours) {
            Some(self.theirs)
        } else {
            None
        }
    }
}

/// Merges the settings of an element and calls `clash` for each setting that both sides changed.
pub(crate) struct SettingsMerge<'c> {
    pub side: MergeSide,
    pub clash: &'c mut dyn FnMut(&str, ThreeVersions<'_, Value>),
}

impl SettingsMerge<'_> {
    pub fn props(&mut self, path: &str, three: ThreeVersions<'_, Props>) -> Props {
        let mut names = BTreeSet::new();
        let sides = [three.ours, three.theirs].into_iter().flatten();
        let all = sides.flat_map(Props::iter).map(|prop| &prop.name);
        let ordered: Vec<_> = all.filter(|name| names.insert((*name).clone())).collect();
        let merged = ordered.into_iter().filter_map(|name| {
            let setting_path = crate::settings::joined(path, crate::settings::short_name(name));
            let versions = three.map(|props| props.get(name).map(|prop| &prop.value));
            let value = self.value(&setting_path, versions)?;
            Some(Prop::new(name, value))
        });
        merged.collect()
    }

    fn value(&mut self, path: &str, three: ThreeVersions<'_, Value>) -> Option<Value> {
        if let Some(settled) = three.settled(alike) {
            return settled.cloned();
        }
        if let (Some(Value::Element(ours)), Some(Value::Element(theirs))) =
            (three.ours, three.theirs)
            && ours.class == theirs.class
        {
            let props = three.map(|value| match value {
                Value::Element(element) => Some(&element.props),
                _ => None,
            });
            let merged = Element {
                props: self.props(path, props),
                ..Element::clone(ours)
            };
            return Some(merged.into());
        }
        let lists = three.map(|value| match value {
            Value::List(items) => Some(items.as_slice()),
            _ => None,
        });
        if let (Some(ours), Some(theirs)) = (lists.ours, lists.theirs)
            && [lists.base, Some(ours), Some(theirs)]
                .into_iter()
                .all(is_named)
        {
            return Some(Value::List(self.items(path, lists, ours, theirs)));
        }
        (self.clash)(path, three);
        three.of(self.side).cloned()
    }

    /// Merges items that have names of their own, such as arguments and header fields, one by one.
    fn items(
        &mut self,
        path: &str,
        lists: ThreeVersions<'_, [Prop]>,
        ours: &[Prop],
        theirs: &[Prop],
    ) -> Vec<Prop> {
        let order = [ours, theirs].map(|items| items.iter().map(item_name).collect::<Vec<_>>());
        let mut merged = Vec::new();
        for name in woven(&order[0], &order[1]) {
            let find = |items: &&[Prop]| -> Option<usize> {
                items.iter().position(|item| item_name(item) == *name)
            };
            let versions = ThreeVersions {
                base: lists.base.and_then(|items| Some(&items[find(&items)?])),
                ours: find(&ours).map(|at| &ours[at]),
                theirs: find(&theirs).map(|at| &theirs[at]),
            };
            let setting_path = format!("{path}[{name}]");
            let value = self.value(&setting_path, versions.map(|prop| Some(&prop.value)));
            let kept_prop = versions.ours.or(versions.theirs);
            if let (Some(value), Some(kept_prop)) = (value, kept_prop) {
                merged.push(Prop {
                    value,
                    ..kept_prop.clone()
                });
            }
        }
        merged
    }
}

fn is_named(items: Option<&[Prop]>) -> bool {
    items.is_none_or(named_once)
}

/// The first order, with the items that only the second has inserted behind their predecessors
/// there.
pub(crate) fn woven<'t, T: PartialEq>(first: &'t [T], second: &'t [T]) -> Vec<&'t T> {
    let mut all: Vec<&T> = first.iter().collect();
    for (at, item) in second.iter().enumerate() {
        if first.contains(item) {
            continue;
        }
        let before = second[..at].iter().rev();
        let earlier_index = before
            .filter_map(|earlier| all.iter().position(|known| *known == earlier))
            .next();
        all.insert(earlier_index.map(|place| place + 1).unwrap_or(0), item);
    }
    all
}

/// Whether each item has a unique name.
fn named_once(items: &[Prop]) -> bool {
    let mut names = BTreeSet::new();
    items.iter().all(|item| {
        let name = item_name(item);
        !name.is_empty() && names.insert(name)
    })
}

/// Whether two values are equal, wherever they stand in their files.
pub(crate) fn alike(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Element(one), Value::Element(other)) => {
            (&one.class, &one.name, one.enabled) == (&other.class, &other.name, other.enabled)
                && same_props(&one.props, &other.props)
        }
        (Value::List(one), Value::List(other)) | (Value::Map(one), Value::Map(other)) => {
            items(one, other)
        }
        (one, other) => one == other,
    }
}

fn items(one: &[Prop], other: &[Prop]) -> bool {
    one.len() == other.len()
        && one
            .iter()
            .zip(other)
            .all(|(one, other)| one.name == other.name && alike(&one.value, &other.value))
}

pub(crate) fn same_props(one: &Props, other: &Props) -> bool {
    one.len() == other.len()
        && one.iter().all(|prop| {
            other
                .get(&prop.name)
                .is_some_and(|twin| alike(&prop.value, &twin.value))
        })
}

/// Whether two elements have the same settings, regardless of their children.
pub(crate) fn same_settings(one: &Node, other: &Node) -> bool {
    (&one.class, &one.name, one.enabled) == (&other.class, &other.name, other.enabled)
        && same_props(&one.props, &other.props)
}

/// Whether two elements are equal, including everything below them.
pub(crate) fn same_tree(one: &Node, other: &Node) -> bool {
    let mut open = vec![(one, other)];
    while let Some((one, other)) = open.pop() {
        if !same_settings(one, other) || one.children.len() != other.children.len() {
            return false;
        }
        open.extend(one.children.iter().zip(&other.children));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_takes_in_what_only_the_other_has() {
        let joined = |first: &str, second: &str| -> String {
            let chars = |text: &str| text.chars().collect::<Vec<_>>();
            woven(&chars(first), &chars(second)).into_iter().collect()
        };
        assert_eq!(joined("abc", "axbc"), "axbc");
        assert_eq!(joined("abc", "xyab"), "xyabc");
        assert_eq!(joined("ac", "abd"), "abdc");
    }
}
