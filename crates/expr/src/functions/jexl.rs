//! `Jexl2Function` and `Jexl3Function`.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::call::{Args, CallError, CallResult, Stateful, next_instance, store};
use crate::jexl::{Dialect, JexlError, Script};
use crate::scope::{Level, Raised, Scope, ScriptCall, ScriptLanguage};
use crate::text::Text;

#[derive(Debug)]
struct Jexl {
    dialect: Dialect,
    instance: u32,
    /// The expression, if it is identical at every call.
    constant: Option<Result<Script, JexlError>>,
}

/// Limit of cached expressions that contain variables, per worker; JMeter's engines also cache
/// 512.
const CAPACITY: usize = 512;

type Cache = HashMap<(Dialect, Box<str>), Rc<Result<Script, JexlError>>>;

thread_local! {
    static CACHE: RefCell<Cache> = RefCell::default();
}

fn compiled(text: &str, dialect: Dialect) -> Rc<Result<Script, JexlError>> {
    CACHE.with_borrow_mut(|cache| {
        let key = (dialect, Box::from(text));
        if let Some(script) = cache.get(&key) {
            return script.clone();
        }
        let script = Rc::new(Script::compile(text, dialect));
        if cache.len() >= CAPACITY {
            cache.clear();
        }
        cache.insert(key, script.clone());
        script
    })
}

pub(super) fn prepare_jexl2(
    args: Args<'_>,
    _: &mut dyn Scope,
) -> Result<Box<dyn Stateful>, CallError> {
    Ok(prepare(args, Dialect::Jexl2))
}

pub(super) fn prepare_jexl3(
    args: Args<'_>,
    _: &mut dyn Scope,
) -> Result<Box<dyn Stateful>, CallError> {
    Ok(prepare(args, Dialect::Jexl3))
}

fn prepare(args: Args<'_>, dialect: Dialect) -> Box<dyn Stateful> {
    Box::new(Jexl {
        dialect,
        instance: next_instance(),
        constant: args.literal(0).map(|text| Script::compile(text, dialect)),
    })
}

impl Stateful for Jexl {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a> {
        let expression = args.text(0, scope)?;
        let variable = args.trimmed(1, scope)?;
        let result = match &self.constant {
            Some(script) => evaluate(script, scope),
            None => evaluate(&compiled(&expression, self.dialect), scope),
        };
        let text = match result {
            Ok(text) => text,
            // JEXL 3 is silent: an expression with an error evaluates to `null`.
            Err(JexlError::Jexl(message)) if self.dialect == Dialect::Jexl3 => {
                scope.log_failure(Level::Warn, &message);
                String::new()
            }
            Err(JexlError::Unsupported(_)) => self.run_elsewhere(&expression, scope)?,
            Err(failure) => {
                let message = format!(
                    "An error occurred while evaluating the expression \"{expression}\"\n{failure}"
                );
                scope.log_failure(Level::Error, &message);
                return Ok(Text::Literal(""));
            }
        };
        store(&variable, &text, scope);
        Ok(Text::Owned(text))
    }

    fn needs_jvm(&self) -> bool {
        matches!(self.constant, Some(Err(JexlError::Unsupported(_))))
    }
}

fn evaluate(
    script: &Result<Script, JexlError>,
    scope: &mut dyn Scope,
) -> Result<String, JexlError> {
    match script {
        Ok(script) => script.eval(scope),
        Err(failure) => Err(failure.clone()),
    }
}

impl Jexl {
    fn run_elsewhere(&self, expression: &str, scope: &mut dyn Scope) -> Result<String, Raised> {
        scope.run_script(&ScriptCall {
            language: match self.dialect {
                Dialect::Jexl2 => ScriptLanguage::Jexl2,
                Dialect::Jexl3 => ScriptLanguage::Jexl3,
            },
            text: expression,
            constant: self.constant.is_some(),
            instance: self.instance,
        })
    }
}
