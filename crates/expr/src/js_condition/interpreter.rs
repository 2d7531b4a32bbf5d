//! Evaluates expressions. An unknown name throws only where its value is needed.

use std::cmp::Ordering;

use super::ConditionError;
use super::globals::{PROPERTIES, has, is_global};
use super::numbers;
use super::parser::JsNode;
use super::strings;
use super::value::JsValue;

type Outcome = Result<JsValue, ConditionError>;

/// The global functions that are implemented here.
const FUNCTIONS: &str = "parseInt parseFloat Number String Boolean isNaN isFinite";

/// The value of the last expression, or `undefined`.
pub(super) fn eval(expression: &Option<JsNode>) -> Outcome {
    expression
        .as_ref()
        .map(value_of)
        .unwrap_or(Ok(JsValue::Undefined))
}

fn value_of(node: &JsNode) -> Outcome {
    match node {
        JsNode::Literal(value) => Ok(value.clone()),
        JsNode::Name(name) => global(name),
        JsNode::Hole => Err(ConditionError::Syntax("an operand is missing".to_owned())),
        JsNode::Unary(sign, operand) => {
            let value = value_of(operand)?;
            Ok(match *sign {
                "!" => JsValue::Bool(!value.is_truthy()),
                "-" => JsValue::Number(-value.to_number()),
                _ => JsValue::Number(value.to_number()),
            })
        }
        JsNode::Binary(sign, left, right) => binary(sign, left, right),
        JsNode::Conditional(parts) => {
            let [condition, yes, no] = &**parts;
            value_of(if value_of(condition)?.is_truthy() {
                yes
            } else {
                no
            })
        }
        JsNode::Member(object, name) => member(&value_of(object)?, name),
        JsNode::Call(callee, arguments) => call(callee, arguments),
    }
}

