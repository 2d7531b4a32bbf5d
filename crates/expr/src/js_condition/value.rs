//! JavaScript's primitive values and their conversions (`ScriptRuntime`).

use std::cmp::Ordering;
use std::rc::Rc;

use super::numbers;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum JsValue {
    Undefined,
    Null,
    Bool(bool),
    Number(f64),
    Text(Rc<str>),
}

impl JsValue {
    pub(super) fn text(text: impl Into<Rc<str>>) -> JsValue {
        JsValue::Text(text.into())
    }

    /// `ScriptRuntime.toBoolean`.
    pub(super) fn is_truthy(&self) -> bool {
        match self {
            JsValue::Undefined | JsValue::Null => false,
            JsValue::Bool(value) => *value,
            JsValue::Number(value) => *value != 0.0 && !value.is_nan(),
            JsValue::Text(text) => !text.is_empty(),
        }
    }

    /// `ScriptRuntime.toNumber`.
    pub(super) fn to_number(&self) -> f64 {
        match self {
            JsValue::Undefined => f64::NAN,
            JsValue::Null => 0.0,
            JsValue::Bool(value) => f64::from(u8::from(*value)),
            JsValue::Number(value) => *value,
            JsValue::Text(text) => numbers::from_text(text),
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
        // The number is below 2^32 now, so the conversion keeps all bits.
        number.trunc().rem_euclid(4_294_967_296.0) as u32 as i32
    }

    /// `ScriptRuntime.toString`.
    pub(super) fn to_text(&self) -> String {
        match self {
            JsValue::Undefined => "undefined".to_owned(),
            JsValue::Null => "null".to_owned(),
            JsValue::Bool(value) => value.to_string(),
            JsValue::Number(value) => numbers::to_text(*value),
            JsValue::Text(text) => text.to_string(),
        }
    }

    pub(super) fn type_name(&self) -> &'static str {
        match self {
            JsValue::Undefined => "undefined",
            JsValue::Null => "null",
            JsValue::Bool(_) => "boolean",
            JsValue::Number(_) => "number",
            JsValue::Text(_) => "string",
        }
    }

    /// `ScriptRuntime.add`.
    pub(super) fn plus(&self, other: &JsValue) -> JsValue {
        match (self, other) {
            (JsValue::Text(_), _) | (_, JsValue::Text(_)) => {
                JsValue::text(self.to_text() + &other.to_text())
            }
            _ => JsValue::Number(self.to_number() + other.to_number()),
        }
    }

    /// `ScriptRuntime.eq`.
    pub(super) fn loosely_equals(&self, other: &JsValue) -> bool {
        match (self, other) {
            (JsValue::Text(left), JsValue::Text(right)) => left == right,
            _ if is_nothing(self) || is_nothing(other) => is_nothing(self) && is_nothing(other),
            _ => self.to_number() == other.to_number(),
        }
    }

    /// `ScriptRuntime.shallowEq`.
    pub(super) fn strictly_equals(&self, other: &JsValue) -> bool {
        self == other
    }

    /// Compares strings by UTF-16 units, and other values as numbers; `None` if one of them is not a
    /// number.
    pub(super) fn compare(&self, other: &JsValue) -> Option<Ordering> {
        match (self, other) {
            (JsValue::Text(left), JsValue::Text(right)) => {
                Some(left.encode_utf16().cmp(right.encode_utf16()))
            }
            _ => self.to_number().partial_cmp(&other.to_number()),
        }
    }
}

fn is_nothing(value: &JsValue) -> bool {
    matches!(value, JsValue::Undefined | JsValue::Null)
}
