//! JavaScript conditions: literals, operators and the methods of strings, as Rhino 1.7.14 evaluates them in
//! JMeter's If Controller (`IfController.RhinoJsEngine`, language version 0).
//!
//! The text of a condition is known only when its variables have been put in, so it is parsed each time; it is short.
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
    /// The text is no JavaScript (`EvaluatorException`).
    Syntax(String),
    /// An exception while evaluating, such as an unknown name (`EcmaError`).
    Thrown(String),
    /// The value is neither `true` nor `false` (`IfController.computeResultFromString`).
    NotBoolean(String),
    /// Something that only a JavaScript engine can do.
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

/// Evaluates the text of a condition, variables already put in.
///
/// # Errors
/// Any [`ConditionError`]; JMeter logs it and takes the condition for false.
pub fn holds(text: &str) -> Result<bool, ConditionError> {
    match eval(text)?.as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        other => Err(ConditionError::NotBoolean(other.to_owned())),
    }
}

/// Evaluates a text: what `Context.toString` says of its value.
///
/// # Errors
/// Anything but [`ConditionError::NotBoolean`].
pub fn eval(text: &str) -> Result<String, ConditionError> {
    eval_beside(text, "")
}

/// Whether a condition needs a JavaScript engine whatever its variables are. Inside quotes a reference stands for text,
/// outside for an operand. If the variables decide, the answer is no, and [`holds`] finds out.
pub fn needs_engine(condition: &Template) -> Option<String> {
    needs_engine_beside(condition, "")
}

/// [`eval`] where a script also has these objects (words with spaces between), which only an engine knows.
pub(crate) fn eval_beside(text: &str, objects: &str) -> Result<String, ConditionError> {
    let expression = parser::parse(text, false, objects)?;
    Ok(interpreter::eval(&expression)?.to_text())
}

/// [`needs_engine`] where a script also has these objects.
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
