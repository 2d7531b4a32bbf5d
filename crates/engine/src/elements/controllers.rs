//! Logic controllers: how each reads its settings. How they walk is in `walk.rs`, where their rules meet.

use std::sync::Mutex;

use drumfire_expr::js_condition::{self, Failure};
use drumfire_expr::values::trim;
use drumfire_expr::{Level, Scope, Template};
use drumfire_jmx::Value;

use crate::compile::Decoder;
use crate::context::Context;
use crate::elements::Roles;
use crate::walk::{ForEach, Kind, Throughput};

/// Simple, Recording, Module and Include Controllers and Test Fragments: their children, once.
pub fn simple(_: &mut Decoder) -> Roles {
    Roles::controller(Kind::Simple)
}

/// `LoopController`: `LoopController.loops` (-1 is forever), `LoopController.continue_forever`.
pub fn loops(d: &mut Decoder) -> Roles {
    let forever = d.bool("LoopController.continue_forever", true);
    Roles::controller(Kind::Loop {
        loops: d.template("LoopController.loops"),
        forever,
    })
}

/// `WhileController`: `WhileController.condition` (blank, LAST, or anything that becomes "false").
pub fn whiles(d: &mut Decoder) -> Roles {
    let condition = d.template("WhileController.condition");
    Roles::controller(Kind::While { condition })
}

/// `IfController`: `IfController.condition`, `IfController.evaluateAll`, `IfController.useExpression`. Without
/// `useExpression` the condition is JavaScript, of which [`js_condition`] has the expressions; more needs a JVM.
pub fn ifs(d: &mut Decoder) -> Roles {
    let condition = d.template("IfController.condition");
    let javascript = !d.bool("IfController.useExpression", false);
    if javascript && let Some(what) = js_condition::needs_engine(&condition) {
        let message = format!(
            "If Controller '{}' has a JavaScript condition with {what}, which needs a JVM",
            d.element.name
        );
        d.refuse(
            "javascript-condition",
            message,
            "tick 'Interpret Condition as Variable Expression' and use ${__jexl3(…)}",
        );
    }
    let every_child = d.bool("IfController.evaluateAll", false);
    Roles::controller(Kind::If {
        condition,
        every_child,
        javascript,
    })
}

/// `IfController#evaluateExpression` and `#evaluateCondition`. A JavaScript condition that cannot be evaluated is false
/// and logged, as in JMeter; so is one that only its variables make more than an expression, which JMeter might find true.
pub(crate) fn if_holds(
    cx: &mut Context,
    name: &Template,
    condition: &Template,
    javascript: bool,
) -> bool {
    let condition = condition.eval(cx);
    let condition = trim(&condition);
    if !javascript {
        return condition.eq_ignore_ascii_case("true");
    }
    js_condition::holds(condition).unwrap_or_else(|failure| {
        let name = name.eval(cx);
        let fate = match failure {
            Failure::Unsupported(_) => "; it is taken for false without having been evaluated",
            _ => "",
        };
        cx.log(
            Level::Error,
            &format!("{name}: error while processing [{condition}]: {failure}{fate}"),
        );
        false
    })
}

/// `OnceOnlyController`: its children in the first iteration of the controller above.
pub fn once_only(_: &mut Decoder) -> Roles {
    Roles::controller(Kind::OnceOnly)
}

/// `TransactionController`: `TransactionController.parent`, `TransactionController.includeTimers`.
pub fn transaction(d: &mut Decoder) -> Roles {
    let parent = d.bool("TransactionController.parent", false);
    let include_timers = d.bool("TransactionController.includeTimers", true);
    Roles::controller(Kind::Transaction {
        parent,
        include_timers,
    })
}

/// `ForeachController`: input and output variable, start (exclusive) and end (inclusive) index, separator. An end index
/// that is there but empty is 0, so nothing runs.
pub fn for_each(d: &mut Decoder) -> Roles {
    let separator = if d.bool("ForeachController.useSeparator", true) {
        "_"
    } else {
        ""
    };
    Roles::controller(Kind::ForEach(Box::new(ForEach {
        input: d.template("ForeachController.inputVal"),
        output: d.template("ForeachController.returnVal"),
        start: d.optional("ForeachController.startIndex"),
        end: d.optional("ForeachController.endIndex"),
        separator,
    })))
}

/// `InterleaveControl`: one child an iteration, in turn; style 1 runs a whole child controller.
pub fn interleave(d: &mut Decoder) -> Roles {
    let across_threads = d.bool("InterleaveControl.accrossThreads", false);
    Roles::controller(Kind::Interleave {
        whole_children: d.int("InterleaveControl.style", 0) == 1,
        across_threads,
        random: false,
    })
}

/// `RandomController`: one child an iteration, by chance.
pub fn random(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Interleave {
        whole_children: d.int("InterleaveControl.style", 0) == 1,
        across_threads: false,
        random: true,
    })
}

/// `RandomOrderController`: all children, in a new order each time.
pub fn random_order(_: &mut Decoder) -> Roles {
    Roles::controller(Kind::RandomOrder)
}

/// `SwitchController`: `SwitchController.value`, a number from 0 or a child's name.
pub fn switch(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Switch {
        value: d.template("SwitchController.value"),
    })
}

/// `ThroughputController`: total executions (style 0) or a share of iterations (style 1), per user or of all users.
pub fn throughput(d: &mut Decoder) -> Roles {
    let share = match d
        .element
        .props
        .value("ThroughputController.percentThroughput")
    {
        Some(Value::Float(share)) => Template::raw(&share.to_string()),
        _ => d.template("ThroughputController.percentThroughput"),
    };
    Roles::controller(Kind::Throughput(Box::new(Throughput {
        percent: d.int("ThroughputController.style", 0) == 1,
        per_thread: d.bool("ThroughputController.perThread", true),
        max: d.template("ThroughputController.maxThroughput"),
        share,
        shared: Mutex::new((0, -1)),
    })))
}

/// `CriticalSectionController`: `CriticalSectionController.lockName`; without a name there is no lock.
pub fn critical_section(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Critical {
        lock: d.template("CriticalSectionController.lockName"),
    })
}

/// `RunTime`: `RunTime.seconds`.
pub fn runtime(d: &mut Decoder) -> Roles {
    Roles::controller(Kind::Runtime {
        seconds: d.template("RunTime.seconds"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;

    fn controller(condition: &str, properties: &str) -> String {
        let condition = condition.replace('&', "&amp;").replace('<', "&lt;");
        format!(
            r#"<IfController guiclass="IfControllerPanel" testclass="IfController" testname="if"><stringProp name="IfController.condition">{condition}</stringProp>{properties}</IfController>"#
        )
    }

    fn holds(condition: &str, properties: &str) -> bool {
        let (kind, mut cx) =
            fixture::decode(&controller(condition, properties), |d| ifs(d).controller);
        let Some(Kind::If {
            condition,
            javascript,
            ..
        }) = kind
        else {
            panic!("an If Controller")
        };
        if_holds(&mut cx, &Template::raw("if"), &condition, javascript)
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
    fn more_than_an_expression_needs_a_jvm() {
        let (_, _, findings) =
            fixture::decode_with_findings(&[], &controller("Math.max(${a}, 1) == 1", ""), |d| {
                ifs(d).controller
            });
        let [finding] = &findings[..] else {
            panic!("{findings:?}")
        };
        assert_eq!(finding.code, "javascript-condition");
        assert!(
            finding.message.contains("with Math, which needs a JVM"),
            "{}",
            finding.message
        );
    }
}
