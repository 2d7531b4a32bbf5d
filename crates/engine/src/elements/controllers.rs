//! Logic controllers: decodes the settings of each. `walk.rs` runs them all, since their rules depend on each other.

use std::sync::Mutex;

use drumfire_elements::controllers::{
    critical_section_controller, foreach_controller, if_controller, interleave_controller,
    loop_controller, parameterized_controller, runtime_controller, switch_controller,
    throughput_controller, transaction_controller, weighted_switch_controller, while_controller,
};
use drumfire_expr::Template;
use drumfire_expr::js_condition;
use drumfire_jmx::Value;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::decode::setting::{Flag, WholeNumber};
use crate::elements::arguments::assignments;
use crate::run::controllers::{ControllerKind, ForEach, Throughput, Weights};

/// Simple Controller (`GenericController`, `RecordingController`, `TestFragmentController`): runs its children once per
/// iteration.
///
/// It has no properties. A Recording Controller does the same, and so does a Test Fragment, which runs only where a Module or
/// Include Controller includes it.
pub fn simple(_: &mut Decoder) -> Roles {
    Roles::controller(ControllerKind::Simple)
}

/// Parameterized Controller (`kg.apc.jmeter.control.ParameterizedController`): runs its children once, with the variables of the
/// table in `ParameterizedController`. It sets them whenever it is asked for the next sampler.
pub fn parameterized(d: &mut Decoder) -> Roles {
    let assignments = assignments(d, parameterized_controller::VARIABLES.name);
    Roles::controller(ControllerKind::Parameterized(Box::new(assignments)))
}

/// HTTP Async Controller of BlazeMeter (`com.blazemeter.jmeter.http2.control.HTTP2Controller`): runs its children once per
/// iteration.
///
/// Difference: in the plugin its samplers overlap in time; here they run one after the other, and the plan gets a warning.
pub fn http_async(d: &mut Decoder) -> Roles {
    d.warn(
        "requests-in-turn",
        format!(
            "the requests of HTTP Async Controller '{}' are sent one after the other, not at once",
            d.element.name
        ),
    );
    simple(d)
}

/// Loop Controller (`LoopController`): runs its children again and again in each iteration of the controller around it.
///
/// Properties: `LoopController.loops` (-1 is forever; read when the loop begins), `LoopController.continue_forever`.
pub fn loops(d: &mut Decoder) -> Roles {
    let forever = d.bool(loop_controller::CONTINUE_FOREVER.name, true);
    Roles::controller(ControllerKind::Loop {
        loops: d.template(loop_controller::LOOPS.name),
        forever,
    })
}

/// While Controller (`WhileController`): runs its children until its condition is false.
///
/// Property: `WhileController.condition`. A blank condition ends the loop after a failed sample; with `LAST`, the loop also does
/// not begin after one. Any other text ends the loop when it evaluates to `false`.
pub fn whiles(d: &mut Decoder) -> Roles {
    let condition = d.template(while_controller::CONDITION.name);
    Roles::controller(ControllerKind::While { condition })
}

/// If Controller (`IfController`): runs its children if its condition holds.
///
/// Properties: `IfController.condition`, `IfController.evaluateAll` (before each child), `IfController.useExpression`: the
/// condition holds if it evaluates to `true`. Without `useExpression` the condition is JavaScript: single expressions are
/// evaluated natively, anything more needs a JVM.
pub fn ifs(d: &mut Decoder) -> Roles {
    let condition = d.template(if_controller::CONDITION.name);
    let is_expression = Flag::decode(d, if_controller::USE_EXPRESSION.name, false);
    let may_be_script = !matches!(is_expression, Flag::Fixed(true));
    if may_be_script && let Some(what) = js_condition::needs_engine(&condition) {
        let what = format!(
            "If Controller '{}' has a JavaScript condition with {what}, which",
            d.element.name
        );
        d.decoding.java.has_scripts |= d.java_host(&what).is_some();
    }
    let every_child = Flag::decode(d, if_controller::EVALUATE_ALL.name, false);
    Roles::controller(ControllerKind::If {
        condition,
        every_child,
        is_expression,
    })
}

/// Once Only Controller (`OnceOnlyController`): runs its children in the first iteration of the controller above, for each user.
///
/// It has no properties.
pub fn once_only(_: &mut Decoder) -> Roles {
    Roles::controller(ControllerKind::OnceOnly)
}

