//! JavaScript's primitive values and their conversions (`ScriptRuntime`).

use std::cmp::Ordering;
use std::rc::Rc;

use super::numbers;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Rc<str>),
}

impl Value {
    pub(super) fn text(text: impl Into<Rc<str>>) -> Value {
        Value::Text(text.into())
    }

    /// `ScriptRuntime.toBoolean`.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            Value::Undefined | Value::Null => false,
            Value::Bool(value) => *value,
            Value::Number(value) => *value != 0.0 && !value.is_nan(),
            Value::Text(text) => !text.is_empty(),
        }
    }

    /// `ScriptRuntime.toNumber`.
    pub(super) fn to_number(&self) -> f64 {
        match self {
            Value::Undefined => f64::NAN,
            Value::Null => 0.0,
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Number(value) => *value,
            Value::Text(text) => numbers::from_text(text),
        }
    }

    /// `ScriptRuntime.toInteger`: towards zero, NaN as 0.
    pub(super) fn to_integer(&self) -> f64 {
        let number = self.to_number();
        if number.is_nan() { 0.0 } else { number.trunc() }
    }

    /// `ScriptRuntime.toInt32`.
    pub(super) fn to_int32(&self) -> i32 {
        let number = self.to_number();
        if !number.is_finite() {
            return 0;
        }
        // Below 2^32 now, so the conversion keeps all bits.
        number.trunc().rem_euclid(4_294_967_296.0) as u32 as i32
    }

    /// `ScriptRuntime.toString`.
    pub(super) fn to_text(&self) -> String {
        match self {
            Value::Undefined => "undefined".to_owned(),
            Value::Null => "null".to_owned(),
            Value::Bool(value) => value.to_string(),
            Value::Number(value) => numbers::to_text(*value),
            Value::Text(text) => text.to_string(),
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Value::Undefined => "undefined",
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::Text(_) => "string",
        }
    }

    /// `ScriptRuntime.add`.
    pub(super) fn plus(&self, other: &Value) -> Value {
        match (self, other) {
            (Value::Text(_), _) | (_, Value::Text(_)) => {
                Value::text(self.to_text() + &other.to_text())
            }
            _ => Value::Number(self.to_number() + other.to_number()),
        }
    }

    /// `ScriptRuntime.eq`.
    pub(super) fn loosely_equals(&self, other: &Value) -> bool {
        let is_nothing = |value: &Value| matches!(value, Value::Undefined | Value::Null);
        match (self, other) {
            (Value::Text(left), Value::Text(right)) => left == right,
            _ if is_nothing(self) || is_nothing(other) => is_nothing(self) && is_nothing(other),
            _ => self.to_number() == other.to_number(),
        }
    }

    /// `ScriptRuntime.shallowEq`.
    pub(super) fn strictly_equals(&self, other: &Value) -> bool {
        self == other
    }

    /// Strings by their UTF-16 units, anything else by number; `None` if one of them is not a number.
    pub(super) fn compare(&self, other: &Value) -> Option<Ordering> {
        match (self, other) {
            (Value::Text(left), Value::Text(right)) => {
                Some(left.encode_utf16().cmp(right.encode_utf16()))
            }
            _ => self.to_number().partial_cmp(&other.to_number()),
        }
    }
}
