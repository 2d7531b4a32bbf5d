//! Inserts, moves, copies and removes elements.

use drumfire_elements::Role;
use drumfire_jmx::{
    ChildTree, Node, Span, blanks_before, child_tree, line_end, subtree, subtree_with_blanks,
    write_elements,
};

use super::defaults::{ElementType, role};
use crate::refused::{Refused, no_element};
use crate::tree::markup::{indent_below, indented, with_line_ends};
use crate::tree::{Id, Model, Piece, Step, step};

/// Elements as text, with their numbers if they have any.
#[derive(Debug, Clone, Default)]
pub struct Branch {
    /// An element and its `hashTree`.
    pub xml: String,
    /// The line end and the indentation before it.
    pub indent: String,
    /// The numbers of the element and of those below it.
    pub ids: Vec<Id>,
}

impl Branch {
    /// An element of the plan.
    pub fn of(model: &Model, at: usize) -> Branch {
        let text = model.text();
        let Span { start, end } = subtree(text, model.node_at(at));
        Branch {
            xml: whole_tree(&text[start..end], model.node_at(at), text),
            indent: blanks_before(text, start).to_owned(),
            ids: model.outline().ids_of(at),
        }
    }

    /// An element that is in no file yet.
    pub fn new(node: &Node, line_end: &str) -> Branch {
        Branch {
            xml: with_line_ends(&write_elements(std::slice::from_ref(node)), line_end),
            indent: line_end.to_owned(),
            ids: Vec::new(),
        }
    }

    fn indented(&self, indent: &str) -> String {
        format!("{indent}{}", indented(&self.xml, &self.indent, indent))
    }
}

/// The last element of its parent may lack its tree; at another place it needs one.
fn whole_tree(xml: &str, node: &Node, text: &str) -> String {
    match child_tree(text, node) {
        ChildTree::Missing => format!("{xml}<hashTree/>"),
        _ => xml.to_owned(),
    }
}

/// The place for new children: a parent, and the child before which they go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Target {
    /// The parent.
    pub parent: Id,
    /// The place among its children; behind the last one if it is larger.
    pub index: usize,
}

/// Refuses plans in whose text elements cannot change places.
pub fn movable(model: &Model) -> Result<(), Refused> {
    let path = model.tree().source.path.display();
    let hint = format!("rewrite the plan first: `drumfire fmt {path}`");
    if model.tree().version == "1.0" {
        return Err(Refused::unfit("the plan has the format of an old JMeter").hint(hint));
    }
    if model.tree().source.has_references() {
        let why = "parts of the plan refer to each other by their place in the file";
        return Err(Refused::unfit(why).hint(hint));
    }
    Ok(())
}

/// Refuses elements where JMeter's window lets nobody put them.
pub fn fits(model: &Model, parent: Id, child: &Node) -> Result<(), Refused> {
    let holder = model.node(parent).ok_or_else(|| no_element(parent))?;
    let (Some(outer), Some(inner)) = (role(holder), role(child)) else {
        return Ok(());
    };
    if outer.holds(inner) {
        return Ok(());
    }
    let message = format!(
        "`{}` cannot hold `{}`: a {} goes into {}",
        holder.name,
        child.name,
        noun(inner),
        homes(inner)
    );
    Err(Refused::unfit(message).of(parent))
}

fn noun(role: Role) -> &'static str {
    match role {
        Role::Plan => "Test Plan",
        Role::ThreadGroup => "thread group",
        Role::Controller => "controller",
        Role::Fragment => "Test Fragment",
        Role::Sampler => "sampler",
        Role::Config | Role::Data => "config element",
        Role::Timer => "timer",
        Role::PreProcessor => "pre-processor",
        Role::PostProcessor => "post-processor",
        Role::Assertion => "assertion",
        Role::Listener => "listener",
        Role::NonTest => "non-test element",
    }
}

fn homes(role: Role) -> &'static str {
    match role {
        Role::Plan => "no other element",
        Role::ThreadGroup | Role::Fragment | Role::NonTest => "the Test Plan",
        Role::Controller | Role::Sampler => "a thread group or a controller",
        _ => "the Test Plan, a thread group, a controller or a sampler",
    }
}

/// Inserts elements.
///
/// # Errors
/// The parent is not there, or may not hold them.
pub fn insert(
    model: &Model,
    target: Target,
    branches: &[Branch],
    nodes: &[&Node],
    label: String,
) -> Result<Step, Refused> {
    movable(model)?;
    for node in nodes {
        fits(model, target.parent, node)?;
    }
    let pieces = vec![placed(model, target, branches, &[])?];
    Ok(step(label, model.text(), pieces))
}

