//! JSON as json-smart reads and writes it: the permissive parser of Jayway JsonPath's default provider.
//!
//! Strings without escapes borrow from the body; the order of keys is kept.

pub mod jackson;
mod number;
mod parse;
mod plain;
mod write;

use std::borrow::Cow;

pub(crate) use number::Decimal;
pub use number::Number;

/// A parsed body.
#[derive(Clone, Debug)]
pub struct Json<'t> {
    root: Value<'t>,
}

/// A JSON value.
#[derive(Clone, Debug)]
pub enum Value<'t> {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, of the Java class that json-smart would choose.
    Number(Number<'t>),
    /// A string, quoted or a bareword.
    String(Cow<'t, str>),
    /// An array.
    Array(Vec<Value<'t>>),
    /// An object; keys are unique and in the order of first occurrence.
    Object(Vec<(Cow<'t, str>, Value<'t>)>),
}

/// One step into a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PathStep<'s> {
    Key(&'s str),
    Index(usize),
}

/// Follows the steps without building values for the rest of the body. `None` if they lead to no value, or if
/// [`Json::parse`] would fail.
pub(crate) fn locate<'t>(text: &'t str, steps: &[PathStep<'_>]) -> Option<Value<'t>> {
    parse::locate(text, steps)
}

/// The error for a body that json-smart cannot parse.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("net.minidev.json.parser.ParseException: {message}")]
pub struct JsonError {
    /// json-smart's message without the name of the exception.
    pub message: String,
}

impl<'t> Json<'t> {
    /// Parses like `JSONParser(MODE_PERMISSIVE)`: accepts single quotes, barewords, superfluous commas, leading
    /// zeros, control characters and anything after the first value.
    ///
    /// # Errors
    /// With json-smart's message, which is the text of Jayway's `InvalidJsonException`.
    pub fn parse(text: &'t str) -> Result<Json<'t>, JsonError> {
        parse::parse(text).map(|root| Json { root })
    }

    /// The top-level value.
    pub fn root(&self) -> &Value<'t> {
        &self.root
    }
}

impl<'t> Value<'t> {
    /// The value of a key, if this is an object that contains it.
    pub fn get(&self, key: &str) -> Option<&Value<'t>> {
        match self {
            Value::Object(members) => members
                .iter()
                .find(|(name, _)| name == key)
                .map(|(_, value)| value),
            _ => None,
        }
    }

    /// A copy that owns all its data.
    pub fn to_owned_value(&self) -> Value<'static> {
        let owned = |text: &str| Cow::Owned(text.to_owned());
        match self {
            Value::Null => Value::Null,
            Value::Bool(value) => Value::Bool(*value),
            Value::Number(number) => Value::Number(match number {
                Number::Whole(number) => Number::Whole(*number),
                Number::Double(number) => Number::Double(*number),
                Number::NotANumber => Number::NotANumber,
                Number::Big(text) => Number::Big(owned(text)),
                Number::Decimal(text) => Number::Decimal(owned(text)),
            }),
            Value::String(text) => Value::String(owned(text)),
            Value::Array(items) => Value::Array(items.iter().map(Value::to_owned_value).collect()),
            Value::Object(members) => Value::Object(
                members
                    .iter()
                    .map(|(key, value)| (owned(key), value.to_owned_value()))
                    .collect(),
            ),
        }
    }

    /// `Object.equals` of the Java objects: numbers of different classes differ; the order of keys is irrelevant.
    pub fn java_equals(&self, other: &Value<'_>) -> bool {
        match (self, other) {
            (Value::Null, Value::Null) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Number(a), Value::Number(b)) => a.java_equals(b),
            (Value::String(a), Value::String(b)) => a == b,
            (Value::Array(a), Value::Array(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.java_equals(b))
            }
            (Value::Object(a), Value::Object(b)) => {
                a.len() == b.len()
                    && a.iter().all(|(key, value)| {
                        other
                            .get(key)
                            .is_some_and(|theirs| value.java_equals(theirs))
                    })
            }
            _ => false,
        }
    }

    /// The name of the Java class, as JsonPath's messages show it.
    pub(crate) fn java_class(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "java.lang.Boolean",
            Value::Number(number) => number.java_class(),
            Value::String(_) => "java.lang.String",
            Value::Array(_) => "net.minidev.json.JSONArray",
            Value::Object(_) => "java.util.LinkedHashMap",
        }
    }
}
