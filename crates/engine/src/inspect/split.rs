//! The shares that `drumfire plan --agents N` shows: which machine gets which part of a plan, element by element.

use drumfire_elements::FleetRule;
use drumfire_elements::thread_groups::setup_thread_group;
use drumfire_jmx::{Node, Tree};
use serde::Serialize;

use crate::run::program::{GroupKind, Program};
use crate::run::schedule::{LevelUnit, Shape};
use crate::run::share::Share;

/// A plan, divided among machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SplitView {
    pub groups: Vec<GroupSplit>,
    /// Elements that machines share, and how.
    pub elements: Vec<ElementSplit>,
}

/// A thread group, divided among machines.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct GroupSplit {
    pub name: String,
    /// The unit: `users`, or `arrivals`.
    pub unit: &'static str,
    /// The number of units for each machine.
    pub parts: Vec<f64>,
}

/// An element that all users share.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ElementSplit {
    pub name: String,
    pub class: String,
    /// How the machines share it.
    pub rule: String,
    /// Whether the plan behaves differently on several machines than on one.
    pub differs: bool,
}

/// Divides a compiled plan; `tree` is what it was compiled from.
pub fn split(tree: &Tree, program: &Program, shares: &[Share]) -> SplitView {
    let groups = program.groups.iter().map(|group| {
        let once = group.kind != GroupKind::Main || group.java.is_some();
        let (unit, total) = total(&group.shape);
        let part = |share: &Share| match once {
            true if share.leads() => total as f64,
            true => 0.0,
            false => share.slots.count_of(total) as f64,
        };
        GroupSplit {
            name: group.name.clone(),
            unit,
            parts: shares.iter().map(part).collect(),
        }
    });
    let mut view = SplitView {
        groups: groups.collect(),
        elements: Vec::new(),
    };
    if shares.iter().any(Share::is_part) {
        tree.roots
            .iter()
            .for_each(|root| node(root, false, &mut view.elements));
    }
    view
}

fn total(shape: &Shape) -> (&'static str, u64) {
    match shape {
        Shape::Ramp(_) | Shape::Windows(_) | Shape::Concurrency(_) | Shape::Java { .. } => {
            ("users", shape.users().into())
        }
        Shape::Open(_) => ("arrivals", shape.users().into()),
        Shape::Arrivals(_) => {
            let expected = shape.stretches().into_iter().map(|stretch| {
                debug_assert!(stretch.unit != LevelUnit::Users, "they arrive");
                let seconds = (stretch.end_ms - stretch.start_ms) as f64 / 1000.0;
                (stretch.from + stretch.to) / 2.0 * seconds
            });
            ("arrivals", expected.sum::<f64>().round() as u64)
        }
    }
}

fn node(node: &Node, in_set_up: bool, found: &mut Vec<ElementSplit>) {
    if !node.enabled {
        return;
    }
    let in_set_up = in_set_up || node.class == setup_thread_group::CLASS;
    if let Some(shared) = rule(node) {
        found.push(ElementSplit {
            name: node.name.to_string(),
            class: node.class.to_string(),
            rule: shared.rule.to_owned(),
            differs: shared.differs,
        });
    }
    if !in_set_up && (sets_property(&node.name) || node.props.texts().any(sets_property)) {
        found.push(ElementSplit {
            name: node.name.to_string(),
            class: node.class.to_string(),
            rule: "sets a property on its own agent only; a setUp thread group would set it on all"
                .to_owned(),
            differs: true,
        });
    }
    let children = node.children.iter();
    children.for_each(|child| self::node(child, in_set_up, found));
}

/// How machines share an element, if they share something.
fn rule(node: &Node) -> Option<&'static FleetRule> {
    let rules = drumfire_elements::of_class(&node.class)?.fleet.iter();
    let mut fitting = rules.filter(|rule| rule.tests.iter().all(|test| test.holds(&node.props)));
    fitting.next().filter(|rule| !rule.rule.is_empty())
}

fn sets_property(text: &str) -> bool {
    text.contains("${__setProperty(")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn users_are_divided_and_what_differs_is_said() {
        let text = drumfire_testkit::plans::plan(
            r#"
<ThreadGroup guiclass="g" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">10</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree>
<DebugSampler guiclass="g" testclass="DebugSampler" testname="${__setProperty(a,b)}"/><hashTree/>
<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"/><hashTree/></hashTree>
<SetupThreadGroup guiclass="g" testclass="SetupThreadGroup" testname="S"><stringProp name="ThreadGroup.num_threads">2</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></SetupThreadGroup><hashTree/>
"#,
        );
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let settings = crate::RunSettings::default();
        let compiled = crate::draft(
            &crate::resolve(read.tree.clone(), &settings.properties, Path::new("")),
            &settings.into(),
        )
        .checked();
        let (plan, _) = compiled.expect("it can run");
        let program = &plan.program;
        let view = split(&read.tree, program, &Share::of_weights(&[1, 1, 1], 1));
        assert_eq!(view.groups[0].parts, [4.0, 3.0, 3.0]);
        assert_eq!(view.groups[1].parts, [2.0, 0.0, 0.0]);
        let differs: Vec<bool> = view
            .elements
            .iter()
            .map(|element| element.differs)
            .collect();
        assert_eq!(differs, [true, false]);
        let alone = split(&read.tree, program, &[Share::default()]);
        assert!(alone.elements.is_empty() && alone.groups[0].parts == [10.0]);
    }

    /// The rule of an element with these properties.
    fn shared(class: &str, props: &[(&str, &str)]) -> Option<&'static str> {
        let node = Node::new(class, "", "e");
        let node = props
            .iter()
            .fold(node, |node, (name, value)| node.with(name, *value));
        rule(&node).map(|shared| shared.rule)
    }

    #[test]
    fn every_element_that_machines_share_has_its_rule() {
        let stops = "watches each agent separately; if it stops one, it stops all";
        assert_eq!(shared("kg.apc.jmeter.reporters.AutoStop", &[]), Some(stops));
        for (class, props, expected) in [
            ("CounterConfig", [("CounterConfig.per_user", "true")], None),
            (
                "CounterConfig",
                [("CounterConfig.per_user", "false")],
                Some("each number once; agents take numbers in blocks"),
            ),
            (
                "CSVDataSet",
                [("shareMode", "shareMode.thread")],
                Some("each user reads the file from its first row"),
            ),
            (
                "ConstantThroughputTimer",
                [("calcMode", "3")],
                Some("the rate is divided among the agents"),
            ),
            ("ConstantThroughputTimer", [("calcMode", "0")], None),
            (
                "ThroughputController",
                [("ThroughputController.style", "1")],
                Some("the percentage applies to each agent separately"),
            ),
            (
                "RandomVariableConfig",
                [("randomSeed", "7")],
                Some("every agent has the same numbers"),
            ),
            ("RandomVariableConfig", [("randomSeed", "")], None),
            ("HTTPSamplerProxy", [("HTTPSampler.path", "/")], None),
        ] {
            assert_eq!(shared(class, &props), expected, "{class} {props:?}");
        }
    }
}
