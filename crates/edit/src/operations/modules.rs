//! Module Controllers name their target by its path; they follow a target that moves, as in JMeter, where they hold its place.

use drumfire_elements::controllers::module_controller;
use drumfire_jmx::{Prop, Value, write_property};
use drumfire_refactor::{module_path, module_target};

use super::place::{PropertyPlace, find};
use crate::tree::markup::{indented, with_line_ends};
use crate::tree::{Id, Model, Piece, Step, step};

/// The step, and with it the new paths to all elements that it moves.
pub fn followed(model: &Model, moved: Step) -> Step {
    let leads = leads(model);
    if leads.is_empty() {
        return moved;
    }
    let mut after = model.clone();
    // The session refuses such a step with its reason.
    if after.apply(&mut moved.clone()).is_err() {
        return moved;
    }
    let pieces = leads
        .into_iter()
        .filter_map(|(module, target)| renewed(&after, module, target));
    let renewed = step(moved.label.clone(), after.text(), pieces.collect());
    moved.composed(&renewed).unwrap_or(moved)
}

/// The Module Controllers and the elements that they lead to.
fn leads(model: &Model) -> Vec<(Id, Id)> {
    let entries = &model.outline().entries;
    let mut modules = Vec::new();
    let mut at = 0;
    crate::tree::each(&model.tree().roots, &mut |node| {
        if node.class == module_controller::CLASS {
            modules.push((at, module_path(node)));
        }
        at += 1;
    });
    modules
        .into_iter()
        .filter_map(|(at, path)| {
            let chain = module_target(&model.tree().roots, &path)?;
            Some((entries[at].id, entries[*chain.last()?].id))
        })
        .collect()
}

/// The piece that makes a Module Controller lead to its target again; `None` if it does, or if one of them is gone.
fn renewed(model: &Model, module: Id, target: Id) -> Option<Piece> {
    let node = model.node(module)?;
    let at = model.outline().index(target)?;
    let path = module_path(node);
    let chain = module_target(&model.tree().roots, &path);
    if chain.is_some_and(|chain| chain.last() == Some(&at)) {
        return None;
    }
    let mut names: Vec<&str> = model
        .outline()
        .upwards(at)
        .map(|at| model.node_at(at).name.as_str())
        .collect();
    // The name of the tree's root, which decides nothing.
    names.push(path.first()?);
    let items = names
        .iter()
        .rev()
        .zip(0..)
        .map(|(name, place)| Prop::new(&place.to_string(), *name));
    let list = Prop::new(
        module_controller::NODE_PATH.name,
        Value::List(items.collect()),
    );
    let text = model.text();
    let PropertyPlace::Here(prop) = find(text, node, module_controller::NODE_PATH.name) else {
        return None;
    };
    let indent = drumfire_jmx::blanks_before(text, prop.span.start);
    let xml = indented(&write_property(&list), "\n", indent);
    let xml = with_line_ends(xml.trim_start(), drumfire_jmx::line_end(text));
    Some(Piece::new(prop.span.start, prop.span.end, xml))
}