/// Transaction Controller (`TransactionController`): adds a sample that sums up its children.
///
/// Properties: `TransactionController.parent` (that sample contains theirs), `TransactionController.includeTimers` (its time
/// includes timers and processors).
pub fn transaction(d: &mut Decoder) -> Roles {
    let parent = d.bool(transaction_controller::PARENT.name, false);
    let include_timers = d.bool(transaction_controller::INCLUDE_TIMERS.name, true);
    Roles::controller(ControllerKind::Transaction {
        parent,
        include_timers,
    })
}

/// ForEach Controller (`ForeachController`): runs its children for each of the variables `name_1`, `name_2`, …
///
/// Properties: `ForeachController.inputVal`, `.returnVal` (the variable that gets the value), `.startIndex` (exclusive),
/// `.endIndex` (inclusive), `.useSeparator` (the `_`). An empty end index counts as 0, so nothing runs.
pub fn for_each(d: &mut Decoder) -> Roles {
    let separator = if d.bool(foreach_controller::USE_SEPARATOR.name, true) {
        "_"
    } else {
        ""
    };
    Roles::controller(ControllerKind::ForEach(Box::new(ForEach {
        input: d.template(foreach_controller::INPUT.name),
        output: d.template(foreach_controller::OUTPUT.name),
        start: d.optional(foreach_controller::START_INDEX.name),
        end: d.optional(foreach_controller::END_INDEX.name),
        separator,
    })))
}

/// Interleave Controller (`InterleaveControl`): runs one child per iteration, in turn.
///
/// Properties: `InterleaveControl.style` (1: a child controller runs whole, 0: one of its samplers), and
/// `InterleaveControl.accrossThreads` (JMeter's spelling; each user begins with another child).
pub fn interleave(d: &mut Decoder) -> Roles {
    let across_threads = d.bool(interleave_controller::ACROSS_USERS.name, false);
    Roles::controller(ControllerKind::Interleave {
        whole_children: d.int(interleave_controller::STYLE.name, 0) == 1,
        across_threads,
        random: false,
    })
}

/// Random Controller (`RandomController`): runs one child per iteration, chosen at random.
///
/// Property: `InterleaveControl.style` (1: a child controller runs whole, 0: one of its samplers).
pub fn random(d: &mut Decoder) -> Roles {
    Roles::controller(ControllerKind::Interleave {
        whole_children: d.int(interleave_controller::STYLE.name, 0) == 1,
        across_threads: false,
        random: true,
    })
}

/// Random Order Controller (`RandomOrderController`): runs all children, in a new random order each time.
///
/// It has no properties.
pub fn random_order(_: &mut Decoder) -> Roles {
    Roles::controller(ControllerKind::RandomOrder)
}

/// Switch Controller (`SwitchController`): runs one of its children, selected by number or by name.
///
/// Property: `SwitchController.value`: a number from 0 (with too high a number, the first child runs), a child's name, or else
/// the child called `default`.
pub fn switch(d: &mut Decoder) -> Roles {
    Roles::controller(ControllerKind::Switch {
        value: d.template(switch_controller::VALUE.name),
    })
}

/// Weighted Switch Controller (`com.blazemeter.jmeter.control.WeightedSwitchController`): runs one of its children, so that each
/// user's runs of the children come close to their weights.
///
/// Properties: `Weights`, rows of a child's name, its weight (a whole number) and whether the row is enabled; `IsRandomChoice`
/// (each choice is random). As in the plugin (0.7), the index of a row among the enabled ones selects the child, whatever name
/// the row has. The user ends if a weight is not a number or none is above 0.
pub fn weighted_switch(d: &mut Decoder) -> Roles {
    let element = d.element;
    let rows = element
        .props
        .list(weighted_switch_controller::WEIGHTS.name)
        .iter()
        .filter_map(|row| match &row.value {
            Value::List(cells) => Some(cells),
            _ => None,
        })
        .filter(|cells| match &cells[..] {
            [_, _] => true,
            [_, _, enabled] => enabled.value.as_str() == "true",
            _ => false,
        });
    Roles::controller(ControllerKind::Weighted(Weights {
        enabled: rows.map(|cells| cell(d, cells, 1)).collect(),
        is_random: element
            .props
            .bool(weighted_switch_controller::RANDOM.name, false),
    }))
}

