//! The view of `drumfire plan`: the tree, the properties that the plan reads, and its load, without sending anything.

use drumfire_expr::{Compiler, Template};
use drumfire_jmx::{Node, Tree};
use serde::Serialize;

use crate::inspect::demand::{MachineDemand, demand};
use crate::run::program::{Group, Program};
use crate::run::schedule::LevelStretch;
use crate::run::settings::RunSettings;

/// A plan as it will be run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PlanView {
    /// The elements in the order of the file.
    pub tree: Vec<TreeRow>,
    /// Properties that enabled elements read, in the order of their first mention.
    pub properties: Vec<PropertyRow>,
    /// The thread groups in the order of the file.
    pub groups: Vec<GroupView>,
    pub demand: MachineDemand,
}

/// One element of the tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TreeRow {
    /// 0 for the Test Plan.
    pub depth: usize,
    pub class: String,
    /// Its name, with properties put in.
    pub name: String,
    /// Whether it and everything above it takes part.
    pub enabled: bool,
}

/// A property that the plan reads with `__P` or `__property`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PropertyRow {
    pub name: String,
    /// The value that the plan reads.
    pub value: String,
    /// Whether the property is set; if not, the value is the default.
    pub is_set: bool,
}

/// When the users of a thread group start and stop.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupView {
    pub name: String,
    pub class: &'static str,
    /// Iterations per user; `None` where only time ends them.
    pub iterations: Option<u64>,
    /// Why the group does not start.
    pub fault: Option<String>,
    /// Names and texts of settings that are known only at the group's start, since earlier groups may change properties they
    /// read.
    pub known_at_start: Vec<(String, String)>,
    /// One window per user, where the users are known beforehand.
    pub users: Vec<UserWindow>,
    /// The level of the load over time, where they are not.
    pub load: Vec<LevelStretch>,
    /// The number of users in the settings, where the group's Java class decides when to start them.
    pub by_java: Option<u32>,
}

/// When one user starts and stops, in milliseconds from the start of its thread group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct UserWindow {
    pub start_ms: u64,
    /// The latest stop; `None` if only its iterations end it.
    pub stop_ms: Option<u64>,
}

/// Describes a compiled plan; `tree` is what it was compiled from.
pub fn describe(tree: &Tree, program: &Program) -> PlanView {
    let mut describer = Describer {
        compiler: compiler(program),
        settings: &program.settings,
        view: PlanView::default(),
    };
    for root in &*tree.roots {
        describer.node(root, 0, true);
    }
    let mut view = describer.view;
    view.groups = groups(program);
    view.demand = demand(tree, program);
    view
}

/// Only the thread groups of a compiled plan. For a large plan, the rest takes a sixth of the time until the first request.
pub fn groups(program: &Program) -> Vec<GroupView> {
    program.groups.iter().map(group).collect()
}

fn compiler(program: &Program) -> Compiler {
    let mut compiler = Compiler::new(program.settings.properties.clone());
    compiler.set_plan(&program.script, &program.base_dir);
    for (name, value) in &program.variables {
        compiler.define(name, value.as_str());
    }
    compiler
}

struct Describer<'a> {
    compiler: Compiler,
    settings: &'a RunSettings,
    view: PlanView,
}

impl Describer<'_> {
    fn node(&mut self, node: &Node, depth: usize, enabled: bool) {
        let enabled = enabled && node.enabled;
        let name = self.resolve_properties(&node.name);
        self.view.tree.push(TreeRow {
            depth,
            class: node.class.to_string(),
            name,
            enabled,
        });
        if enabled {
            self.text(&node.name);
            node.props.texts().for_each(|text| self.text(text));
        }
        for child in &node.children {
            self.node(child, depth + 1, enabled);
        }
    }

    fn text(&mut self, text: &str) {
        for read in PropertyReads::of(text) {
            let Some(value) = self.eval(read.reference) else {
                continue;
            };
            let is_set = self.settings.properties.get(read.name).is_some();
            let row = PropertyRow {
                name: read.name.to_owned(),
                value,
                is_set,
            };
            if !self.view.properties.contains(&row) {
                self.view.properties.push(row);
            }
        }
    }

    /// The text with its `__P` and `__property` calls replaced by their current values.
    fn resolve_properties(&mut self, text: &str) -> String {
        let mut resolved = text.to_owned();
        for read in PropertyReads::of(text) {
            if let Some(value) = self.eval(read.reference) {
                resolved = resolved.replace(read.reference, &value);
            }
        }
        resolved
    }

    fn eval(&mut self, reference: &str) -> Option<String> {
        let template = Template::compile(reference, &mut self.compiler).ok()?;
        let scope = self.compiler.scope_mut();
        Some(template.eval(scope).into_string())
    }
}

/// A call of `__P` or `__property` whose first argument is spelled out.
struct PropertyRead<'t> {
    /// From `${` to `}`.
    reference: &'t str,
    name: &'t str,
}

/// Finds [`PropertyRead`]s in a text, those inside other calls too.
struct PropertyReads<'t> {
    rest: &'t str,
}

impl<'t> PropertyReads<'t> {
    fn of(text: &'t str) -> PropertyReads<'t> {
        PropertyReads { rest: text }
    }
}

impl<'t> Iterator for PropertyReads<'t> {
    type Item = PropertyRead<'t>;