/// The value of a name. Only assignments could change the three constants.
fn global(name: &str) -> Outcome {
    match name {
        "undefined" => Ok(JsValue::Undefined),
        "NaN" => Ok(JsValue::Number(f64::NAN)),
        "Infinity" => Ok(JsValue::Number(f64::INFINITY)),
        _ => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> ConditionError {
    if is_global(name) {
        ConditionError::Unsupported(name.to_owned())
    } else {
        ConditionError::Thrown(format!("ReferenceError: \"{name}\" is not defined."))
    }
}

fn binary(sign: &str, left: &JsNode, right: &JsNode) -> Outcome {
    // IRFactory.createBinary turns `0 - x` into a negation, which gives -0 for 0.
    if sign == "-"
        && matches!(left, JsNode::Literal(JsValue::Number(0.0)))
        && !matches!(right, JsNode::Literal(JsValue::Number(_)))
    {
        return Ok(JsValue::Number(-value_of(right)?.to_number()));
    }
    let left = value_of(left)?;
    match sign {
        "&&" if !left.is_truthy() => return Ok(left),
        "||" if left.is_truthy() => return Ok(left),
        _ => {}
    }
    let right = value_of(right)?;
    let order =
        |wanted: fn(Ordering) -> bool| JsValue::Bool(left.compare(&right).is_some_and(wanted));
    let number =
        |result: fn(f64, f64) -> f64| JsValue::Number(result(left.to_number(), right.to_number()));
    let bits = |result: fn(i32, i32) -> i32| {
        JsValue::Number(f64::from(result(left.to_int32(), right.to_int32())))
    };
    Ok(match sign {
        "==" => JsValue::Bool(left.loosely_equals(&right)),
        "!=" => JsValue::Bool(!left.loosely_equals(&right)),
        "===" => JsValue::Bool(left.strictly_equals(&right)),
        "!==" => JsValue::Bool(!left.strictly_equals(&right)),
        "<" => order(Ordering::is_lt),
        "<=" => order(Ordering::is_le),
        ">" => order(Ordering::is_gt),
        ">=" => order(Ordering::is_ge),
        "+" => left.plus(&right),
        "-" => number(|a, b| a - b),
        "*" => number(|a, b| a * b),
        "/" => number(|a, b| a / b),
        "%" => number(|a, b| a % b),
        "&" => bits(|a, b| a & b),
        "|" => bits(|a, b| a | b),
        "^" => bits(|a, b| a ^ b),
        // `&&`, `||` and the comma evaluate to their last operand.
        _ => right,
    })
}

fn member(object: &JsValue, name: &str) -> Outcome {
    match object {
        JsValue::Undefined | JsValue::Null => Err(ConditionError::Thrown(format!(
            "TypeError: Cannot read property \"{name}\" from {}",
            object.to_text()
        ))),
        JsValue::Text(text) if name == "length" => {
            Ok(JsValue::Number(text.encode_utf16().count() as f64))
        }
        _ if name != "length" && has(PROPERTIES, name) => {
            Err(ConditionError::Unsupported(format!("the property {name}")))
        }
        _ => Ok(JsValue::Undefined),
    }
}

fn call(callee: &JsNode, arguments: &[JsNode]) -> Outcome {
    match callee {
        JsNode::Member(object, name) => {
            let object = value_of(object)?;
            method_exists(&object, name)?;
            let arguments = values_of(arguments)?;
            match &object {
                JsValue::Text(text) => strings::call(text, name, &arguments),
                _ if &**name == "valueOf" => Ok(object),
                _ if &**name == "toString" && arguments.is_empty() => {
                    Ok(JsValue::text(object.to_text()))
                }
                _ => Err(ConditionError::Unsupported(format!(
                    "the method {name} of a {}",
                    object.type_name()
                ))),
            }
        }
        JsNode::Name(name) if has(FUNCTIONS, name) => Ok(function(name, &values_of(arguments)?)),
        JsNode::Name(name) if global(name).is_err() => Err(unknown(name)),
        other => {
            let value = value_of(other)?;
            Err(ConditionError::Thrown(format!(
                "TypeError: {} is not a function, it is {}.",
                value.to_text(),
                value.type_name()
            )))
        }
    }
}

fn method_exists(object: &JsValue, name: &str) -> Result<(), ConditionError> {
    let text = object.to_text();
    if matches!(object, JsValue::Undefined | JsValue::Null) {
        return Err(ConditionError::Thrown(format!(
            "TypeError: Cannot call method \"{name}\" of {text}"
        )));
    }
    if name == "length" || !has(PROPERTIES, name) {
        return Err(ConditionError::Thrown(format!(
            "TypeError: Cannot find function {name} in object {text}."
        )));
    }
    Ok(())
}

fn values_of(nodes: &[JsNode]) -> Result<Vec<JsValue>, ConditionError> {
    nodes.iter().map(value_of).collect()
}

fn function(name: &str, arguments: &[JsValue]) -> JsValue {
    let first = arguments.first().unwrap_or(&JsValue::Undefined);
    match name {
        "parseInt" => JsValue::Number(numbers::parse_int(
            &first.to_text(),
            arguments.get(1).map(JsValue::to_int32).unwrap_or(0),
        )),
        "parseFloat" => JsValue::Number(numbers::parse_float(&first.to_text())),
        "Number" => JsValue::Number(arguments.first().map(JsValue::to_number).unwrap_or(0.0)),
        "String" => JsValue::text(arguments.first().map(JsValue::to_text).unwrap_or_default()),
        "Boolean" => JsValue::Bool(first.is_truthy()),
        "isNaN" => JsValue::Bool(first.to_number().is_nan()),
        _ => JsValue::Bool(first.to_number().is_finite()),
    }
}

/// Checks for parts that cannot be evaluated here, whatever values the unknown operands
/// have.
pub(super) fn check(node: &JsNode) -> Result<(), ConditionError> {
    match node {
        JsNode::Literal(_) | JsNode::Hole => Ok(()),
        JsNode::Name(name) => match global(name) {
            Err(failure @ ConditionError::Unsupported(_)) => Err(failure),
            _ => Ok(()),
        },
        JsNode::Unary(_, operand) => check(operand),
        JsNode::Binary(_, left, right) => check(left).and_then(|()| check(right)),
        JsNode::Conditional(parts) => parts.iter().try_for_each(check),
        JsNode::Member(object, name) => {
            check(object)?;
            let known = &**name == "length" || !has(PROPERTIES, name);
            if known {
                Ok(())
            } else {
                Err(ConditionError::Unsupported(format!("the property {name}")))
            }
        }
        JsNode::Call(callee, arguments) => {
            match &**callee {
                JsNode::Name(name) if has(FUNCTIONS, name) => {}
                JsNode::Member(object, name) => {
                    check(object)?;
                    if has(PROPERTIES, name) && !has(strings::METHODS, name) {
                        return Err(ConditionError::Unsupported(format!("the method {name}")));
                    }
                }
                other => check(other)?,
            }
            arguments.iter().try_for_each(check)
        }
    }
}
