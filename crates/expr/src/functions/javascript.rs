//! `JavaScript`: evaluates simple expressions natively and leaves other scripts to a JavaScript
//! engine.

use crate::call::{Args, CallError, CallResult, Stateful, next_instance, store};
use crate::js_condition::{self, ConditionError};
use crate::scope::{Level, Raised, Scope, ScriptCall, ScriptLanguage};
use crate::text::Text;

/// The names that `JavaScript.executeWithRhino` puts into the script's scope.
const OBJECTS: &str = "log ctx vars props threadName sampler sampleResult";

#[derive(Debug)]
struct JavaScript {
    instance: u32,
    /// Whether the text is identical at every call.
    constant: bool,
    /// Whether the script needs an engine for any values of its variables.
    needs_jvm: bool,
}

pub(super) fn prepare(args: Args<'_>, _: &mut dyn Scope) -> Result<Box<dyn Stateful>, CallError> {
    Ok(Box::new(JavaScript {
        instance: next_instance(),
        constant: args.literal(0).is_some(),
        needs_jvm: args
            .templates()
            .first()
            .is_some_and(|script| js_condition::needs_engine_beside(script, OBJECTS).is_some()),
    }))
}

impl Stateful for JavaScript {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let script = args.text(0, scope)?;
        let variable = args.trimmed(1, scope)?;
        let result = match js_condition::eval_beside(&script, OBJECTS) {
            Ok(result) => result,
            Err(ConditionError::Unsupported(_)) => scope.run_script(&ScriptCall {
                language: ScriptLanguage::JavaScript,
                text: &script,
                constant: self.constant,
                instance: self.instance,
            })?,
            Err(failure) => {
                let message = format!("Error processing Javascript: [{script}]");
                scope.log_failure(Level::Error, &format!("{message}: {failure}"));
                return Err(Raised::Invalid(message));
            }
        };
        store(&variable, &result, scope);
        Ok(Text::Owned(result))
    }

    fn needs_jvm(&self) -> bool {
        self.needs_jvm
    }
}
