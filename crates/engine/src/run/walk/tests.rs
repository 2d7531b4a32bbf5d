//! The order in which one user reaches samplers, as JMeter 5.6.3 runs them. Nothing is sampled.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use super::*;
use crate::fixture::{one_user, user_of_plan};
use crate::run::controllers::JavaController;
use crate::run::java::plan::NOTHING;
use crate::run::java::visit::ControllerChildren;
use crate::run::roles::Driver;

fn element(class: &str, name: &str, properties: &str, children: &str) -> String {
    format!(
        r#"<{class} guiclass="g" testclass="{class}" testname="{name}">{properties}</{class}><hashTree>{children}</hashTree>"#
    )
}

/// Properties such as `name=value`; a value that is `true` or `false` is a flag.
fn properties(rows: &[(&str, &str)]) -> String {
    let property = |(name, value): &(&str, &str)| match *value {
        "true" | "false" => format!(r#"<boolProp name="{name}">{value}</boolProp>"#),
        _ => format!(r#"<stringProp name="{name}">{value}</stringProp>"#),
    };
    rows.iter().map(property).collect()
}

/// Debug Samplers of these names.
fn samplers(names: &str) -> String {
    let names = names.split(' ');
    names
        .map(|name| element("DebugSampler", name, "", ""))
        .collect()
}

fn loops(name: &str, count: u32, children: &str) -> String {
    let count = count.to_string();
    let settings = [
        ("LoopController.continue_forever", "true"),
        ("LoopController.loops", &count),
    ];
    element("LoopController", name, &properties(&settings), children)
}

fn variables(rows: &[(&str, &str)]) -> String {
    let rows: String = rows
        .iter()
        .map(|(name, value)| {
            let settings = [("Argument.name", *name), ("Argument.value", *value)];
            format!(
                r#"<elementProp name="{name}" elementType="Argument">{}</elementProp>"#,
                properties(&settings)
            )
        })
        .collect();
    let rows = format!(r#"<collectionProp name="Arguments.arguments">{rows}</collectionProp>"#);
    element("Arguments", "variables", &rows, "")
}

/// The names of the samplers that a user reaches.
fn labels(iterations: u32, body: &str) -> String {
    names(one_user(iterations, body)).join(" ")
}

fn names(plan: crate::BoundPlan) -> Vec<String> {
    const MOST: usize = 1_000;
    let mut user = user_of_plan(plan);
    let journey = user.journey();
    let mut walker = user.walker(&journey);
    walker.initialize(0);
    let mut names = Vec::new();
    for _ in 0..MOST {
        match walker.next(0) {
            Some(Step::Sampler(id)) => {
                let name = &journey.samplers[id as usize].name;
                names.push(name.eval(walker.cx).into_string());
            }
            None if walker.root_is_done() => return names,
            None => {}
            other => panic!("{other:?} after {names:?}"),
        }
    }
    panic!("the walk does not end: {names:?}");
}

#[test]
fn a_once_only_controller_runs_when_the_loop_around_it_begins() {
    let once = element("OnceOnlyController", "o", "", &samplers("a"));
    let body = loops("l", 2, &(once.clone() + &samplers("b"))) + &samplers("z");
    assert_eq!(labels(2, &body), "a b b z a b b z");
    assert_eq!(labels(3, &(once + &samplers("z"))), "a z z z");
}

#[test]
fn a_loop_counts_its_passes_in_a_variable() {
    let inner = loops("i", 2, &samplers("${__jm__o__idx}.${__jm__i__idx}"));
    assert_eq!(
        labels(2, &loops("o", 2, &inner)),
        "0.0 0.1 1.0 1.1 0.0 0.1 1.0 1.1"
    );
    assert_eq!(
        labels(2, &(loops("none", 0, &samplers("a")) + &samplers("z"))),
        "z z"
    );
}

#[test]
fn a_for_each_controller_takes_the_values_between_its_bounds() {
    let each = |input: &str, bounds: &[(&str, &str)]| {
        let settings = [
            ("ForeachController.inputVal", input),
            ("ForeachController.returnVal", "o"),
            ("ForeachController.useSeparator", "true"),
        ];
        let settings = properties(&[&settings, bounds].concat());
        element("ForeachController", "f", &settings, &samplers("${o}"))
    };
    let bounds = [
        ("ForeachController.startIndex", "1"),
        ("ForeachController.endIndex", "3"),
    ];
    let body = variables(&[("v_1", "p"), ("v_2", "q"), ("v_3", "r"), ("v_4", "s")])
        + &each("v", &[])
        + &samplers("-")
        + &each("v", &bounds)
        + &each("w", &[])
        + &samplers("z");
    assert_eq!(labels(2, &body), "p q r s - q r z p q r s - q r z");
}

#[test]
fn conditions_are_asked_before_a_pass_or_before_each_child() {
    let either = |class: &str, key: &str, condition: &str, children: &str| {
        let settings = [
            (key, condition),
            ("IfController.useExpression", "true"),
            ("IfController.evaluateAll", "true"),
        ];
        element(class, "c", &properties(&settings), children)
    };
    let counter = properties(&[
        ("CounterConfig.start", "1"),
        ("CounterConfig.incr", "1"),
        ("CounterConfig.name", "n"),
    ]);
    let counter = element("CounterConfig", "counter", &counter, "");
    let until = r#"${__jexl3("${n}" != "3")}"#.replace('"', "&quot;");
    let condition = "WhileController.condition";
    let repeat = either(
        "WhileController",
        condition,
        &until,
        &(counter + &samplers("w${n}")),
    );
    let body = either(
        "IfController",
        "IfController.condition",
        "true",
        &samplers("a b"),
    ) + &either(
        "IfController",
        "IfController.condition",
        "${__jexl3(1 == 2)}",
        &samplers("c"),
    ) + &repeat
        + &samplers("z");
    assert_eq!(labels(1, &body), "a b w1 w2 w3 z");
}

#[test]
fn interleaved_children_take_turns() {
    let interleave = |style: &str| {
        let settings = properties(&[("InterleaveControl.style", style)]);
        let children = samplers("a")
            + &element("GenericController", "s", "", &samplers("b1 b2"))
            + &samplers("c");
        element("InterleaveControl", "i", &settings, &children) + &samplers("z")
    };
    assert_eq!(labels(5, &interleave("0")), "a z b1 z c z a z b2 z");
    assert_eq!(labels(5, &interleave("1")), "a z b1 b2 z c z a z b1 b2 z");
}

#[test]
fn a_switch_goes_by_number_or_by_name() {
    let switch = |value: &str| {
        let settings = properties(&[("SwitchController.value", value)]);
        let children = samplers("a b")
            + &element("GenericController", "s", "", &samplers("c1 c2"))
            + &samplers("default");
        labels(2, &element("SwitchController", "w", &settings, &children))
    };
    assert_eq!(switch("1"), "b b");
    assert_eq!(switch("9"), "a a");
    assert_eq!(switch("s"), "c1 c2 c1 c2");
    assert_eq!(switch("nothing"), "default default");
}

#[test]
fn a_throughput_controller_keeps_to_its_number_or_share() {
    let throughput = |style: u32, per_user: &str, max: u32, share: u32| {
        let settings = format!(
            r#"<intProp name="ThroughputController.style">{style}</intProp><boolProp name="ThroughputController.perThread">{per_user}</boolProp><intProp name="ThroughputController.maxThroughput">{max}</intProp>
<FloatProperty><name>ThroughputController.percentThroughput</name><value>{share}</value><savedValue>0.0</savedValue></FloatProperty>"#
        );
        labels(
            5,
            &(element("ThroughputController", "t", &settings, &samplers("a")) + &samplers("z")),
        )
    };
    for per_user in ["true", "false"] {
        assert_eq!(throughput(0, per_user, 2, 0), "a z a z z z z", "{per_user}");
        assert_eq!(
            throughput(1, per_user, 9, 40),
            "z a z z a z z",
            "{per_user}"
        );
        assert_eq!(throughput(1, per_user, 9, 0), "z z z z z", "{per_user}");
    }
}

#[test]
fn a_random_order_is_another_one_each_time_and_leaves_nothing_out() {
    let order = element("RandomOrderController", "r", "", &samplers("a b c d e f"));
    let names = names(one_user(30, &order));
    let orders: BTreeSet<&[String]> = names.chunks(6).collect();
    // All thirty are equal once in 720^29 runs.
    assert!(orders.len() > 1, "{orders:?}");
    for order in orders {
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        assert_eq!(sorted, ["a", "b", "c", "d", "e", "f"]);
    }
}

#[test]
fn loops_can_be_left_and_started_anew() {
    let body = loops("l", 3, &samplers("a b")) + &samplers("z");
    for (breaks, rest) in [(true, "z"), (false, "a b a b z")] {
        let mut user = user_of_plan(one_user(1, &body));
        let journey = user.journey();
        let mut walker = user.walker(&journey);
        walker.initialize(0);
        assert_eq!(walker.next(0), Some(Step::Sampler(0)));
        assert!(walker.is_iterating(1) && !walker.root_is_done());
        if breaks {
            walker.break_loop(1)
        } else {
            walker.start_next_loop(1)
        }
        let left: Vec<String> = std::iter::from_fn(|| walker.next(0))
            .map(|step| match step {
                Step::Sampler(id) => journey.samplers[id as usize].name.source().to_string(),
                other => format!("{other:?}"),
            })
            .collect();
        assert_eq!(left.join(" "), rest);
        assert!(walker.root_is_done());
    }
    let simple = one_user(1, &element("GenericController", "s", "", &samplers("a")));
    let mut user = user_of_plan(simple);
    let journey = user.journey();
    assert!(!user.walker(&journey).is_iterating(1));
}

/// Gives the samplers of its last child first; each of its children is asked until it has nothing more.
#[derive(Default)]
struct Backwards(Mutex<Vec<usize>>);

impl Driver for Backwards {
    fn ask(&self, cx: &mut Context, below: &mut dyn ControllerChildren, ask: Ask) -> i32 {
        let mut open = self.0.lock().expect("nobody panics");
        match ask {
            Ask::Initialize => {
                *open = (0..below.children(cx).len()).collect();
                for place in open.iter() {
                    below.ask(cx, *place, Ask::Initialize);
                }
                0
            }
            Ask::Next => {
                while let Some(&place) = open.last() {
                    let step = match below.children(cx)[place].0 {
                        Some(step) => step,
                        None => below.ask(cx, place, Ask::Next),
                    };
                    let is_sampler = below.children(cx)[place].0.is_some();
                    if is_sampler || step == NOTHING {
                        open.pop();
                    }
                    if step != NOTHING {
                        return step;
                    }
                }
                *open = (0..below.children(cx).len()).collect();
                NOTHING
            }
            _ => 0,
        }
    }
}

#[test]
fn a_controller_can_be_driven_from_outside() {
    let children = samplers("a") + &loops("l", 2, &samplers("b")) + &samplers("c");
    let body = element("GenericController", "driven", "", &children) + &samplers("z");
    let mut plan = one_user(1, &body);
    plan.journeys[0].controllers[1].kind = ControllerKind::Driven(JavaController {
        driver: Arc::new(Backwards::default()),
        iterates: true,
        listens: false,
    });
    assert_eq!(names(plan).join(" "), "c b b a z");
}
