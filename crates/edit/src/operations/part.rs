//! The part of a plan that runs alone: one sampler with its scope, all up to it, a branch, or a thread group.

use std::collections::BTreeMap;

use drumfire_elements::config::user_defined_variables;
use drumfire_elements::controllers::{module_controller, simple_controller};
use drumfire_elements::listeners::backend_listener;
use drumfire_elements::thread_groups::thread_group;
use drumfire_elements::{ElementFacts, Role, items};
use drumfire_jmx::{Element, Node, Prop, Value, line_end, write_elements};

use super::defaults::{ElementType, role};
use super::set::enable;
use super::structure::{Branch, Target, placed, remove};
use crate::refused::{Refused, no_element};
use crate::tree::markup::with_line_ends;
use crate::tree::{Id, Model, Piece, Step, step};

/// The part of a plan that runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A sampler or a controller with its scope. The controllers around it do not decide whether it runs.
    Branch,
    /// Everything of the thread group up to the element.
    UpTo,
    /// The thread group of the element.
    Group,
    /// The whole plan.
    Plan,
}

/// How a part runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PartOptions {
    /// Leave the timers out.
    pub ignores_timers: bool,
    /// Leave the Backend Listeners out.
    pub ignores_backends: bool,
    /// Variables that users have at the start.
    pub variables: BTreeMap<String, String>,
}

/// A plan that runs a part of another one. Its elements keep their numbers.
///
/// # Errors
/// The element is not there or in no thread group, or elements of the plan cannot change places.
pub fn part(
    model: &Model,
    id: Option<Id>,
    part: Part,
    options: &PartOptions,
) -> Result<Model, Refused> {
    let chain = match (part, id) {
        (Part::Plan, _) => Vec::new(),
        (_, None) => return Err(Refused::unfit("no element is selected")),
        (part, Some(id)) => chain(model, id, part)?,
    };
    let mut plan = model.clone();
    let needless = needless(&plan, &chain, part, options);
    if !needless.is_empty() {
        let removal = if keeps_modules(&plan, &chain) {
            // A Module Controller may lead to an element that does not run in its own place.
            enable(&plan, &needless, false)?
        } else {
            remove(&plan, &needless)?
        };
        apply(&mut plan, removal)?;
    }
    let pieces = replaced(&plan, &chain, part, options)?;
    let own_step = step(String::new(), plan.text(), pieces);
    apply(&mut plan, own_step)?;
    Ok(plan)
}

fn apply(plan: &mut Model, mut step: Step) -> Result<(), Refused> {
    if step.is_empty() {
        return Ok(());
    }
    let applied = plan.apply(&mut step);
    applied.map(drop).map_err(|faults| {
        let why = faults.first().map_or("", |fault| fault.message.as_str());
        Refused::unfit(format!("the part cannot run alone: {why}"))
    })
}

/// The elements from the part's own one up to the child of the Test Plan that holds it.
fn chain(model: &Model, id: Id, part: Part) -> Result<Vec<Id>, Refused> {
    let outline = model.outline();
    let at = outline.index(id).ok_or_else(|| no_element(id))?;
    let mut chain: Vec<usize> = outline.upwards(at).collect();
    chain.pop();
    let runs = |at: &usize| {
        matches!(
            role(model.node_at(*at)),
            Some(Role::Sampler | Role::Controller | Role::ThreadGroup | Role::Fragment) | None
        )
    };
    let first = match part {
        Part::Group => chain.len().saturating_sub(1),
        _ => chain.iter().position(runs).unwrap_or(chain.len()),
    };
    let holder = chain.last().and_then(|at| role(model.node_at(*at)));
    if first >= chain.len() || !matches!(holder, Some(Role::ThreadGroup | Role::Fragment)) {
        let name = &model.node_at(at).name;
        let message = format!("`{name}` is in no thread group, so that no user runs it");
        return Err(Refused::unfit(message)
            .hint("choose a sampler, a controller or a thread group")
            .of(id));
    }
    let chain = &chain[first..];
    Ok(chain.iter().map(|at| outline.entries[*at].id).collect())
}

