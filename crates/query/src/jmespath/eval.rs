//! Evaluates an expression on a value.

use std::borrow::Cow;

use super::parse::{Expr, ProjectionItems};
use super::{JmesPathError, function};
use crate::json::Value;

pub(super) type Result<'j, 't> = std::result::Result<Cow<'j, Value<'t>>, JmesPathError>;

pub(super) fn evaluate<'j, 't>(expression: &'j Expr, value: &'j Value<'t>) -> Result<'j, 't> {
    Ok(match expression {
        Expr::Current => Cow::Borrowed(value),
        Expr::Literal(literal) => Cow::Owned(literal.clone()),
        Expr::Field(name) => value
            .get(name)
            .map(Cow::Borrowed)
            .unwrap_or(Cow::Owned(Value::Null)),
        Expr::Index(index) => match value {
            Value::Array(items) => item(items, *index)
                .map(Cow::Borrowed)
                .unwrap_or(Cow::Owned(Value::Null)),
            _ => Cow::Owned(Value::Null),
        },
        Expr::Then(left, right) => {
            let left = evaluate(left, value)?;
            apply(right, left)?
        }
        Expr::Project { source, over, each } => {
            let source = evaluate(source, value)?;
            project(source, over, each)?
        }
        Expr::List(_) | Expr::Hash(_) if matches!(value, Value::Null) => Cow::Owned(Value::Null),
        Expr::List(items) => {
            let items: std::result::Result<Vec<_>, _> = items
                .iter()
                .map(|item| evaluate(item, value).map(Cow::into_owned))
                .collect();
            Cow::Owned(Value::Array(items?))
        }
        Expr::Hash(members) => {
            let members: std::result::Result<Vec<_>, _> = members
                .iter()
                .map(|(name, item)| {
                    Ok((
                        Cow::Owned(name.clone()),
                        evaluate(item, value)?.into_owned(),
                    ))
                })
                .collect();
            Cow::Owned(Value::Object(members?))
        }
        Expr::Or(left, right) => match evaluate(left, value)? {
            left if is_true(&left) => left,
            _ => evaluate(right, value)?,
        },
        Expr::And(left, right) => match evaluate(left, value)? {
            left if is_true(&left) => evaluate(right, value)?,
            left => left,
        },
        Expr::Not(inner) => Cow::Owned(Value::Bool(!is_true(&*evaluate(inner, value)?))),
        Expr::Compare(operator, left, right) => {
            let (left, right) = (evaluate(left, value)?, evaluate(right, value)?);
            Cow::Owned(compare(operator, &left, &right))
        }
        Expr::Call(called, arguments) => function::call(*called, arguments, value)?,
        Expr::Reference(_) => {
            return Err(JmesPathError::new("an expression reference is not a value"));
        }
    })
}

/// Applies an expression to a value that may be temporary.
pub(super) fn apply<'j, 't>(expression: &'j Expr, value: Cow<'j, Value<'t>>) -> Result<'j, 't> {
    match value {
        Cow::Borrowed(value) => evaluate(expression, value),
        Cow::Owned(value) => apply_here(expression, &value).map(Cow::Owned),
    }
}

fn apply_here<'t>(
    expression: &Expr,
    value: &Value<'t>,
) -> std::result::Result<Value<'t>, JmesPathError> {
    evaluate(expression, value).map(Cow::into_owned)
}

fn item<'v, 't>(items: &'v [Value<'t>], index: i64) -> Option<&'v Value<'t>> {
    let position = if index < 0 {
        index + items.len() as i64
    } else {
        index
    };
    usize::try_from(position)
        .ok()
        .and_then(|place| items.get(place))
}

