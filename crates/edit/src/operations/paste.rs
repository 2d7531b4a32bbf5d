//! Text from elsewhere as elements: parts of plans, and what the program's importers read.

use std::path::Path;

use drumfire_jmx::{ChildTree, Node, blanks_before, child_tree, line_end, subtree};

use super::structure::{Branch, Target, insert};
use crate::program::Program;
use crate::refused::Refused;
use crate::tree::markup::with_line_ends;
use crate::tree::{Model, Step};

/// Inserts a text as elements.
///
/// # Errors
/// The text is neither part of a plan nor something that an importer reads, or its elements do not fit there.
pub fn paste(
    model: &Model,
    target: Target,
    text: &str,
    program: &dyn Program,
) -> Result<Step, Refused> {
    if text
        .trim_start_matches('\u{feff}')
        .trim_start()
        .starts_with('<')
    {
        return paste_plan(model, target, text);
    }
    let nodes = program.import(text)?;
    let line = line_end(model.text());
    let branches: Vec<Branch> = nodes.iter().map(|node| Branch::new(node, line)).collect();
    insert(
        model,
        target,
        &branches,
        &nodes.iter().collect::<Vec<_>>(),
        label(&nodes),
    )
}

fn label(nodes: &[Node]) -> String {
    match nodes {
        [node] => format!("Paste {}", node.name),
        _ => format!("Paste {} elements", nodes.len()),
    }
}

fn paste_plan(model: &Model, target: Target, text: &str) -> Result<Step, Refused> {
    let pasted = branches(model, text)?;
    let (branches, nodes): (Vec<Branch>, Vec<Node>) = pasted.into_iter().unzip();
    let all: Vec<&Node> = nodes.iter().collect();
    insert(model, target, &branches, &all, label(&nodes))
}

/// The elements of a text of a plan, ready to be inserted.
///
/// # Errors
/// The text cannot be read, or has no element.
pub fn branches(model: &Model, text: &str) -> Result<Vec<(Branch, Node)>, Refused> {
    let framed = framed(text, &model.tree().version);
    let read = drumfire_jmx::read(framed.as_bytes(), Path::new("clipboard"));
    let tree = read.map_err(|faults| unreadable(&faults))?.tree;
    if tree.version == "1.0" || drumfire_jmx::has_references(&framed) {
        return Err(Refused::unfit("the text is of an old JMeter")
            .hint("save it with JMeter 5.6.3, or run `drumfire fmt` on its plan, and copy again"));
    }
    let line = line_end(model.text());
    // Of a whole plan, the children of its Test Plan are meant.
    let nodes: Vec<&Node> = match tree.roots.iter().as_slice() {
        [root] if super::defaults::role(root) == Some(drumfire_elements::Role::Plan) => {
            root.children.iter().collect()
        }
        roots => roots.iter().collect(),
    };
    if nodes.is_empty() {
        return Err(Refused::unfit("the text has no element to insert"));
    }
    let source = tree.source.text.as_str();
    let branches = nodes.iter().map(|node| {
        let span = subtree(source, node);
        let tree = match child_tree(source, node) {
            ChildTree::Missing => "<hashTree/>",
            _ => "",
        };
        let xml = format!("{}{tree}", &source[span.start..span.end]);
        let branch = Branch {
            xml: with_line_ends(&xml, line),
            indent: with_line_ends(blanks_before(source, span.start), line),
            ids: Vec::new(),
        };
        (branch, (*node).clone())
    });
    Ok(branches.collect())
}

fn unreadable(faults: &[drumfire_jmx::Diagnostic]) -> Refused {
    let fault = faults.iter().find(|fault| fault.is_error());
    let why = fault
        .map(|fault| fault.message.as_str())
        .unwrap_or("it is no XML");
    Refused::unfit(format!("the text cannot be read as part of a plan: {why}"))
        .hint("copy whole elements, with the `hashTree` behind each")
}

/// The text as a plan.
fn framed(text: &str, version: &str) -> String {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.contains("<jmeterTestPlan") {
        return text.to_owned();
    }
    let inside = match text
        .strip_prefix("<?xml")
        .and_then(|rest| rest.split_once("?>"))
    {
        Some((_, rest)) => rest.trim(),
        None => text,
    };
    let tree = if inside.starts_with("<hashTree") {
        inside.to_owned()
    } else {
        format!("<hashTree>{inside}</hashTree>")
    };
    let version = if version.is_empty() { "1.2" } else { version };
    format!("<jmeterTestPlan version=\"{version}\">{tree}</jmeterTestPlan>")
}