fn cell(d: &mut Decoder, cells: &[drumfire_jmx::Prop], index: usize) -> Template {
    let text = cells.get(index).map(|cell| cell.value.as_str());
    d.compile(&text.unwrap_or_default())
}

/// Throughput Controller (`ThroughputController`): runs its children a number of times, or in a percentage of the iterations.
///
/// Properties: `ThroughputController.style` (0 a number, 1 a percentage), `.maxThroughput`, `.percentThroughput`, `.perThread`
/// (each user counts for itself).
pub fn throughput(d: &mut Decoder) -> Roles {
    let share = match d.element.props.value(throughput_controller::PERCENT.name) {
        Some(Value::Float(share)) => Template::raw(&share.to_string()),
        _ => d.template(throughput_controller::PERCENT.name),
    };
    Roles::controller(ControllerKind::Throughput(Box::new(Throughput {
        style: WholeNumber::decode(d, throughput_controller::STYLE.name, 0),
        per_thread: Flag::decode(d, throughput_controller::PER_USER.name, true),
        max: d.template(throughput_controller::EXECUTIONS.name),
        share,
        shared: Mutex::new((0, -1)),
    })))
}

/// Critical Section Controller (`CriticalSectionController`): runs its children for one user at a time.
///
/// Property: `CriticalSectionController.lockName`: controllers with the same name exclude each other; without a name there is no
/// lock.
pub fn critical_section(d: &mut Decoder) -> Roles {
    Roles::controller(ControllerKind::Critical {
        lock: d.template(critical_section_controller::LOCK_NAME.name),
    })
}

/// Runtime Controller (`RunTime`): runs its children again and again until a time is over.
///
/// Property: `RunTime.seconds`; with 0 or less nothing runs. A sampler that is running when the time is over completes.
pub fn runtime(d: &mut Decoder) -> Roles {
    Roles::controller(ControllerKind::Runtime {
        seconds: d.template(runtime_controller::SECONDS.name),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use crate::run::walk::condition::if_holds;

    fn controller(condition: &str, properties: &str) -> String {
        let condition = condition.replace('&', "&amp;").replace('<', "&lt;");
        format!(
            r#"<IfController guiclass="IfControllerPanel" testclass="IfController" testname="if"><stringProp name="IfController.condition">{condition}</stringProp>{properties}</IfController>"#
        )
    }

    fn holds(condition: &str, properties: &str) -> bool {
        let (kind, mut cx) =
            fixture::decode(&controller(condition, properties), |d| ifs(d).controller);
        let Some(ControllerKind::If {
            condition,
            is_expression,
            ..
        }) = kind
        else {
            panic!("an If Controller")
        };
        let is_expression = is_expression.get(&mut cx);
        if_holds(&mut cx, &Template::raw("if"), &condition, !is_expression)
    }

    #[test]
    fn a_javascript_condition_is_evaluated_with_its_variables_put_in() {
        for (condition, expected) in [
            (r#""${__P(none,ok)}" == "ok" && ${__P(none,2)} < 3"#, true),
            (" ${__P(none,010)} == 8 ", true),
            (r#""${__P(none,o"k)}" == "ok""#, false),
            ("${unset} == 1", false),
            ("${__P(none,foo)} == 1", false),
            ("${__P(none,foo = true)}", false),
            ("5", false),
            ("", false),
        ] {
            assert_eq!(holds(condition, ""), expected, "{condition}");
        }
    }

    #[test]
    fn a_variable_expression_is_not_javascript() {
        let expression = r#"<boolProp name="IfController.useExpression">true</boolProp>"#;
        for (condition, expected) in [("1 == 1", false), (" TRUE ", true), ("Math", false)] {
            assert_eq!(holds(condition, expression), expected, "{condition}");
        }
    }

    #[test]
    fn more_than_an_expression_needs_java() {
        let (_, _, findings) =
            fixture::decode_with_findings(&[], &controller("Math.max(${a}, 1) == 1", ""), |d| {
                ifs(d).controller
            });
        let [finding] = &findings[..] else {
            panic!("{findings:?}")
        };
        assert_eq!(finding.code, crate::decode::NEEDS_JAVA);
        assert!(
            finding.message.contains("with Math, which needs Java"),
            "{}",
            finding.message
        );
    }
}