/// The piece that puts branches below a parent. The index counts children without those of `leaving`, which go elsewhere in the
/// same step.
pub fn placed(
    model: &Model,
    target: Target,
    branches: &[Branch],
    leaving: &[Id],
) -> Result<Piece, Refused> {
    let none = || no_element(target.parent);
    let parent = model.node(target.parent).ok_or_else(none)?;
    let entry = model.outline().entry(target.parent).ok_or_else(none)?;
    let text = model.text();
    let indent = indent_below(text, parent);
    let xml: String = branches
        .iter()
        .map(|branch| branch.indented(&indent))
        .collect();
    let ids = branches
        .iter()
        .flat_map(|branch| branch.ids.iter().copied())
        .collect();
    let staying = entry
        .children
        .iter()
        .zip(&parent.children)
        .filter(|(id, _)| !leaving.contains(id));
    let before = staying.take(target.index).last().map(|(_, node)| node);
    // The last element of its parent may lack its tree, which it needs before a sibling.
    let xml = match before.map(|node| child_tree(text, node)) {
        Some(ChildTree::Missing) => format!("<hashTree/>{xml}"),
        _ => xml,
    };
    let before = before.map(|node| subtree(text, node).end);
    let parent_indent = blanks_before(text, parent.whole.start);
    Ok(match (before, child_tree(text, parent)) {
        (Some(end), _) => Piece::new(end, end, xml),
        (None, ChildTree::Whole { open, close }) => {
            let is_bare = open.end == close.start;
            let xml = if is_bare {
                format!("{xml}{parent_indent}")
            } else {
                xml
            };
            Piece::new(open.end, open.end, xml)
        }
        (None, ChildTree::Empty(tree)) => {
            let start = tree.start
                + text[tree.start..tree.end]
                    .trim_end_matches("/>")
                    .trim_end()
                    .len();
            Piece::new(
                start,
                tree.end,
                format!(
                    ">{xml}{parent_indent}</{}>",
                    drumfire_jmx::tag_name(text, tree)
                ),
            )
        }
        (None, ChildTree::Missing) => {
            let end = parent.whole.end;
            Piece::new(
                end,
                end,
                format!("{parent_indent}<hashTree>{xml}{parent_indent}</hashTree>"),
            )
        }
    }
    .with_ids(ids))
}

/// The indices of elements, in the order of the file, without those below another one of them.
///
/// # Errors
/// One of them is not there, or is the Test Plan.
pub fn tops(model: &Model, ids: &[Id]) -> Result<Vec<usize>, Refused> {
    let outline = model.outline();
    let mut all = Vec::new();
    for id in ids {
        let at = outline.index(*id).ok_or_else(|| no_element(*id))?;
        all.push(at);
    }
    all.sort_unstable();
    all.dedup();
    let mut end = 0;
    all.retain(|at| {
        let is_top = *at >= end;
        if is_top {
            end = at + outline.entries[*at].below + 1;
        }
        is_top
    });
    Ok(all)
}

fn not_root(model: &Model, tops: &[usize]) -> Result<(), Refused> {
    let root = tops
        .iter()
        .find(|at| model.outline().entries[**at].parent.is_none());
    match root {
        Some(at) => {
            let name = &model.node_at(*at).name;
            let message = format!("`{name}` is the plan itself, which stays where it is");
            Err(Refused::unfit(message).of(model.outline().entries[*at].id))
        }
        None => Ok(()),
    }
}

/// The pieces that remove elements. A parent that keeps no child gets an empty tree, as JMeter writes it, unless new children come
/// into it.
pub fn removed(model: &Model, tops: &[usize], target: Option<Id>) -> Vec<Piece> {
    let (text, outline) = (model.text(), model.outline());
    let mut pieces = Vec::new();
    let mut rest = tops;
    while let Some(first) = rest.first() {
        let parent = outline.entries[*first].parent;
        let same = rest
            .iter()
            .take_while(|at| outline.entries[**at].parent == parent)
            .count();
        let (group, others) = rest.split_at(same);
        rest = others;
        let emptied = parent.filter(|parent| {
            outline.entries[*parent].children.len() == group.len()
                && Some(outline.entries[*parent].id) != target
        });
        match emptied.and_then(|parent| emptied_tree(text, model.node_at(parent))) {
            Some(piece) => pieces.push(piece),
            None => pieces.extend(group.iter().map(|at| {
                let Span { start, end } = subtree_with_blanks(text, model.node_at(*at));
                Piece::new(start, end, "")
            })),
        }
    }
    pieces
}

