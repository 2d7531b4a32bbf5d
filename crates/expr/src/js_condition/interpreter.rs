//! Evaluates expressions; a name that Rhino does not know throws only where it is asked for.

use std::cmp::Ordering;

use super::Failure;
use super::globals::{PROPERTIES, has, is_global};
use super::numbers;
use super::parser::Node;
use super::strings;
use super::value::Value;

type Outcome = Result<Value, Failure>;

/// The functions of the global object that are run here.
const FUNCTIONS: &str = "parseInt parseFloat Number String Boolean isNaN isFinite";

/// The value of the last expression, `undefined` without one.
pub(super) fn eval(expression: &Option<Node>) -> Outcome {
    expression.as_ref().map_or(Ok(Value::Undefined), value_of)
}

fn value_of(node: &Node) -> Outcome {
    match node {
        Node::Literal(value) => Ok(value.clone()),
        Node::Name(name) => global(name),
        Node::Hole => Err(Failure::Syntax("an operand is missing".to_owned())),
        Node::Unary(sign, operand) => {
            let value = value_of(operand)?;
            Ok(match *sign {
                "!" => Value::Bool(!value.is_truthy()),
                "-" => Value::Number(-value.to_number()),
                _ => Value::Number(value.to_number()),
            })
        }
        Node::Binary(sign, left, right) => binary(sign, left, right),
        Node::Conditional(parts) => {
            let [condition, yes, no] = &**parts;
            value_of(if value_of(condition)?.is_truthy() {
                yes
            } else {
                no
            })
        }
        Node::Member(object, name) => member(&value_of(object)?, name),
        Node::Call(callee, arguments) => call(callee, arguments),
    }
}

/// The value of a name; those of the three constants could be changed only by an assignment.
fn global(name: &str) -> Outcome {
    match name {
        "undefined" => Ok(Value::Undefined),
        "NaN" => Ok(Value::Number(f64::NAN)),
        "Infinity" => Ok(Value::Number(f64::INFINITY)),
        _ => Err(unknown(name)),
    }
}

fn unknown(name: &str) -> Failure {
    if is_global(name) {
        Failure::Unsupported(name.to_owned())
    } else {
        Failure::Thrown(format!("ReferenceError: \"{name}\" is not defined."))
    }
}

fn binary(sign: &str, left: &Node, right: &Node) -> Outcome {
    // IRFactory.createBinary makes `0 - x` a negation, which is -0 for 0.
    if sign == "-"
        && matches!(left, Node::Literal(Value::Number(0.0)))
        && !matches!(right, Node::Literal(Value::Number(_)))
    {
        return Ok(Value::Number(-value_of(right)?.to_number()));
    }
    let left = value_of(left)?;
    match sign {
        "&&" if !left.is_truthy() => return Ok(left),
        "||" if left.is_truthy() => return Ok(left),
        _ => {}
    }
    let right = value_of(right)?;
    let order =
        |wanted: fn(Ordering) -> bool| Value::Bool(left.compare(&right).is_some_and(wanted));
    let number =
        |result: fn(f64, f64) -> f64| Value::Number(result(left.to_number(), right.to_number()));
    let bits = |result: fn(i32, i32) -> i32| {
        Value::Number(f64::from(result(left.to_int32(), right.to_int32())))
    };
    Ok(match sign {
        "==" => Value::Bool(left.loosely_equals(&right)),
        "!=" => Value::Bool(!left.loosely_equals(&right)),
        "===" => Value::Bool(left.strictly_equals(&right)),
        "!==" => Value::Bool(!left.strictly_equals(&right)),
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
        // `&&`, `||` and the comma are worth their last operand.
        _ => right,
    })
}

fn member(object: &Value, name: &str) -> Outcome {
    match object {
        Value::Undefined | Value::Null => Err(Failure::Thrown(format!(
            "TypeError: Cannot read property \"{name}\" from {}",
            object.to_text()
        ))),
        Value::Text(text) if name == "length" => {
            Ok(Value::Number(text.encode_utf16().count() as f64))
        }
        _ if name != "length" && has(PROPERTIES, name) => {
            Err(Failure::Unsupported(format!("the property {name}")))
        }
        _ => Ok(Value::Undefined),
    }
}

