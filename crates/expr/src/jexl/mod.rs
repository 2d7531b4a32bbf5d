//! The parts of Commons JEXL 2.1.1 and 3.2.1 that plans use: conditions, arithmetic with Java's coercions, strings and
//! their methods, `vars`, `props` and `log`, assignments, `if` and blocks.
//!
//! Loops, arrays, maps of one entry and integers of any size are supported. Expressions that need Java (constructors,
//! lambdas, other collections, `BigDecimal`, methods of JMeter's classes) are [`JexlError::Unsupported`], so that a JVM can
//! take over the whole expression.

mod arithmetic;
mod ast;
mod interpreter;
mod lexer;
mod methods;
mod parser;

use ast::JexlNode;

use crate::scope::Scope;

/// The JEXL version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Commons JEXL 2.1.1: `"1" + "2"` is 3. Its numbers with a point are `float`; here they are `double`.
    Jexl2,
    /// Commons JEXL 3.2.1, strict: `"1" + "2"` is 12.
    Jexl3,
}

/// Why evaluating an expression failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JexlError {
    /// The text is not an expression (`JexlException.Parsing`).
    Syntax(String),
    /// A `JexlException` during evaluation, such as an undefined variable.
    Jexl(String),
    /// Another Java exception during evaluation, such as a `NumberFormatException`.
    Java(String),
    /// The expression needs Java.
    Unsupported(String),
}

impl std::fmt::Display for JexlError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            JexlError::Syntax(message)
            | JexlError::Jexl(message)
            | JexlError::Java(message)
            | JexlError::Unsupported(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for JexlError {}

/// A compiled expression or script.
#[derive(Debug, Clone)]
pub struct Script {
    statements: Vec<JexlNode>,
    dialect: Dialect,
}

impl Script {
    /// Compiles a text.
    ///
    /// # Errors
    /// [`JexlError::Syntax`] or [`JexlError::Unsupported`].
    pub fn compile(text: &str, dialect: Dialect) -> Result<Script, JexlError> {
        let statements = parser::parse(text, dialect)?;
        Ok(Script {
            statements,
            dialect,
        })
    }

    /// Evaluates the script: returns `toString()` of the last statement's value, empty for `null`.
    ///
    /// # Errors
    /// Any error except [`JexlError::Syntax`].
    pub fn eval(&self, scope: &mut dyn Scope) -> Result<String, JexlError> {
        interpreter::run(&self.statements, self.dialect, scope)
    }
}
