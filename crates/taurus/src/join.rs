//! Joins the plans of several executions into one plan, whose groups run in parallel or in sequence.

use drumfire_elements::config::user_defined_variables;
use drumfire_elements::controllers::{module_controller, test_fragment};
use drumfire_elements::other::test_plan;
use drumfire_elements::thread_groups::thread_group;
use drumfire_jmx::{Name, Node, Prop, Value};

use crate::error::TaurusError;
use crate::groups::PLAIN;

/// The plan of an execution.
pub(crate) struct ExecutionPlan {
    /// The Test Plan.
    pub plan: Node,
    /// The delay until it starts, in seconds.
    pub delay: f64,
    /// Its duration in seconds, if the configuration determines it.
    pub lasts: Option<f64>,
}

const VARIABLES: &str = "TestPlan.user_defined_variables";

/// Joins all plans into one. `slots` is how many executions run at a time.
pub(crate) fn join(
    mut parts: Vec<ExecutionPlan>,
    slots: Option<usize>,
) -> Result<Node, TaurusError> {
    let in_turn = slots.is_some_and(|slots| slots < parts.len());
    let serialized = in_turn && set_delays(&mut parts, slots.unwrap_or(1))?;
    for part in &mut parts {
        let delay = part.delay.ceil();
        if delay > 0.0 {
            let groups = part.plan.children.iter_mut().filter(|node| is_group(node));
            groups.for_each(|group| put_delay(group, delay));
        }
    }
    if parts.len() == 1 {
        return Ok(parts.swap_remove(0).plan);
    }
    let mut whole = Node::new(test_plan::CLASS, "TestPlanGui", "Taurus")
        .with("TestPlan.functional_mode", false)
        .with("TestPlan.serialize_threadgroups", serialized);
    whole.props.put(
        VARIABLES,
        drumfire_jmx::Element::new(user_defined_variables::CLASS)
            .shown("ArgumentsPanel", "User Defined Variables"),
    );
    let mut variables: Vec<(String, String)> = Vec::new();
    for part in parts {
        take(part.plan, &mut whole, &mut variables)?;
    }
    Ok(whole)
}

/// Sets start delays so that executions wait for a free slot. If durations are unknown, returns whether the groups must run
/// in sequence instead.
fn set_delays(parts: &mut [ExecutionPlan], slots: usize) -> Result<bool, TaurusError> {
    let waiting = parts.len().saturating_sub(slots);
    let are_known = parts
        .iter()
        .take(parts.len() - 1)
        .filter(|part| part.lasts.is_some())
        .count()
        + 1
        == parts.len();
    if are_known && waiting > 0 {
        let mut free = vec![0.0_f64; slots.max(1)];
        for part in parts {
            let first = free.iter_mut().min_by(|a, b| a.total_cmp(b));
            if let Some(first) = first {
                part.delay = part.delay.max(*first);
                *first = part.delay + part.lasts.unwrap_or(0.0);
            }
        }
        return Ok(false);
    }
    let one_each = parts.iter().all(|part| {
        part.plan
            .children
            .iter()
            .filter(|node| is_group(node) && node.enabled)
            .count()
            == 1
    });
    if slots <= 1 && one_each {
        Ok(true)
    } else {
        let fault = TaurusError::new("executions that wait for one another need a duration");
        Err(fault.hint("write `hold-for` in each"))
    }
}

fn is_group(node: &Node) -> bool {
    node.class.ends_with(thread_group::CLASS)
}

fn put_delay(group: &mut Node, seconds: f64) {
    if group.class == PLAIN {
        let delay = group.props.str("ThreadGroup.delay").parse().unwrap_or(0.0);
        group
            .props
            .put("ThreadGroup.delay", format!("{}", delay + seconds));
        group.props.put("ThreadGroup.scheduler", true);
    }
}

/// Moves the groups of a plan into the joined plan, each with the elements that stand beside the groups.
fn take(
    plan: Node,
    whole: &mut Node,
    variables: &mut Vec<(String, String)>,
) -> Result<(), TaurusError> {
    note_variables(&plan, variables)?;
    let mut beside = Vec::new();
    let mut groups = Vec::new();
    if let Some(list) = plan
        .props
        .element(VARIABLES)
        .filter(|list| !list.props.list("Arguments.arguments").is_empty())
    {
        let node = Node::new(
            user_defined_variables::CLASS,
            "ArgumentsPanel",
            "User Defined Variables",
        );
        let items = list.props.list("Arguments.arguments").to_vec();
        whole.children.push(node.with("Arguments.arguments", items));
    }
    for child in plan.children {
        match child.class.as_str() {
            user_defined_variables::CLASS => whole.children.push(child),
            test_fragment::CLASS => whole.children.push(child),
            _ if is_group(&child) => groups.push(child),
            _ => beside.push(child),
        }
    }
    for mut group in groups {
        group.children = beside
            .iter()
            .cloned()
            .chain(std::mem::take(&mut group.children))
            .collect();
        whole.children.push(group);
    }
    let name = whole.name.clone();
    readdress(&mut whole.children, &plan.name, &name);
    Ok(())
}

/// Collects the variables of all plans. In one plan, a name can only have one value.
fn note_variables(plan: &Node, known: &mut Vec<(String, String)>) -> Result<(), TaurusError> {
    let of_plan = plan
        .props
        .element(VARIABLES)
        .map(|list| list.props.list("Arguments.arguments"))
        .unwrap_or(&[] as &[Prop]);
    let nodes = plan
        .children
        .iter()
        .filter(|node| node.class == user_defined_variables::CLASS && node.enabled);
    let of_nodes = nodes.flat_map(|node| node.props.list("Arguments.arguments"));
    for item in of_plan.iter().chain(of_nodes) {
        let Value::Element(argument) = &item.value else {
            continue;
        };
        let name = argument.props.str("Argument.name").into_owned();
        let value = argument.props.str("Argument.value").into_owned();
        match known.iter().find(|(own, _)| *own == name) {
            Some((_, own)) if *own != value => {
                let fault = TaurusError::new(format!(
                    "two executions give the variable `{name}` different values, `{own}` and `{value}`"
                ));
                return Err(fault.hint("rename the variable in one of them (`drumfire rename`), or run them one by one"));
            }
            Some(_) => {}
            None => known.push((name, value)),
        }
    }
    Ok(())
}

/// Updates the paths of Module Controllers, which start at the Test Plan.
fn readdress(nodes: &mut [Node], old: &Name, new: &Name) {
    for node in nodes {
        if node.class == module_controller::CLASS {
            let mut path = node.props.list("ModuleController.node_path").to_vec();
            if let Some(entry) = path.get_mut(1)
                && entry.value.as_str() == old.as_str()
            {
                entry.value = Value::Str(new.to_string());
                node.props.put("ModuleController.node_path", path);
            }
        }
        readdress(&mut node.children, old, new);
    }
}
