//! Renames an element; Module Controllers and other elements that refer to it by name are updated.

use std::collections::BTreeSet;

use drumfire_elements::controllers::{
    module_controller, switch_controller, weighted_switch_controller,
};
use drumfire_elements::timers::throughput_shaping_timer;
use drumfire_jmx::{Node, Prop, Span, Splice, content_span, did_you_mean, escaped};

use crate::joined::{Joined, PlanFile};
use crate::names::Subject;
use crate::rename::{RenameError, Renamed, changed, editable, place};

/// Renames all elements with a name. The old name may be a path of names joined by ` > `, which selects fewer of them.
///
/// # Errors
/// No element has the name, or a Module Controller would then find another element.
pub fn rename_element(joined: &Joined, old: &str, new: &str) -> Result<Renamed, RenameError> {
    let path: Vec<&str> = old.split(" > ").collect();
    let meant: Vec<BTreeSet<usize>> = joined
        .plans
        .iter()
        .map(|plan| {
            let all = 0..plan.index().elements.len();
            all.filter(|at| plan.index().path(*at).ends_with(&path))
                .collect()
        })
        .collect();
    if meant.iter().all(BTreeSet::is_empty) {
        return Err(unknown(joined, old));
    }
    renamed_elements(
        joined,
        &meant,
        path.last().copied().unwrap_or_default(),
        new,
    )
}

/// Renames one element of a plan; `element` is its index in the order of the file.
///
/// # Errors
/// The plan has no such element, or a Module Controller would then find another element.
pub fn rename_one(
    joined: &Joined,
    plan: usize,
    element: usize,
    new: &str,
) -> Result<Renamed, RenameError> {
    let entry = joined
        .plans
        .get(plan)
        .and_then(|plan| plan.index().elements.get(element));
    let first = entry.ok_or_else(|| RenameError::new("the plan has no such element"))?;
    let mut meant = vec![BTreeSet::new(); joined.plans.len()];
    meant[plan].insert(element);
    renamed_elements(joined, &meant, &first.name, new)
}

/// Renames the elements with these indices, a set for each plan, which all have the name `own`.
fn renamed_elements(
    joined: &Joined,
    meant: &[BTreeSet<usize>],
    own: &str,
    new: &str,
) -> Result<Renamed, RenameError> {
    if new.trim().is_empty() {
        return Err(RenameError::new("an element needs a name"));
    }
    for plan in &joined.plans {
        editable(plan)?;
    }
    let mut edits: Vec<Vec<Splice>> = vec![Vec::new(); joined.plans.len()];
    for (plan, (own_edits, meant)) in joined.plans.iter().zip(edits.iter_mut().zip(meant)) {
        names(plan, meant, new, own_edits);
        choices(plan, meant, own, new, own_edits);
    }
    timers(joined, meant, own, new, &mut edits);
    let mut chains = Vec::new();
    for (at, edits) in edits.iter_mut().enumerate() {
        modules(joined, at, meant, new, edits, &mut chains);
    }
    let mut renamed = Renamed::default();
    for (plan, edits) in joined.plans.iter().zip(edits) {
        renamed.changes.extend(changed(plan, edits)?);
    }
    still_lead(joined, &renamed, &chains)?;
    Ok(renamed)
}

fn unknown(joined: &Joined, old: &str) -> RenameError {
    let all = joined.plans.iter().flat_map(|plan| &plan.index().elements);
    let names: BTreeSet<&str> = all.map(|element| element.name.as_str()).collect();
    let refused = RenameError::new(format!("no element here has the name `{old}`"));
    match did_you_mean(old, names.iter().copied()) {
        Some(near) => refused.hint(format!("did you mean `{near}`?")),
        None => refused,
    }
}

fn names(plan: &PlanFile, meant: &BTreeSet<usize>, new: &str, edits: &mut Vec<Splice>) {
    for at in meant {
        if let Some(span) = plan.index().elements[*at].name_span {
            edits.push(Splice {
                span,
                text: escaped(new),
            });
        }
    }
}

/// All nodes of a plan in the order of its index.
fn nodes(plan: &PlanFile) -> Vec<&Node> {
    fn walk<'t>(nodes: &'t [Node], found: &mut Vec<&'t Node>) {
        for node in nodes {
            found.push(node);
            walk(&node.children, found);
        }
    }
    let mut elements = Vec::new();
    walk(&plan.tree.roots, &mut elements);
    elements
}

/// Updates Switch Controllers, which choose a child by its name, and Weighted Switch Controllers, which list their children.
fn choices(
    plan: &PlanFile,
    meant: &BTreeSet<usize>,
    own: &str,
    new: &str,
    edits: &mut Vec<Splice>,
) {
    let source = plan.tree.source.text.as_str();
    let nodes = nodes(plan);
    let parents: BTreeSet<usize> = meant
        .iter()
        .filter_map(|at| plan.index().elements[*at].parent)
        .collect();
    for parent in parents {
        let node = nodes[parent];
        let mut follow = |prop: &Prop| {
            if prop.value.as_str() == own {
                edits.extend(content_edit(source, prop.span, new));
            }
        };
        match node.class.as_str() {
            switch_controller::CLASS => node
                .props
                .get(switch_controller::VALUE.name)
                .iter()
                .for_each(|prop| follow(prop)),
            weighted_switch_controller::CLASS => {
                for row in node.props.list(weighted_switch_controller::WEIGHTS.name) {
                    if let drumfire_jmx::Value::List(cells) = &row.value
                        && let Some(first) = cells.first()
                    {
                        follow(first);
                    }
                }
            }
            _ => {}
        }
    }
}

