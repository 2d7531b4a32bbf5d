//! The condition of an If Controller (`IfController`).

use drumfire_expr::js_condition::{self, ConditionError};
use drumfire_expr::{Level, Scope, ScriptCall, ScriptLanguage, Template};
use drumfire_java::text::trim;

use crate::run::context::Context;

/// Whether the condition holds (`IfController#evaluateExpression` and `#evaluateCondition`). A JavaScript condition that
/// cannot be evaluated is false and logged, as in JMeter. One that is more than an expression goes to a JavaScript engine.
pub fn if_holds(cx: &mut Context, name: &Template, condition: &Template, javascript: bool) -> bool {
    let condition = condition.eval(cx);
    let condition = trim(&condition);
    if !javascript {
        return condition.eq_ignore_ascii_case("true");
    }
    name.repeat(cx, 1); // evaluateCondition's log message
    match js_condition::holds(condition) {
        Ok(holds) => holds,
        Err(ConditionError::Unsupported(_)) => evaluate(cx, condition),
        Err(failure) => {
            let name = name.eval(cx);
            cx.log(
                Level::Error,
                &format!("{name}: error while processing [{condition}]: {failure}"),
            );
            false
        }
    }
}

/// Evaluates a condition with a JavaScript engine.
fn evaluate(cx: &mut Context, condition: &str) -> bool {
    let call = ScriptCall {
        language: ScriptLanguage::Condition,
        text: condition,
        constant: false,
        instance: 0,
    };
    match cx.run_script(&call) {
        Ok(value) => value == "true",
        Err(raised) => {
            cx.raise(raised);
            false
        }
    }
}
