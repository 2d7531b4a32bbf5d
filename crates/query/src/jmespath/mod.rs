//! JMESPath as in the JMESPath Extractor and Assertion: io.burt's jmespath 0.6 on Jackson's tree.
//!
//! Unlike in JSONPath here, the body must be strict JSON, and keys keep their order. `sum`, `avg`, `abs`, `ceil` and `floor`
//! always return a `Double`, so the sum of 1 and 2 prints as `3.0`.

mod eval;
mod function;
mod lex;
mod parse;
mod text;

use std::borrow::Cow;

use crate::json::{Json, JsonError, Value};

/// A compiled expression; `Send + Sync`.
#[derive(Debug)]
pub struct JmesPath {
    expression: parse::Expr,
}

/// Why an expression cannot be compiled or evaluated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct JmesPathError {
    /// Our description of the error; not the message of io.burt's library.
    pub message: String,
}

impl JmesPathError {
    fn new(message: impl Into<String>) -> JmesPathError {
        JmesPathError {
            message: message.into(),
        }
    }
}

/// The result of an expression.
#[derive(Debug)]
pub struct JmesPathResult<'j, 't>(Cow<'j, Value<'t>>);

impl JmesPath {
    /// Compiles an expression.
    ///
    /// # Errors
    /// If it is malformed, or calls an unknown function or one with a wrong number of arguments.
    pub fn compile(text: &str) -> Result<JmesPath, JmesPathError> {
        parse::parse(text).map(|expression| JmesPath { expression })
    }

    /// Evaluates the expression.
    ///
    /// # Errors
    /// If a function gets an argument of the wrong type.
    pub fn search<'j, 't>(
        &'j self,
        json: &'j Json<'t>,
    ) -> Result<JmesPathResult<'j, 't>, JmesPathError> {
        eval::evaluate(&self.expression, json.root()).map(JmesPathResult)
    }
}

impl<'j, 't> JmesPathResult<'j, 't> {
    /// A value that an expression found.
    pub fn of(value: &'j Value<'t>) -> JmesPathResult<'j, 't> {
        JmesPathResult(Cow::Borrowed(value))
    }

    /// Whether nothing was found (`JsonNode.isNull`).
    pub fn is_null(&self) -> bool {
        matches!(*self.0, Value::Null)
    }

    /// The value itself.
    pub fn value(&self) -> &Value<'t> {
        &self.0
    }

    /// The values that the extractor stores: the items of an array, or the value itself (`JMESPathExtractor.splitJson`).
    pub fn values(&self) -> Vec<String> {
        match &*self.0 {
            Value::Array(items) => items.iter().map(text::text).collect(),
            value => vec![text::text(value)],
        }
    }

    /// The text that the assertion compares (`JMESPathAssertion.objectToString`).
    pub fn text(&self) -> String {
        text::text(&self.0)
    }

    /// Whether this equals the expected text parsed as JSON, by `JsonNode.equals`; `None` if that text is not JSON.
    pub fn equals_json(&self, expected: &str) -> Option<bool> {
        parse_strict(expected)
            .ok()
            .map(|json| json.root().java_equals(&self.0))
    }
}

/// Parses like Jackson: strict JSON; text after the first value is ignored.
///
/// # Errors
/// If the text does not begin with a JSON value.
pub fn parse_strict(text: &str) -> Result<Json<'_>, JsonError> {
    let first = serde_json::Deserializer::from_str(text)
        .into_iter::<serde::de::IgnoredAny>()
        .next();
    match first {
        Some(Ok(_)) => Json::parse(text),
        Some(Err(error)) => Err(JsonError {
            message: crate::json::jackson::fault(text).unwrap_or_else(|| error.to_string()),
        }),
        None => Err(JsonError {
            message: "No content to map due to end-of-input".to_owned(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_split_and_null_is_nothing() {
        let json = parse_strict(r#"{"a":[1,"x",{"b":null}],"n":null}"#).expect("JSON");
        let search = |text: &str| {
            let path = JmesPath::compile(text).expect("an expression");
            let found = path.search(&json).expect("a result");
            (found.is_null(), found.values())
        };
        assert_eq!(
            search("a"),
            (
                false,
                vec!["1".to_owned(), "x".to_owned(), r#"{"b":null}"#.to_owned()]
            )
        );
        assert!(search("n").0);
        assert!(search("zzz").0);
    }

    #[test]
    fn expected_values_compare_as_json() {
        let json = parse_strict(r#"{"a":{"x":1,"y":[true]}}"#).expect("JSON");
        let path = JmesPath::compile("a").expect("an expression");
        let found = path.search(&json).expect("a result");
        assert_eq!(found.text(), r#"{"x":1,"y":[true]}"#);
        assert_eq!(
            found.equals_json(r#" {"y" : [true], "x" : 1} "#),
            Some(true)
        );
        assert_eq!(found.equals_json(r#"{"x":1.0}"#), Some(false));
        assert_eq!(found.equals_json("nope"), None);
    }
}
