//! The functions of JMESPath.

use std::borrow::Cow;
use std::cmp::Ordering;

use super::eval::{Result, equal, evaluate};
use super::parse::Expr;
use super::{JmesPathError, text};
use crate::json::{Number, Value};

/// A function, identified by its name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Function {
    name: &'static str,
}

/// Names, with the minimum and maximum number of arguments.
const FUNCTIONS: [(&str, usize, usize); 26] = [
    ("abs", 1, 1),
    ("avg", 1, 1),
    ("ceil", 1, 1),
    ("contains", 2, 2),
    ("ends_with", 2, 2),
    ("floor", 1, 1),
    ("join", 2, 2),
    ("keys", 1, 1),
    ("length", 1, 1),
    ("map", 2, 2),
    ("max", 1, 1),
    ("max_by", 2, 2),
    ("merge", 1, usize::MAX),
    ("min", 1, 1),
    ("min_by", 2, 2),
    ("not_null", 1, usize::MAX),
    ("reverse", 1, 1),
    ("sort", 1, 1),
    ("sort_by", 2, 2),
    ("starts_with", 2, 2),
    ("sum", 1, 1),
    ("to_array", 1, 1),
    ("to_number", 1, 1),
    ("to_string", 1, 1),
    ("type", 1, 1),
    ("values", 1, 1),
];

impl Function {
    pub(super) fn find(
        name: &str,
        arguments: usize,
    ) -> std::result::Result<Function, JmesPathError> {
        let Some((name, least, most)) = FUNCTIONS.into_iter().find(|(known, ..)| *known == name)
        else {
            return Err(JmesPathError::new(format!("Unknown function: \"{name}\"")));
        };
        if (least..=most).contains(&arguments) {
            Ok(Function { name })
        } else {
            Err(JmesPathError::new(format!(
                "Invalid arity calling \"{name}\" (given {arguments})"
            )))
        }
    }
}

pub(super) fn call<'j, 't>(
    function: Function,
    arguments: &'j [Expr],
    value: &'j Value<'t>,
) -> Result<'j, 't> {
    if let Some(Expr::Reference(key)) = arguments
        .iter()
        .find(|argument| matches!(argument, Expr::Reference(_)))
    {
        return by_reference(function.name, key, arguments, value);
    }
    let mut values = Vec::new();
    for argument in arguments {
        values.push(evaluate(argument, value)?);
    }
    let first = values.remove(0);
    match function.name {
        "not_null" => {
            let mut all = std::iter::once(first).chain(values);
            let first = all.find(|value| !matches!(**value, Value::Null));
            Ok(first.unwrap_or(Cow::Owned(Value::Null)))
        }
        "merge" => merge(std::iter::once(first).chain(values)),
        "max" | "min" => extreme(function.name, first),
        "to_array" if matches!(*first, Value::Array(_)) => Ok(first),
        "to_string" if matches!(*first, Value::String(_)) => Ok(first),
        "to_number" if matches!(*first, Value::Number(_)) => Ok(first),
        name => plain(name, &first, values.first().map(|value| &**value)).map(Cow::Owned),
    }
}

fn wrong_type<T>(name: &str) -> std::result::Result<T, JmesPathError> {
    Err(JmesPathError::new(format!(
        "Invalid argument type calling \"{name}\""
    )))
}

fn double<'t>(number: f64) -> Value<'t> {
    Value::Number(Number::Double(number))
}

fn whole<'t>(number: usize) -> Value<'t> {
    Value::Number(Number::Whole(number as i64))
}

fn plain<'t>(
    name: &str,
    first: &Value<'t>,
    second: Option<&Value<'t>>,
) -> std::result::Result<Value<'t>, JmesPathError> {
    Ok(match (name, first, second) {
        ("abs", Value::Number(number), _) => double(number.as_f64().abs()),
        ("ceil", Value::Number(number), _) => double(number.as_f64().ceil()),
        ("floor", Value::Number(number), _) => double(number.as_f64().floor()),
        ("sum", Value::Array(items), _) => double(
            numbers(name, items)?
                .iter()
                .fold(0.0, |sum, number| sum + number),
        ),
        ("avg", Value::Array(items), _) => match numbers(name, items)? {
            numbers if numbers.is_empty() => Value::Null,
            numbers => double(numbers.iter().sum::<f64>() / numbers.len() as f64),
        },
        ("contains", Value::Array(items), Some(wanted)) => {
            Value::Bool(items.iter().any(|item| equal(item, wanted)))
        }
        ("contains", Value::String(text), Some(wanted)) => match wanted {
            Value::String(part) => Value::Bool(text.contains(&**part)),
            _ => Value::Bool(false),
        },
        ("starts_with", Value::String(text), Some(Value::String(part))) => {
            Value::Bool(text.starts_with(&**part))
        }
        ("ends_with", Value::String(text), Some(Value::String(part))) => {
            Value::Bool(text.ends_with(&**part))
        }
        ("join", Value::String(glue), Some(Value::Array(items))) => {
            Value::String(Cow::Owned(strings(name, items)?.join(glue)))
        }
        ("keys", Value::Object(members), _) => Value::Array(
            members
                .iter()
                .map(|(key, _)| Value::String(key.clone()))
                .collect(),
        ),
        ("values", Value::Object(members), _) => {
            Value::Array(members.iter().map(|(_, value)| value.clone()).collect())
        }
        ("length", Value::Array(items), _) => whole(items.len()),
        ("length", Value::Object(members), _) => whole(members.len()),
        ("length", Value::String(text), _) => whole(text.encode_utf16().count()),
        ("reverse", Value::Array(items), _) => Value::Array(items.iter().rev().cloned().collect()),
        ("reverse", Value::String(text), _) => {
            Value::String(Cow::Owned(text.chars().rev().collect()))
        }
        ("sort", Value::Array(items), _) => {
            check_kinds(name, items.iter())?;
            let mut items = items.clone();
            items.sort_by(order);
            Value::Array(items)
        }
        ("to_array", other, _) => Value::Array(vec![other.clone()]),
        ("to_string", other, _) => Value::String(Cow::Owned(text::json(other))),
        ("to_number", Value::String(text), _) => to_number(text),
        ("to_number", ..) => Value::Null,
        ("type", other, _) => Value::String(Cow::Borrowed(kind(other))),
        _ => return wrong_type(name),
    })
}