/// Applies the rest of the expression to each item of the source and drops nulls.
fn project<'j, 't>(
    source: Cow<'j, Value<'t>>,
    over: &'j ProjectionItems,
    each: &'j Expr,
) -> Result<'j, 't> {
    let items: Vec<Cow<'_, Value<'t>>> = match (over, source) {
        (
            ProjectionItems::Values | ProjectionItems::Slice(..),
            Cow::Borrowed(Value::Object(members)),
        ) => members
            .iter()
            .map(|(_, value)| Cow::Borrowed(value))
            .collect(),
        (
            ProjectionItems::Values | ProjectionItems::Slice(..),
            Cow::Owned(Value::Object(members)),
        ) => members
            .into_iter()
            .map(|(_, value)| Cow::Owned(value))
            .collect(),
        (
            ProjectionItems::Items
            | ProjectionItems::Filtered(_)
            | ProjectionItems::Flattened
            | ProjectionItems::Slice(..),
            Cow::Borrowed(Value::Array(items)),
        ) => items.iter().map(Cow::Borrowed).collect(),
        (
            ProjectionItems::Items
            | ProjectionItems::Filtered(_)
            | ProjectionItems::Flattened
            | ProjectionItems::Slice(..),
            Cow::Owned(Value::Array(items)),
        ) => items.into_iter().map(Cow::Owned).collect(),
        // io.burt's library slices the values of an object, and treats anything else as an empty list.
        (ProjectionItems::Slice(..), _) => Vec::new(),
        _ => return Ok(Cow::Owned(Value::Null)),
    };
    let mut out = Vec::new();
    for item in select(items, over)? {
        match apply_here(each, &item)? {
            Value::Null => {}
            value => out.push(value),
        }
    }
    Ok(Cow::Owned(Value::Array(out)))
}

type Items<'j, 't> = Vec<Cow<'j, Value<'t>>>;

fn select<'j, 't>(
    items: Items<'j, 't>,
    over: &ProjectionItems,
) -> std::result::Result<Items<'j, 't>, JmesPathError> {
    Ok(match over {
        ProjectionItems::Items | ProjectionItems::Values => items,
        ProjectionItems::Flattened => {
            let mut flat = Vec::new();
            for item in items {
                match item {
                    Cow::Borrowed(Value::Array(inner)) => {
                        flat.extend(inner.iter().map(Cow::Borrowed))
                    }
                    Cow::Owned(Value::Array(inner)) => {
                        flat.extend(inner.into_iter().map(Cow::Owned))
                    }
                    other => flat.push(other),
                }
            }
            flat
        }
        ProjectionItems::Filtered(condition) => {
            let mut selected = Vec::new();
            for item in items {
                if is_true(&apply_here(condition, &item)?) {
                    selected.push(item);
                }
            }
            selected
        }
        ProjectionItems::Slice(from, to, step) => {
            let indexes = slice(*from, *to, *step, items.len() as i64);
            let mut items: Vec<Option<Cow<'j, Value<'t>>>> = items.into_iter().map(Some).collect();
            indexes
                .into_iter()
                .filter_map(|index| items[index].take())
                .collect()
        }
    })
}

/// The indexes of a slice, as in Python.
fn slice(from: Option<i64>, to: Option<i64>, step: i64, length: i64) -> Vec<usize> {
    let (low, high) = if step > 0 {
        (0, length)
    } else {
        (-1, length - 1)
    };
    let bound = |index: i64| (if index < 0 { index + length } else { index }).clamp(low, high);
    let mut at = from.map(bound).unwrap_or(if step > 0 { low } else { high });
    let end = to.map(bound).unwrap_or(if step > 0 { high } else { low });
    let mut indexes = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        indexes.extend(usize::try_from(at));
        at += step;
    }
    indexes
}

/// Null, false and empty values are false.
pub(super) fn is_true(value: &Value<'_>) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(value) => *value,
        Value::Number(_) => true,
        Value::String(text) => !text.is_empty(),
        Value::Array(items) => !items.is_empty(),
        Value::Object(members) => !members.is_empty(),
    }
}

/// Only numbers can be ordered.
fn compare<'t>(operator: &str, left: &Value<'t>, right: &Value<'t>) -> Value<'t> {
    match (operator, left, right) {
        ("==", _, _) => Value::Bool(equal(left, right)),
        ("!=", _, _) => Value::Bool(!equal(left, right)),
        (_, Value::Number(left), Value::Number(right)) => {
            let (left, right) = (left.as_f64(), right.as_f64());
            Value::Bool(match operator {
                "<" => left < right,
                "<=" => left <= right,
                ">" => left > right,
                _ => left >= right,
            })
        }
        _ => Value::Null,
    }
}

/// Deep equality; numbers are equal by value.
pub(super) fn equal(left: &Value<'_>, right: &Value<'_>) -> bool {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64() == right.as_f64(),
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len()
                && left
                    .iter()
                    .zip(right)
                    .all(|(left, right)| equal(left, right))
        }
        (Value::Object(members), Value::Object(others)) => {
            members.len() == others.len()
                && members
                    .iter()
                    .all(|(key, value)| right.get(key).is_some_and(|other| equal(value, other)))
        }
        _ => left.java_equals(right),
    }
}