    fn next(&mut self) -> Option<PropertyRead<'t>> {
        loop {
            let at = self.rest.find("${__")?;
            let text = &self.rest[at..];
            self.rest = &text[2..];
            let call = text[2..]
                .strip_prefix("__P(")
                .or_else(|| text[2..].strip_prefix("__property("));
            let Some((call, end)) = call.zip(reference_end(text)) else {
                continue;
            };
            let name = call[..call.find([',', ')']).unwrap_or(call.len())].trim();
            if !name.is_empty() && !name.contains("${") {
                return Some(PropertyRead {
                    reference: &text[..end],
                    name,
                });
            }
        }
    }
}

/// Where the reference that starts the text ends.
fn reference_end(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

fn group(group: &Group) -> GroupView {
    let windows = group.shape.windows().unwrap_or_default();
    let users = windows.into_iter().map(|window| UserWindow {
        start_ms: window.start_ms.max(0) as u64,
        stop_ms: window.stop_ms.map(|stop_ms| stop_ms.max(0) as u64),
    });
    GroupView {
        name: group.name.clone(),
        class: group.class,
        iterations: group.loops.and_then(|loops| u64::try_from(loops).ok()),
        fault: group.shape.check().err().map(|fault| fault.to_string()),
        known_at_start: group
            .late
            .as_ref()
            .map(|late| late.unsettled().to_vec())
            .unwrap_or_default(),
        users: users.collect(),
        load: group.shape.stretches(),
        by_java: group.java.map(|_| group.shape.users()),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use drumfire_expr::Properties;

    use super::*;

    fn view(group: &str, properties: &[(&str, &str)]) -> PlanView {
        let text = format!(
            r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="Plan of ${{__P(who,nobody)}}"/><hashTree>
            <ThreadGroup testname="Users"><elementProp name="ThreadGroup.main_controller" elementType="LoopController">
            <stringProp name="LoopController.loops">${{__P(loops)}}</stringProp></elementProp>{group}</ThreadGroup>
            <hashTree><TestAction testname="${{__property(pause,,none)}}" enabled="false"/><hashTree/></hashTree>
            </hashTree></hashTree></jmeterTestPlan>"#
        );
        let text = text.replace(" testname=", r#" guiclass="Gui" testname="#);
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let known = Properties::new();
        for (name, value) in properties {
            known.set(name, *value);
        }
        let settings = RunSettings {
            properties: known,
            ..RunSettings::default()
        };
        let compiled = crate::compile(read.tree.clone(), Arc::new(settings));
        let compiled = compiled.unwrap_or_else(|faults| panic!("{}", faults[0].render(false)));
        describe(&read.tree, &compiled.plan.program)
    }

    const THREE_USERS: &str = r#"<stringProp name="ThreadGroup.num_threads">${__P(users,3)}</stringProp>
        <stringProp name="ThreadGroup.ramp_time">3</stringProp>"#;

    #[test]
    fn the_tree_has_properties_put_in() {
        let tree = view(THREE_USERS, &[("who", "Ann")]).tree;
        let rows: Vec<_> = tree
            .iter()
            .map(|row| (row.depth, row.name.as_str(), row.enabled))
            .collect();
        assert_eq!(
            rows,
            [
                (0, "Plan of Ann", true),
                (1, "Users", true),
                (2, "none", false)
            ]
        );
    }

    #[test]
    fn properties_that_enabled_elements_read_are_told_once() {
        let view = view(THREE_USERS, &[("users", "2")]);
        let rows: Vec<_> = view
            .properties
            .iter()
            .map(|row| (row.name.as_str(), row.value.as_str(), row.is_set))
            .collect();
        assert_eq!(
            rows,
            [
                ("who", "nobody", false),
                ("loops", "1", false),
                ("users", "2", true)
            ]
        );
    }

    #[test]
    fn the_load_is_one_window_per_user() {
        let group = &view(THREE_USERS, &[]).groups[0];
        assert_eq!((group.iterations, &group.fault), (Some(1), &None));
        let starts: Vec<_> = group
            .users
            .iter()
            .map(|user| (user.start_ms, user.stop_ms))
            .collect();
        assert_eq!(starts, [(0, None), (1_000, None), (2_000, None)]);
    }

    #[test]
    fn a_group_that_cannot_start_says_why() {
        let scheduler = r#"<stringProp name="ThreadGroup.num_threads">1</stringProp><boolProp name="ThreadGroup.scheduler">true</boolProp>"#;
        let group = &view(scheduler, &[("loops", "-1")]).groups[0];
        assert_eq!(
            (group.iterations, group.fault.as_deref()),
            (None, Some("Invalid duration 0"))
        );
    }

    #[test]
    fn property_calls_are_found_inside_others() {
        let found = |text| {
            PropertyReads::of(text)
                .map(|read| (read.reference, read.name))
                .collect::<Vec<_>>()
        };
        assert_eq!(
            found("a ${__P(x)} ${__P(y,${z})}"),
            [("${__P(x)}", "x"), ("${__P(y,${z})}", "y")]
        );
        assert_eq!(
            found("${__intSum(1,${__property(n, , 2)})}"),
            [("${__property(n, , 2)}", "n")]
        );
        assert_eq!(found("${__P(${computed})} ${__Port(x)} ${__P(open"), []);
    }
}
