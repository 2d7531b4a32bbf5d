//! Moves elements to a Test Fragment, or into another plan that an Include Controller names.

use std::path::{Component, Path};

use drumfire_elements::controllers::{include_controller, module_controller, test_fragment};
use drumfire_elements::other::test_plan;
use drumfire_elements::{ElementFacts, Role};
use drumfire_jmx::{Node, Prop, Value, line_end};

use super::defaults::ElementType;
use super::structure::{
    Branch, Target, enclosed, fits, movable, named, of_one_parent, placed, plan_of, removed,
};
use crate::refused::{PARAMETERS, Refused};
use crate::tree::{Id, Model, Step, step};

/// The selection of an operation: elements of one parent, and the place that they leave.
struct Selection {
    tops: Vec<usize>,
    leaving: Vec<Id>,
    target: Target,
}

impl Selection {
    fn of(model: &Model, ids: &[Id]) -> Result<Selection, Refused> {
        movable(model)?;
        let (tops, target) = of_one_parent(model, ids)?;
        let entries = &model.outline().entries;
        for at in &tops {
            let node = model.node_at(*at);
            let role = super::defaults::role(node).unwrap_or(Role::Config);
            if !Role::Fragment.holds(role) {
                let message = format!("a Test Fragment cannot hold `{}`", node.name);
                return Err(Refused::unfit(message).of(entries[*at].id));
            }
        }
        Ok(Selection {
            leaving: tops.iter().map(|at| entries[*at].id).collect(),
            tops,
            target,
        })
    }

    /// The name of a single element, or of the first one.
    fn name(&self, model: &Model, given: Option<&str>) -> String {
        let given = given.map(str::trim).filter(|name| !name.is_empty());
        let first = || {
            let first = self.tops.first().map(|at| model.node_at(*at));
            first.map(|node| node.name.to_string()).unwrap_or_default()
        };
        given.map(str::to_owned).unwrap_or_else(first)
    }

    fn branches(&self, model: &Model) -> Vec<Branch> {
        self.tops.iter().map(|at| Branch::of(model, *at)).collect()
    }
}

/// A new element as JMeter's menu makes it, with a name.
fn made(facts: &'static ElementFacts, name: &str) -> Node {
    let mut node = ElementType {
        facts,
        gui: facts.gui,
        name: facts.name,
    }
    .node();
    node.name = name.into();
    node
}

/// Moves elements of one parent to a new Test Fragment at the end of the plan. A Module Controller takes their place.
///
/// # Errors
/// They have several parents, or a Test Fragment may not hold them.
pub fn extract(model: &mut Model, ids: &[Id], name: Option<&str>) -> Result<Step, Refused> {
    let selection = Selection::of(model, ids)?;
    let root = model.root();
    let plan = model.node(root).cloned().unwrap_or_default();
    let name = unused(&plan, &selection.name(model, name));
    // The root of JMeter's tree has the name of the Test Plan, which is below it (`ModuleController#getNodePath`).
    let path = [plan.name.as_str(), plan.name.as_str(), name.as_str()];
    let items = path
        .iter()
        .zip(0..)
        .map(|(name, place): (_, i32)| Prop::new(&place.to_string(), *name));
    let mut module = made(&module_controller::FACTS, &name);
    let list = Value::List(items.collect());
    module
        .props
        .set(Prop::new(module_controller::NODE_PATH.name, list));
    fits(model, selection.target.parent, &module)?;
    let line = line_end(model.text());
    let fragment = made(&test_fragment::FACTS, &name);
    let fragment = enclosed(
        &fragment,
        &selection.branches(model),
        Some(model.fresh_id()),
        line,
    );
    let end = Target {
        parent: root,
        index: usize::MAX,
    };
    let module = Branch {
        ids: vec![model.fresh_id()],
        ..Branch::new(&module, line)
    };
    let mut pieces = vec![
        placed(model, selection.target, &[module], &selection.leaving)?,
        placed(model, end, &[fragment], &selection.leaving)?,
    ];
    pieces.extend(removed(
        model,
        &selection.tops,
        Some(selection.target.parent),
    ));
    let label = format!("Extract {}", named(model, &selection.tops));
    Ok(step(label, model.text(), pieces))
}

/// A name that no child of the plan has: a Module Controller takes the first element with its name.
fn unused(plan: &Node, name: &str) -> String {
    let is_taken = |name: &str| plan.children.iter().any(|child| child.name == name);
    let mut numbered = std::iter::once(name.to_owned())
        .chain((2..).map(|number: usize| format!("{name} {number}")));
    numbered
        .find(|name| !is_taken(name))
        .unwrap_or_else(|| name.to_owned())
}

/// A plan that elements moved into, and the step that puts an Include Controller in their place.
#[derive(Debug)]
pub struct MovedOut {
    /// The text of the new plan.
    pub text: String,
    /// The step.
    pub step: Step,
}

/// Moves elements of one parent into a new plan, whose path is relative to the folder of this one. An Include Controller takes
/// their place.
///
/// # Errors
/// They have several parents, a Test Fragment may not hold them, or the path leads elsewhere.
pub fn move_out(
    model: &Model,
    ids: &[Id],
    path: &str,
    name: Option<&str>,
) -> Result<MovedOut, Refused> {
    let path = path.trim();
    let is_below = Path::new(path)
        .components()
        .all(|part| matches!(part, Component::Normal(_)));
    let is_plan = Path::new(path)
        .extension()
        .is_some_and(|ending| ending.eq_ignore_ascii_case("jmx"));
    if !is_below || !is_plan {
        let message = format!("`{path}` is not a path of a plan below the folder of this one");
        return Err(Refused::new(PARAMETERS, message).hint("give a path such as `parts/login.jmx`"));
    }
    let selection = Selection::of(model, ids)?;
    let name = selection.name(model, name);
    let mut include = made(&include_controller::FACTS, &name);
    include.props.put(include_controller::FILE.name, path);
    fits(model, selection.target.parent, &include)?;
    let line = line_end(model.text());
    let fragment = made(&test_fragment::FACTS, &name);
    let fragment = enclosed(&fragment, &selection.branches(model), None, line);
    let plan = made(&test_plan::FACTS, &name);
    let text = plan_of(model.text(), &[enclosed(&plan, &[fragment], None, line)]);
    let include = Branch::new(&include, line);
    let mut pieces = vec![placed(
        model,
        selection.target,
        &[include],
        &selection.leaving,
    )?];
    pieces.extend(removed(
        model,
        &selection.tops,
        Some(selection.target.parent),
    ));
    let label = format!(
        "Move {} into {path}; the file stays",
        named(model, &selection.tops)
    );
    Ok(MovedOut {
        text,
        step: step(label, model.text(), pieces),
    })
}
