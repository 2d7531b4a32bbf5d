//! A function call in a template: its arguments, its state, and its evaluation.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use drumfire_java::text::trim;

use crate::scope::{Raised, Scope, ScriptCall, ScriptLanguage};
use crate::spec::FunctionSpec;
use crate::template::Template;
use crate::text::Text;
use crate::vars::Value;

/// The result of a function.
pub(crate) type CallResult<'a> = Result<Text<'a>, Raised>;

/// A function without state between calls.
pub(crate) type Plain = for<'a> fn(Args<'a>, &mut dyn Scope) -> CallResult<'a>;

/// Creates the state of one call in a plan. The scope is that of the compilation.
pub(crate) type Prepare = fn(Args<'_>, &mut dyn Scope) -> Result<Box<dyn Stateful>, CallError>;

/// Why a call cannot be compiled.
#[derive(Debug)]
pub(crate) struct CallError {
    /// A stable identifier.
    pub(crate) code: &'static str,
    pub(crate) message: String,
}

impl From<Raised> for CallError {
    /// An exception of an argument that is evaluated at compile time.
    fn from(raised: Raised) -> CallError {
        CallError {
            code: "function-arguments",
            message: raised.to_string(),
        }
    }
}

/// A function with state between calls; each call in a plan has one instance.
pub(crate) trait Stateful: std::fmt::Debug + Send + Sync {
    fn call<'a>(&'a self, args: Args<'a>, scope: &mut dyn Scope) -> CallResult<'a>;

    /// Whether this call turns out to need a JVM.
    fn needs_jvm(&self) -> bool {
        false
    }

    /// Whether this call has no side effects and its result only changes when a property is set.
    fn reads_only_properties(&self) -> bool {
        false
    }
}

/// How a call is prepared.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Build {
    Plain(Plain),
    Stateful(Prepare),
    Script(ScriptLanguage),
}

/// A function call in a template.
#[derive(Debug)]
pub(crate) struct FunctionCall {
    pub(crate) spec: &'static FunctionSpec,
    pub(crate) args: Box<[Template]>,
    body: FunctionBody,
    /// The name of the element in whose texts it is.
    element: Option<Arc<str>>,
}

#[derive(Debug)]
enum FunctionBody {
    Plain(Plain),
    Stateful(Box<dyn Stateful>),
    Script {
        language: ScriptLanguage,
        instance: u32,
    },
}

impl FunctionCall {
    /// A call of `spec` with a valid number of arguments.
    pub(crate) fn new(
        spec: &'static FunctionSpec,
        args: Vec<Template>,
        scope: &mut dyn Scope,
    ) -> Result<FunctionCall, CallError> {
        let args: Box<[Template]> = args.into();
        let body = match spec.build {
            Build::Plain(function) => FunctionBody::Plain(function),
            Build::Stateful(prepare) => FunctionBody::Stateful(prepare(Args(&args), scope)?),
            Build::Script(language) => FunctionBody::Script {
                language,
                instance: next_instance(),
            },
        };
        let element = scope.element();
        Ok(FunctionCall {
            spec,
            args,
            body,
            element,
        })
    }

    pub(crate) fn eval<'a>(&'a self, scope: &mut dyn Scope) -> CallResult<'a> {
        let result = self.run(scope);
        let has_thrown = matches!(result, Err(Raised::Invalid(_) | Raised::Exception(_)));
        scope.end_call(self.spec.name, self.element.as_ref(), has_thrown);
        result
    }

    fn run<'a>(&'a self, scope: &mut dyn Scope) -> CallResult<'a> {
        let args = Args(&self.args);
        match &self.body {
            FunctionBody::Plain(function) => function(args, scope),
            FunctionBody::Stateful(state) => state.call(args, scope),
            FunctionBody::Script {
                language: ScriptLanguage::Function,
                instance,
            } => run_foreign(self.spec.name, args, *instance, scope),
            FunctionBody::Script { language, instance } => {
                run_script(args, *language, *instance, scope)
            }
        }
    }

    pub(crate) fn needs_jvm(&self) -> bool {
        match &self.body {
            FunctionBody::Plain(_) => false,
            FunctionBody::Stateful(state) => state.needs_jvm(),
            FunctionBody::Script { .. } => true,
        }
    }

    pub(crate) fn reads_only_properties(&self) -> bool {
        matches!(&self.body, FunctionBody::Stateful(state) if state.reads_only_properties())
    }

    /// Whether the call may read the previous response: scripts may, and `__regexFunction` does unless it has a
    /// variable as its input.
    pub(crate) fn reads_previous_response(&self) -> bool {
        match self.spec.name {
            "__regexFunction" => self.args.get(6).is_none_or(Template::is_empty_literal),
            _ => self.needs_jvm(),
        }
    }
}