fn content_edit(source: &str, whole: Span, new: &str) -> Option<Splice> {
    let span = content_span(source, whole)?;
    Some(Splice {
        span,
        text: escaped(new),
    })
}

/// Updates `${__tstFeedback(name,…)}`, which names a Throughput Shaping Timer.
fn timers(
    joined: &Joined,
    meant: &[BTreeSet<usize>],
    own: &str,
    new: &str,
    edits: &mut [Vec<Splice>],
) {
    let mut named = joined.plans.iter().zip(meant);
    if !named.any(|(plan, meant)| meant.iter().any(|at| is_timer(plan, at))) {
        return;
    }
    for (plan, edits) in joined.plans.iter().zip(edits) {
        let calls = plan
            .index()
            .names
            .iter()
            .filter(|one| one.subject == Subject::Timer && one.name == own);
        edits.extend(calls.map(|one| Splice {
            span: one.span,
            text: escaped(new),
        }));
    }
}

fn is_timer(plan: &PlanFile, at: &usize) -> bool {
    plan.index().elements[*at].class == throughput_shaping_timer::CLASS
}

/// A Module Controller and the path to its target.
struct Chain {
    plan: usize,
    module: usize,
    root: usize,
    target: usize,
}

fn modules(
    joined: &Joined,
    at: usize,
    meant: &[BTreeSet<usize>],
    new: &str,
    edits: &mut Vec<Splice>,
    chains: &mut Vec<Chain>,
) {
    let plan = &joined.plans[at];
    let source = plan.tree.source.text.as_str();
    for (module, node) in nodes(plan).into_iter().enumerate() {
        if node.class != module_controller::CLASS {
            continue;
        }
        let entries = node.props.list(module_controller::NODE_PATH.name);
        let path = module_path(node);
        for root in joined.roots_of(at) {
            let Some(chain) = module_target(&joined.plans[root].tree.roots, &path) else {
                continue;
            };
            for (entry, element) in entries.iter().skip(1).zip(&chain) {
                if meant[root].contains(element) {
                    edits.extend(content_edit(source, entry.span, new));
                }
            }
            chains.push(Chain {
                plan: at,
                module,
                root,
                target: chain.last().copied().unwrap_or_default(),
            });
        }
    }
}

/// The names of a Module Controller's path.
pub fn module_path(module: &Node) -> Vec<String> {
    let entries = module.props.list(module_controller::NODE_PATH.name).iter();
    entries
        .map(|entry| entry.value.as_str().into_owned())
        .collect()
}

/// The elements from the Test Plan down to the target of a path of names, in the order of the file, found as
/// `ModuleController#traverse` does: the last match wins. The first name is that of the tree's root on the screen.
pub fn module_target(roots: &[Node], path: &[String]) -> Option<Vec<usize>> {
    let mut search = ModuleSearch {
        path,
        next: 0,
        chain: Vec::new(),
        found: None,
    };
    search.children(roots, true);
    search.found
}

struct ModuleSearch<'p> {
    path: &'p [String],
    /// The number of elements that were passed.
    next: usize,
    chain: Vec<usize>,
    found: Option<Vec<usize>>,
}

impl ModuleSearch<'_> {
    fn children(&mut self, nodes: &[Node], is_on_path: bool) {
        for node in nodes {
            let is_on_path = is_on_path
                && node.class != module_controller::CLASS
                && self
                    .path
                    .get(self.chain.len() + 1)
                    .is_some_and(|name| node.name == *name);
            self.chain.push(self.next);
            self.next += 1;
            if is_on_path && self.path.len() == self.chain.len() + 1 {
                self.found = Some(self.chain.clone());
            }
            self.children(&node.children, is_on_path);
            self.chain.pop();
        }
    }
}

/// Checks that each Module Controller still finds the same element after the change.
fn still_lead(joined: &Joined, renamed: &Renamed, chains: &[Chain]) -> Result<(), RenameError> {
    let after: Vec<PlanFile> = joined
        .plans
        .iter()
        .map(|plan| {
            let change = renamed
                .changes
                .iter()
                .find(|change| change.path == plan.path);
            let Some(change) = change else {
                return plan.clone();
            };
            match drumfire_jmx::read(change.text.as_bytes(), &plan.path) {
                Ok(read) => PlanFile::new(plan.path.clone(), read.tree),
                Err(_) => plan.clone(),
            }
        })
        .collect();
    for chain in chains {
        let module = nodes(&after[chain.plan])[chain.module];
        let target = module_target(&after[chain.root].tree.roots, &module_path(module));
        if target.and_then(|target| target.last().copied()) != Some(chain.target) {
            let plan = &joined.plans[chain.plan];
            let message = format!(
                "the Module Controller `{}` would lead to another element, {}",
                module.name,
                place(plan, module.span.start, chain.module)
            );
            return Err(
                RenameError::new(message).hint("choose a name that no neighbouring element has")
            );
        }
    }
    Ok(())
}
