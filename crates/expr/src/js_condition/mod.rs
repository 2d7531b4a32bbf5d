//! JavaScript conditions: literals, operators and the methods of strings, as Rhino 1.7.14 evaluates them in
//! JMeter's If Controller (`IfController.RhinoJsEngine`, language version 0).
//!
//! A condition's text is only known after its variables have been inserted, so it is parsed each time; it is short.
//! Conditions that need a real JavaScript engine (statements, objects, regular expressions, other functions) are
//! [`ConditionError::Unsupported`].

mod globals;
mod interpreter;
mod lexer;
mod numbers;
mod parser;
mod strings;
mod value;

use crate::template::Template;

/// Why a condition has no truth value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConditionError {
    /// The text is not JavaScript (`EvaluatorException`).
    Syntax(String),
    /// An exception during evaluation, such as an unknown name (`EcmaError`).
    Thrown(String),
    /// The value is neither `true` nor `false` (`IfController.computeResultFromString`).
    NotBoolean(String),
    /// The condition needs a JavaScript engine.
    Unsupported(String),
}

impl std::fmt::Display for ConditionError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ConditionError::Syntax(message) => write!(f, "syntax error: {message}"),
            ConditionError::Thrown(message) => f.write_str(message),
            ConditionError::NotBoolean(value) => {
                write!(f, "expected true or false, found '{value}'")
            }
            ConditionError::Unsupported(what) => write!(f, "{what} needs a JavaScript engine"),
        }
    }
}

impl std::error::Error for ConditionError {}

/// Evaluates the text of a condition whose variables were already inserted.
///
/// # Errors
/// Any [`ConditionError`]; JMeter logs it and treats the condition as false.
pub fn holds(text: &str) -> Result<bool, ConditionError> {
    match eval(text)?.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(ConditionError::NotBoolean(other.to_owned())),
    }
}

/// Evaluates a text: returns `Context.toString` of its value.
///
/// # Errors
/// Any error except [`ConditionError::NotBoolean`].
pub fn eval(text: &str) -> Result<String, ConditionError> {
    eval_beside(text, "")
}

/// Whether a condition needs a JavaScript engine for any values of its variables. Inside quotes a reference stands for
/// text, outside for an operand. If it depends on the variables, the answer is no, and [`holds`] finds out.
pub fn needs_engine(condition: &Template) -> Option<String> {
    needs_engine_beside(condition, "")
}

/// [`eval`] for a script with additional objects (names separated by spaces), which only an engine knows.
pub(crate) fn eval_beside(text: &str, objects: &str) -> Result<String, ConditionError> {
    let expression = parser::parse(text, false, objects)?;
    Ok(interpreter::eval(&expression)?.to_text())
}

/// [`needs_engine`] for a script with additional objects.
pub(crate) fn needs_engine_beside(script: &Template, objects: &str) -> Option<String> {
    let unsupported = |failure| match failure {
        ConditionError::Unsupported(what) => Some(what),
        _ => None,
    };
    match parser::parse(&script.skeleton(lexer::HOLE), true, objects) {
        Ok(expression) => expression
            .and_then(|node| interpreter::check(&node).err())
            .and_then(unsupported),
        Err(failure) => unsupported(failure),
    }
}

#[cfg(test)]
mod tests;