/// The elements that the part does not need.
fn needless(model: &Model, chain: &[Id], part: Part, options: &PartOptions) -> Vec<Id> {
    let outline = model.outline();
    let mut needless = Vec::new();
    for own in chain {
        let Some(entry) = outline.entry(*own) else {
            continue;
        };
        let parent = entry.parent.map(|at| &outline.entries[at]);
        let siblings = parent.map(|parent| &parent.children[..]).unwrap_or(&[]);
        for (place, id) in siblings.iter().enumerate() {
            let Some(node) = model.node(*id).filter(|_| id != own) else {
                continue;
            };
            let is_needless = match role(node) {
                Some(Role::ThreadGroup | Role::NonTest) => true,
                Some(Role::Sampler | Role::Controller) => part != Part::UpTo || place > entry.place,
                _ => false,
            };
            if is_needless {
                needless.push(*id);
            }
        }
    }
    let mut at = 0;
    crate::tree::each(&model.tree().roots, &mut |node| {
        let is_ignored = (options.ignores_timers && role(node) == Some(Role::Timer))
            || (options.ignores_backends && node.class == backend_listener::CLASS);
        if is_ignored {
            needless.push(outline.entries[at].id);
        }
        at += 1;
    });
    needless
}

/// Whether the part holds a Module Controller.
fn keeps_modules(model: &Model, chain: &[Id]) -> bool {
    fn holds(node: &Node) -> bool {
        node.class == module_controller::CLASS || node.children.iter().any(holds)
    }
    let top = chain.first().and_then(|id| model.node(*id));
    top.is_some_and(holds)
}

/// The pieces that enable the elements around the part, keep its controllers from deciding, and set the variables.
fn replaced(
    model: &Model,
    chain: &[Id],
    part: Part,
    options: &PartOptions,
) -> Result<Vec<Piece>, Refused> {
    let line = line_end(model.text());
    let mut pieces = Vec::new();
    for (depth, id) in chain.iter().enumerate() {
        let node = model.node(*id).ok_or_else(|| no_element(*id))?;
        let around = match role(node) {
            Some(Role::Fragment) => Some(&thread_group::FACTS),
            Some(Role::Controller) if part == Part::Branch && depth > 0 => {
                Some(&simple_controller::FACTS)
            }
            _ => None,
        };
        match around {
            Some(facts) => {
                let xml = write_elements(&[made(facts, &node.name)]);
                let with_tree = with_line_ends(&xml, line);
                let xml = with_tree
                    .trim_end()
                    .trim_end_matches("<hashTree/>")
                    .trim_end();
                let whole = node.whole;
                pieces.push(Piece::new(whole.start, whole.end, xml).with_ids(vec![*id]));
            }
            None if !node.enabled => {
                let splices = drumfire_jmx::set_enabled(model.tree(), node, true);
                pieces.extend(splices.into_iter().map(Piece::from));
            }
            None => {}
        }
    }
    if !options.variables.is_empty() {
        let end = Target {
            parent: model.root(),
            index: usize::MAX,
        };
        let branch = Branch::new(&variables(&options.variables), line);
        pieces.push(placed(model, end, &[branch], &[])?);
    }
    Ok(pieces)
}

fn made(facts: &'static ElementFacts, name: &str) -> Node {
    let kind = ElementType {
        facts,
        gui: facts.gui,
        name: facts.name,
    };
    let mut node = kind.node();
    node.name = name.into();
    node
}

/// User Defined Variables with these values.
fn variables(values: &BTreeMap<String, String>) -> Node {
    let mut node = made(
        &user_defined_variables::FACTS,
        user_defined_variables::FACTS.name,
    );
    let rows = values.iter().map(|(name, value)| {
        let row = Element::new(items::ARGUMENT.class)
            .shown("", name)
            .with(items::NAME.name, name.as_str())
            .with(items::VALUE.name, value.as_str())
            .with(items::METADATA.name, "=");
        Prop::new(name, row)
    });
    let rows = Value::List(rows.collect());
    let list = user_defined_variables::VARIABLES.name;
    node.props.set(Prop::new(list, rows));
    node
}
