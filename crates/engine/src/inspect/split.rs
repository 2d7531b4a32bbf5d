//! The shares that `drumfire plan --agents N` shows: which machine gets which part of a plan, element by element.

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
    let in_set_up = in_set_up || &*node.class == "SetupThreadGroup";
    if let Some((rule, differs)) = rule(node) {
        found.push(ElementSplit {
            name: node.name.to_string(),
            class: node.class.to_string(),
            rule: rule.to_owned(),
            differs,
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

/// How machines share an element, and whether the plan then behaves differently.
fn rule(node: &Node) -> Option<(&'static str, bool)> {
    let text = |name: &str| node.props.str(name);
    Some(match node.class.as_str() {
        "CSVDataSet" => match &*text("shareMode") {
            "shareMode.thread" | "Current thread" => {
                ("each user reads the file from its first row", false)
            }
            _ => ("each row once in each pass over all agents", false),
        },
        "com.blazemeter.jmeter.RandomCSVDataSetConfig" => {
            ("each row once in each pass over all agents", false)
        }
        "CounterConfig" if node.props.bool("CounterConfig.per_user", false) => return None,
        "CounterConfig" => ("each number once; agents take numbers in blocks", false),
        "ConstantThroughputTimer" => match node.props.int("calcMode", 0) {
            1 | 2 => (
                "the rate is divided among the users of all agents, counted once a second",
                false,
            ),
            3 | 4 => ("the rate is divided among the agents", false),
            _ => return None,
        },
        "PreciseThroughputTimer" => (
            "all agents share one schedule; each takes its part of the arrivals",
            false,
        ),
        "kg.apc.jmeter.timers.VariableThroughputTimer" => {
            ("the rate is divided among the agents", false)
        }
        "ThroughputController" if node.props.bool("ThroughputController.perThread", false) => {
            return None;
        }
        "ThroughputController" if node.props.int("ThroughputController.style", 0) == 0 => {
            ("the executions are divided among the agents", false)
        }
        "ThroughputController" => ("the percentage applies to each agent separately", false),
        "SyncTimer" => (
            "each agent gathers its part of the group among its own users",
            true,
        ),
        "CriticalSectionController" => ("each agent has its own lock", true),
        "RandomVariableConfig"
            if !node.props.bool("perThread", false) && !text("randomSeed").is_empty() =>
        {
            ("every agent has the same numbers", true)
        }
        "kg.apc.jmeter.listener.AutoStop" => (
            "watches each agent separately; if it stops one, it stops all",
            true,
        ),
        _ => return None,
    })
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
        let text = r#"<jmeterTestPlan version="1.2"><hashTree><TestPlan guiclass="g" testclass="TestPlan" testname="P"/><hashTree>
<ThreadGroup guiclass="g" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">10</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></ThreadGroup><hashTree>
<DebugSampler guiclass="g" testclass="DebugSampler" testname="${__setProperty(a,b)}"/><hashTree/>
<CSVDataSet guiclass="g" testclass="CSVDataSet" testname="c"/><hashTree/></hashTree>
<SetupThreadGroup guiclass="g" testclass="SetupThreadGroup" testname="S"><stringProp name="ThreadGroup.num_threads">2</stringProp><elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">1</stringProp></elementProp></SetupThreadGroup><hashTree/>
</hashTree></hashTree></jmeterTestPlan>"#;
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
}