/// A number that is unique among the function calls of the process.
pub(crate) fn next_instance() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// `__groovy`, `__BeanShell`: the script, and the variable that receives its result.
fn run_script<'a>(
    args: Args<'a>,
    language: ScriptLanguage,
    instance: u32,
    scope: &mut dyn Scope,
) -> CallResult<'a> {
    let script = args.text(0, scope)?;
    let variable = args.trimmed(1, scope)?;
    let result = scope.run_script(&ScriptCall {
        language,
        text: &script,
        constant: args.literal(0).is_some(),
        instance,
    })?;
    store(&variable, &result, scope);
    Ok(Text::Owned(result))
}

/// A plugin's function. Unlike in JMeter, each argument is evaluated exactly once, even if the function does not use
/// it.
fn run_foreign<'a>(
    name: &str,
    args: Args<'a>,
    instance: u32,
    scope: &mut dyn Scope,
) -> CallResult<'a> {
    let mut text = String::new();
    append(&mut text, name);
    for index in 0..args.len() {
        append(&mut text, &args.text(index, scope)?);
    }
    let value = scope.run_script(&ScriptCall {
        language: ScriptLanguage::Function,
        text: &text,
        constant: false,
        instance,
    })?;
    Ok(Text::Owned(value))
}

/// Appends a part in the format of [`ScriptLanguage::Function`].
fn append(text: &mut String, part: &str) {
    text.push_str(&part.encode_utf16().count().to_string());
    text.push(':');
    text.push_str(part);
}

/// The arguments of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Args<'a>(&'a [Template]);

impl<'a> Args<'a> {
    pub(crate) fn len(self) -> usize {
        self.0.len()
    }

    /// The argument's value; empty if it is omitted.
    pub(crate) fn text(self, index: usize, scope: &mut dyn Scope) -> CallResult<'a> {
        match self.0.get(index) {
            Some(template) => template.try_eval(scope),
            None => Ok(Text::Literal("")),
        }
    }

    /// The argument's value without surrounding white space.
    pub(crate) fn trimmed(self, index: usize, scope: &mut dyn Scope) -> CallResult<'a> {
        Ok(match self.text(index, scope)? {
            Text::Literal(text) => Text::Literal(trim(text)),
            text if trim(&text).len() == text.len() => text,
            text => Text::Owned(trim(&text).to_owned()),
        })
    }

    /// The argument's value, unless it is omitted.
    pub(crate) fn given(
        self,
        index: usize,
        scope: &mut dyn Scope,
    ) -> Result<Option<Text<'a>>, Raised> {
        match self.0.get(index) {
            Some(template) => Ok(Some(template.try_eval(scope)?)),
            None => Ok(None),
        }
    }

    /// The arguments before evaluation.
    pub(crate) fn templates(self) -> &'a [Template] {
        self.0
    }

    /// The argument, if it is a constant.
    pub(crate) fn literal(self, index: usize) -> Option<&'a str> {
        self.0.get(index)?.literal()
    }

    /// `AbstractFunction.addVariableValue`: sets the variable that the argument names to `value`.
    pub(crate) fn store(
        self,
        index: usize,
        value: &str,
        scope: &mut dyn Scope,
    ) -> Result<(), Raised> {
        let name = self.trimmed(index, scope)?;
        store(&name, value, scope);
        Ok(())
    }
}

/// Sets a variable unless its name is empty.
pub(crate) fn store(name: &str, value: &str, scope: &mut dyn Scope) {
    if !name.is_empty() {
        scope.vars_mut().set_named(name, Value::from(value));
    }
}

/// A `NumberFormatException` with Java's message.
pub(crate) fn not_a_number(text: &str) -> Raised {
    Raised::exception(format!(
        "java.lang.NumberFormatException: For input string: \"{text}\""
    ))
}

/// `StringBuilder.append(null)`: the text of a function that returns `null`.
pub(crate) const NULL: Text<'static> = Text::Literal("null");