/// The piece that makes an element's tree an empty tag; `None` if there is more in it than elements.
fn emptied_tree(text: &str, parent: &Node) -> Option<Piece> {
    let ChildTree::Whole { open, close } = child_tree(text, parent) else {
        return None;
    };
    let mut from = open.end;
    for child in &parent.children {
        let whole = subtree(text, child);
        if !text[from..whole.start].trim().is_empty() {
            return None;
        }
        from = whole.end;
    }
    let is_blank = text[from..close.start].trim().is_empty();
    is_blank.then(|| Piece::new(open.end - 1, close.end, "/>"))
}

/// Removes elements with everything below them.
///
/// # Errors
/// One of them is not there, or is the Test Plan.
pub fn remove(model: &Model, ids: &[Id]) -> Result<Step, Refused> {
    movable(model)?;
    let tops = tops(model, ids)?;
    not_root(model, &tops)?;
    let label = format!("Remove {}", named(model, &tops));
    Ok(step(label, model.text(), removed(model, &tops, None)))
}

/// The name of one element, or the number of several.
pub fn named(model: &Model, tops: &[usize]) -> String {
    match tops {
        [at] => model.node_at(*at).name.to_string(),
        _ => format!("{} elements", tops.len()),
    }
}

/// Moves elements. The index counts the children as they are now.
///
/// # Errors
/// One of them is not there, or would come into itself, or the parent may not hold it.
pub fn relocate(model: &Model, ids: &[Id], target: Target) -> Result<Step, Refused> {
    movable(model)?;
    let outline = model.outline();
    let tops = tops(model, ids)?;
    not_root(model, &tops)?;
    let home = outline
        .index(target.parent)
        .ok_or_else(|| no_element(target.parent))?;
    for at in &tops {
        let node = model.node_at(*at);
        if outline.upwards(home).any(|up| up == *at) {
            let message = format!("`{}` cannot come into itself", node.name);
            return Err(Refused::unfit(message).of(outline.entries[*at].id));
        }
        fits(model, target.parent, node)?;
    }
    let leaving: Vec<Id> = tops.iter().map(|at| outline.entries[*at].id).collect();
    let children = &outline.entries[home].children;
    let before = children.iter().take(target.index);
    let index = before.filter(|id| !leaving.contains(id)).count();
    if stays(children, &leaving, index) {
        return Ok(Step::default());
    }
    let branches: Vec<Branch> = tops.iter().map(|at| Branch::of(model, *at)).collect();
    let target = Target { index, ..target };
    let mut pieces = vec![placed(model, target, &branches, &leaving)?];
    pieces.extend(removed(model, &tops, Some(target.parent)));
    let label = format!("Move {}", named(model, &tops));
    Ok(step(label, model.text(), pieces))
}

/// Whether the children have the same order after the move.
fn stays(children: &[Id], leaving: &[Id], index: usize) -> bool {
    if !leaving.iter().all(|id| children.contains(id)) {
        return false;
    }
    let mut after: Vec<Id> = children
        .iter()
        .copied()
        .filter(|id| !leaving.contains(id))
        .collect();
    after.splice(index..index, leaving.iter().copied());
    after == children
}

/// Elements as the text of a plan, which JMeter, mails and editors can take over.
///
/// # Errors
/// One of them is not there.
pub fn copied(model: &Model, ids: &[Id]) -> Result<String, Refused> {
    let tops = tops(model, ids)?;
    let branches: Vec<Branch> = tops.iter().map(|at| Branch::of(model, *at)).collect();
    Ok(plan_of(model.text(), &branches))
}

/// Elements as the text of a plan that the same version of JMeter saved as another text.
pub fn plan_of(text: &str, branches: &[Branch]) -> String {
    let line = line_end(text);
    let indent = format!("{line}    ");
    let inside: String = branches
        .iter()
        .map(|branch| branch.indented(&indent))
        .collect();
    let head = plan_tag(text)
        .unwrap_or(r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3">"#);
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>{line}{head}{line}  <hashTree>{inside}{line}  </hashTree>{line}</jmeterTestPlan>{line}"
    )
}

fn plan_tag(text: &str) -> Option<&str> {
    let start = text.find("<jmeterTestPlan")?;
    let end = start + text[start..].find('>')? + 1;
    Some(&text[start..end])
}

/// Repeats elements, each behind itself.
///
/// # Errors
/// One of them is not there, or is the Test Plan.
pub fn duplicate(model: &Model, ids: &[Id]) -> Result<Step, Refused> {
    movable(model)?;
    let tops = tops(model, ids)?;
    not_root(model, &tops)?;
    let pieces = tops.iter().map(|at| {
        let Branch { xml, indent, .. } = Branch::of(model, *at);
        let end = subtree(model.text(), model.node_at(*at)).end;
        // At the end of its parent an element may lack its tree, which it needs before a sibling.
        let tree = match child_tree(model.text(), model.node_at(*at)) {
            ChildTree::Missing => "<hashTree/>",
            _ => "",
        };
        Piece::new(end, end, format!("{tree}{indent}{xml}"))
    });
    let label = format!("Duplicate {}", named(model, &tops));
    Ok(step(label, model.text(), pieces.collect()))
}

