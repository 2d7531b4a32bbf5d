//! Changes the type of an element.

use drumfire_jmx::{Node, Value, blanks_before, line_end};

use super::defaults::{ElementType, role};
use super::structure::{Branch, fits, movable};
use crate::refused::{Refused, no_element};
use crate::tree::markup::indented;
use crate::tree::{Id, Model, Piece, Step, step};

/// The property with an element's comments, which all types have.
pub const COMMENTS: &str = "TestPlan.comments";

/// The properties of an element that a change of its type keeps, and those that it loses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptAndLost {
    /// The properties that both types have.
    pub kept: Vec<String>,
    /// The properties that only the old type has.
    pub lost: Vec<String>,
}

/// The properties that a change of type would keep and lose.
///
/// # Errors
/// The element is not there.
pub fn preview(model: &Model, id: Id, wanted: ElementType) -> Result<KeptAndLost, Refused> {
    let node = model.node(id).ok_or_else(|| no_element(id))?;
    let mut preview = KeptAndLost::default();
    for prop in node.props.iter().filter(|prop| !is_special(&prop.name)) {
        let list = if keeps(wanted, &prop.name) {
            &mut preview.kept
        } else {
            &mut preview.lost
        };
        list.push(prop.name.to_string());
    }
    Ok(preview)
}

fn is_special(name: &str) -> bool {
    name.starts_with("TestElement.")
}

fn keeps(wanted: ElementType, name: &str) -> bool {
    name == COMMENTS
        || wanted
            .facts
            .properties()
            .any(|property| property.name == name)
}

/// Makes an element one of another type. It keeps its number, its name, its children and the properties that both types have.
///
/// # Errors
/// The element is not there, the new type may not stand there, or may not hold the children.
pub fn retype(model: &Model, id: Id, wanted: ElementType) -> Result<Step, Refused> {
    movable(model)?;
    let node = model.node(id).ok_or_else(|| no_element(id))?;
    let outline = model.outline();
    let mut new = wanted.node();
    new.name = node.name.clone();
    new.enabled = node.enabled;
    new.enabled_as = node.enabled_as.clone();
    let parent = outline.index(id).and_then(|at| outline.parent(at));
    let Some(parent) = parent else {
        let message = format!("`{}` is the plan itself, which has one type", node.name);
        return Err(Refused::unfit(message).of(id));
    };
    fits(model, parent, &new)?;
    for child in &node.children {
        if role(child).is_some_and(|inner| !wanted.facts.role.holds(inner)) {
            let message = format!("a {} cannot hold `{}`", wanted.name, child.name);
            return Err(Refused::unfit(message)
                .hint("move it elsewhere first")
                .of(id));
        }
    }
    for prop in node.props.iter().filter(|prop| keeps(wanted, &prop.name)) {
        if !matches!(prop.value, Value::Null) {
            new.props.set(prop.clone());
        }
    }
    let text = model.text();
    let branch = Branch::new(
        &Node {
            children: Vec::new(),
            ..new
        },
        line_end(text),
    );
    let element = branch
        .xml
        .strip_suffix("<hashTree/>")
        .unwrap_or(&branch.xml);
    let indent = blanks_before(text, node.whole.start);
    let xml = indented(element.trim_end(), &branch.indent, indent);
    let label = format!("Make {} a {}", node.name, wanted.name);
    let piece = Piece::new(node.whole.start, node.whole.end, xml).with_ids(vec![id]);
    Ok(step(label, text, vec![piece]))
}
