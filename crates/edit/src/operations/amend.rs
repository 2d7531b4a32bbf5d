//! Gives elements of the plan what differs between two versions of them, wherever the user has left the first version.

use std::collections::BTreeMap;

use drumfire_jmx::{Node, line_end, write_elements};

use super::search::props;
use super::set::{field, short};
use super::structure::{Branch, Target, fits, movable, placed};
use crate::refused::{Refused, no_element};
use crate::tree::{Id, Model, Piece, Step, step};

/// Two versions of an element of the plan.
#[derive(Debug, Clone, Copy)]
pub struct Versions<'n> {
    /// The element.
    pub id: Id,
    /// It and its children as they were inserted.
    pub before: &'n Node,
    /// It and its children as they become.
    pub after: &'n Node,
}

/// Changes the properties that differ between the versions, and adds the children that only the later version has. A change that
/// the user made meanwhile stays, unless the versions differ there.
///
/// # Errors
/// An element is gone, or the user has changed a property in which the versions differ.
pub fn amend(model: &Model, all: &[Versions<'_>], label: String) -> Result<Step, Refused> {
    movable(model)?;
    let mut pieces = Vec::new();
    for versions in all {
        amend_one(model, *versions, &mut pieces)?;
    }
    Ok(step(label, model.text(), pieces))
}

fn amend_one(model: &Model, own: Versions<'_>, pieces: &mut Vec<Piece>) -> Result<(), Refused> {
    let Versions { id, before, after } = own;
    if is_equal(before, after) {
        return Ok(());
    }
    let here = model.node(id).ok_or_else(|| no_element(id))?;
    amend_props(model, own, here, pieces)?;
    let entry = model.outline().entry(id).ok_or_else(|| no_element(id))?;
    let mut old_children = before.children.iter().peekable();
    let mut used = vec![false; here.children.len()];
    let mut new = Vec::new();
    for child in &after.children {
        let Some(old) = old_children.next_if(|old| is_same(old, child)) else {
            new.push(child);
            continue;
        };
        let position = (0..used.len()).find(|at| !used[*at] && is_same(&here.children[*at], old));
        let Some(position) = position else {
            if is_equal(old, child) {
                // The user has removed it, and nothing about it changes.
                continue;
            }
            let message = format!("`{}` is no longer in `{}`", old.name, here.name);
            return Err(Refused::unfit(message).of(id));
        };
        used[position] = true;
        let inner = Versions {
            id: entry.children[position],
            before: old,
            after: child,
        };
        amend_one(model, inner, pieces)?;
    }
    if new.is_empty() {
        return Ok(());
    }
    for child in &new {
        fits(model, id, child)?;
    }
    let line = line_end(model.text());
    let branches: Vec<Branch> = new.iter().map(|node| Branch::new(node, line)).collect();
    let target = Target {
        parent: id,
        index: usize::MAX,
    };
    pieces.push(placed(model, target, &branches, &[])?);
    Ok(())
}

fn is_same(one: &Node, other: &Node) -> bool {
    one.class == other.class && one.name == other.name
}

fn is_equal(one: &Node, other: &Node) -> bool {
    let text = |node: &Node| write_elements(std::slice::from_ref(node));
    text(one) == text(other)
}

/// The values of all simple properties, by their paths.
fn values(node: &Node) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    props(&node.props, "", &mut |path, prop| {
        all.insert(path.to_owned(), prop.value.as_str().into_owned());
    });
    all
}

fn amend_props(
    model: &Model,
    own: Versions<'_>,
    here: &Node,
    pieces: &mut Vec<Piece>,
) -> Result<(), Refused> {
    let (before, after, current) = (values(own.before), values(own.after), values(here));
    let paths = before
        .keys()
        .chain(after.keys().filter(|path| !before.contains_key(*path)));
    for path in paths {
        let (old, new) = (before.get(path), after.get(path));
        let now = current.get(path);
        if old == new || now == new {
            continue;
        }
        if now != old {
            let message = format!("`{}` was changed since it was recorded", here.name);
            let hint = match new {
                Some(new) => format!("set {} to `{new}` yourself", short(path)),
                None => format!("clear {} yourself", short(path)),
            };
            return Err(Refused::unfit(message)
                .hint(hint)
                .of(own.id)
                .at(path.as_str()));
        }
        let set = field(model.tree(), here, path, new.map(String::as_str));
        pieces.extend(set.map_err(|refused| refused.of(own.id))?);
    }
    Ok(())
}