fn call(callee: &Node, arguments: &[Node]) -> Outcome {
    match callee {
        Node::Member(object, name) => {
            let object = value_of(object)?;
            method_exists(&object, name)?;
            let arguments = values_of(arguments)?;
            match &object {
                Value::Text(text) => strings::call(text, name, &arguments),
                _ if &**name == "valueOf" => Ok(object),
                _ if &**name == "toString" && arguments.is_empty() => {
                    Ok(Value::text(object.to_text()))
                }
                _ => Err(Failure::Unsupported(format!(
                    "the method {name} of a {}",
                    object.type_name()
                ))),
            }
        }
        Node::Name(name) if has(FUNCTIONS, name) => Ok(function(name, &values_of(arguments)?)),
        Node::Name(name) if global(name).is_err() => Err(unknown(name)),
        other => {
            let value = value_of(other)?;
            Err(Failure::Thrown(format!(
                "TypeError: {} is not a function, it is {}.",
                value.to_text(),
                value.type_name()
            )))
        }
    }
}

fn method_exists(object: &Value, name: &str) -> Result<(), Failure> {
    let text = object.to_text();
    if matches!(object, Value::Undefined | Value::Null) {
        return Err(Failure::Thrown(format!(
            "TypeError: Cannot call method \"{name}\" of {text}"
        )));
    }
    if name == "length" || !has(PROPERTIES, name) {
        return Err(Failure::Thrown(format!(
            "TypeError: Cannot find function {name} in object {text}."
        )));
    }
    Ok(())
}

fn values_of(nodes: &[Node]) -> Result<Vec<Value>, Failure> {
    nodes.iter().map(value_of).collect()
}

fn function(name: &str, arguments: &[Value]) -> Value {
    let first = arguments.first().unwrap_or(&Value::Undefined);
    match name {
        "parseInt" => Value::Number(numbers::parse_int(
            &first.to_text(),
            arguments.get(1).map_or(0, Value::to_int32),
        )),
        "parseFloat" => Value::Number(numbers::parse_float(&first.to_text())),
        "Number" => Value::Number(arguments.first().map_or(0.0, Value::to_number)),
        "String" => Value::text(arguments.first().map_or_else(String::new, Value::to_text)),
        "Boolean" => Value::Bool(first.is_truthy()),
        "isNaN" => Value::Bool(first.to_number().is_nan()),
        _ => Value::Bool(first.to_number().is_finite()),
    }
}

/// Looks for what no value of the unknown operands could make evaluable here.
pub(super) fn check(node: &Node) -> Result<(), Failure> {
    match node {
        Node::Literal(_) | Node::Hole => Ok(()),
        Node::Name(name) => match global(name) {
            Err(failure @ Failure::Unsupported(_)) => Err(failure),
            _ => Ok(()),
        },
        Node::Unary(_, operand) => check(operand),
        Node::Binary(_, left, right) => check(left).and_then(|()| check(right)),
        Node::Conditional(parts) => parts.iter().try_for_each(check),
        Node::Member(object, name) => {
            check(object)?;
            let known = &**name == "length" || !has(PROPERTIES, name);
            if known {
                Ok(())
            } else {
                Err(Failure::Unsupported(format!("the property {name}")))
            }
        }
        Node::Call(callee, arguments) => {
            match &**callee {
                Node::Name(name) if has(FUNCTIONS, name) => {}
                Node::Member(object, name) => {
                    check(object)?;
                    if has(PROPERTIES, name) && !has(strings::METHODS, name) {
                        return Err(Failure::Unsupported(format!("the method {name}")));
                    }
                }
                other => check(other)?,
            }
            arguments.iter().try_for_each(check)
        }
    }
}