fn kind(value: &Value<'_>) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// `ToNumberFunction` with `JacksonRuntime#createNumber`: parses like `Double.parseDouble`. A number without a
/// fraction becomes the nearest `Long`.
fn to_number<'t>(text: &str) -> Value<'t> {
    match drumfire_java::values::parse_double(text) {
        Some(number) if number == number.round_ties_even() => {
            Value::Number(Number::Whole(number as i64))
        }
        Some(number) => double(number),
        None => Value::Null,
    }
}

fn numbers(name: &str, items: &[Value<'_>]) -> std::result::Result<Vec<f64>, JmesPathError> {
    items
        .iter()
        .map(|item| match item {
            Value::Number(number) => Ok(number.as_f64()),
            _ => wrong_type(name),
        })
        .collect()
}

fn strings<'v>(
    name: &str,
    items: &'v [Value<'_>],
) -> std::result::Result<Vec<&'v str>, JmesPathError> {
    items
        .iter()
        .map(|item| match item {
            Value::String(text) => Ok(&**text),
            _ => wrong_type(name),
        })
        .collect()
}

/// Checks that all values can be ordered: only numbers, or only strings.
fn check_kinds<'v, 't: 'v>(
    name: &str,
    mut items: impl Iterator<Item = &'v Value<'t>>,
) -> std::result::Result<(), JmesPathError> {
    let Some(first) = items.next() else {
        return Ok(());
    };
    let same = match first {
        Value::Number(_) => items.all(|item| matches!(item, Value::Number(_))),
        Value::String(_) => items.all(|item| matches!(item, Value::String(_))),
        _ => false,
    };
    if same { Ok(()) } else { wrong_type(name) }
}

fn order(left: &Value<'_>, right: &Value<'_>) -> Ordering {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => left.as_f64().total_cmp(&right.as_f64()),
        (Value::String(left), Value::String(right)) => {
            left.encode_utf16().cmp(right.encode_utf16())
        }
        _ => Ordering::Equal,
    }
}

fn extreme<'j, 't>(name: &str, list: Cow<'j, Value<'t>>) -> Result<'j, 't> {
    let Value::Array(items) = &*list else {
        return wrong_type(name);
    };
    check_kinds(name, items.iter())?;
    let better = if name == "max" {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    let best = items.iter().reduce(|best, item| {
        if order(item, best) == better {
            item
        } else {
            best
        }
    });
    Ok(Cow::Owned(best.cloned().unwrap_or(Value::Null)))
}

fn merge<'j, 't>(objects: impl Iterator<Item = Cow<'j, Value<'t>>>) -> Result<'j, 't>
where
    't: 'j,
{
    let mut merged: Vec<(Cow<'t, str>, Value<'t>)> = Vec::new();
    for object in objects {
        let Value::Object(members) = object.into_owned() else {
            return wrong_type("merge");
        };
        for (key, value) in members {
            match merged.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => merged.push((key, value)),
            }
        }
    }
    Ok(Cow::Owned(Value::Object(merged)))
}

/// `map`, `sort_by`, `max_by` and `min_by`.
fn by_reference<'j, 't>(
    name: &str,
    key: &'j Expr,
    arguments: &'j [Expr],
    value: &'j Value<'t>,
) -> Result<'j, 't> {
    let list = match (name, arguments) {
        ("map", [Expr::Reference(_), list]) => list,
        ("sort_by" | "max_by" | "min_by", [list, Expr::Reference(_)]) => list,
        _ => return wrong_type(name),
    };
    let list = evaluate(list, value)?;
    let Value::Array(items) = &*list else {
        return wrong_type(name);
    };
    let mut keyed = Vec::new();
    for item in items {
        keyed.push((evaluate(key, item)?.into_owned(), item));
    }
    if name == "map" {
        return Ok(Cow::Owned(Value::Array(
            keyed.into_iter().map(|(key, _)| key).collect(),
        )));
    }
    check_kinds(name, keyed.iter().map(|(key, _)| key))?;
    if name == "sort_by" {
        keyed.sort_by(|(left, _), (right, _)| order(left, right));
        return Ok(Cow::Owned(Value::Array(
            keyed.into_iter().map(|(_, item)| item.clone()).collect(),
        )));
    }
    let better = if name == "max_by" {
        Ordering::Greater
    } else {
        Ordering::Less
    };
    let best = keyed.iter().reduce(|best, item| {
        if order(&item.0, &best.0) == better {
            item
        } else {
            best
        }
    });
    Ok(Cow::Owned(
        best.map(|(_, item)| (*item).clone()).unwrap_or(Value::Null),
    ))
}