/// Puts a new element of a type around elements that have one parent.
///
/// # Errors
/// They have several parents, or one of them is not there.
pub fn wrap(model: &mut Model, ids: &[Id], around: ElementType) -> Result<Step, Refused> {
    movable(model)?;
    let (tops, target) = of_one_parent(model, ids)?;
    let outline = model.outline().clone();
    let node = around.node();
    fits(model, target.parent, &node)?;
    for at in &tops {
        let child = model.node_at(*at);
        if !around.facts.role.holds(role(child).unwrap_or(Role::Config)) {
            let message = format!("a {} cannot hold `{}`", around.name, child.name);
            return Err(Refused::unfit(message).of(outline.entries[*at].id));
        }
    }
    let line = line_end(model.text());
    let branches: Vec<Branch> = tops.iter().map(|at| Branch::of(model, *at)).collect();
    let leaving: Vec<Id> = tops.iter().map(|at| outline.entries[*at].id).collect();
    let branch = enclosed(&node, &branches, Some(model.fresh_id()), line);
    let mut pieces = vec![placed(model, target, &[branch], &leaving)?];
    pieces.extend(removed(model, &tops, Some(target.parent)));
    let label = format!("Put {} into a {}", named(model, &tops), around.name);
    Ok(step(label, model.text(), pieces))
}

/// The indices of elements of one parent, and the place of the first.
///
/// # Errors
/// They have several parents, or one of them is not there.
pub fn of_one_parent(model: &Model, ids: &[Id]) -> Result<(Vec<usize>, Target), Refused> {
    let tops = tops(model, ids)?;
    not_root(model, &tops)?;
    let entries = &model.outline().entries;
    let parents = tops.iter().map(|at| entries[*at].parent);
    let (Some(first), Some(Some(parent))) = (tops.first(), parents.clone().next()) else {
        return Err(Refused::unfit("no element is selected"));
    };
    if parents.clone().any(|other| other != Some(parent)) {
        return Err(Refused::unfit("the elements have several parents")
            .hint("choose elements of one parent"));
    }
    let target = Target {
        parent: entries[parent].id,
        index: entries[*first].place,
    };
    Ok((tops, target))
}

/// A new element with elements of the plan below it.
pub fn enclosed(node: &Node, inner: &[Branch], id: Option<Id>, line: &str) -> Branch {
    let outer = Branch::new(node, line);
    let indent = format!("{line}  ");
    let xml: String = inner
        .iter()
        .map(|branch| branch.indented(&indent))
        .collect();
    let element = outer.xml.strip_suffix("<hashTree/>").unwrap_or(&outer.xml);
    let below = inner.iter().flat_map(|branch| branch.ids.iter().copied());
    Branch {
        xml: format!("{element}<hashTree>{xml}{line}</hashTree>"),
        indent: line.to_owned(),
        ids: id.into_iter().chain(below).collect(),
    }
}

/// Puts the children of an element in its place.
///
/// # Errors
/// The element is not there, or its parent may not hold the children.
pub fn unwrap(model: &Model, id: Id) -> Result<Step, Refused> {
    movable(model)?;
    let outline = model.outline();
    let at = outline.index(id).ok_or_else(|| no_element(id))?;
    not_root(model, &[at])?;
    let parent = outline.parent(at).ok_or_else(|| no_element(id))?;
    for child in &model.node_at(at).children {
        fits(model, parent, child)?;
    }
    let children = outline.entries[at]
        .children
        .iter()
        .filter_map(|id| outline.index(*id));
    let branches: Vec<Branch> = children.map(|child| Branch::of(model, child)).collect();
    if branches.is_empty() {
        return remove(model, &[id]);
    }
    let text = model.text();
    let indent = blanks_before(text, model.node_at(at).whole.start);
    let Span { start, end } = subtree_with_blanks(text, model.node_at(at));
    let xml: String = branches
        .iter()
        .map(|branch| branch.indented(indent))
        .collect();
    let ids = branches.into_iter().flat_map(|branch| branch.ids).collect();
    let label = format!("Unwrap {}", model.node_at(at).name);
    Ok(step(
        label,
        text,
        vec![Piece::new(start, end, xml).with_ids(ids)],
    ))
}
