//! Functions at the end of a path: `.length()`, `.sum()`, … (`PathFunctionFactory`).

use std::borrow::Cow;

use super::{Error, JsonMatch, Parameter, Path, PathToken, eval};
use crate::json::{Json, Number, Value};

/// Calls a function on a value.
pub(super) fn invoke<'j, 't>(
    name: &str,
    parameters: &'j [Parameter],
    model: &'j Value<'t>,
    root: &'j Value<'t>,
) -> Result<JsonMatch<'j, 't>, Error> {
    let made = |value| Ok(JsonMatch::Made(value));
    match name {
        "length" | "size" => made(length(parameters, model)?),
        "avg" | "stddev" | "sum" | "min" | "max" => {
            let numbers = numbers(parameters, model, root)?;
            made(Value::Number(Number::Double(aggregate(name, &numbers)?)))
        }
        "concat" => made(Value::String(Cow::Owned(concat(parameters, model, root)?))),
        "keys" => made(match model {
            Value::Object(members) => Value::Array(
                members
                    .iter()
                    .map(|(key, _)| Value::String(key.clone()))
                    .collect(),
            ),
            _ => Value::Null,
        }),
        "append" => append(parameters, model, root),
        "first" => item(model, 0),
        "last" => item(model, -1),
        "index" => {
            let values = values(parameters, root)?;
            let index = values.iter().find_map(|value| match value {
                Value::Number(number) => Some(number.as_f64() as i64),
                _ => None,
            });
            match (model, index) {
                (Value::Array(_), None) => Err(Error::failed("Index 0 out of bounds for length 0")),
                (_, index) => item(model, index.unwrap_or(0)),
            }
        }
        _ => Err(Error::invalid(format!(
            "Function with name: {name} does not exist."
        ))),
    }
}

/// Evaluates the parameters. Their paths start at the document, even with `@`.
fn values<'t>(parameters: &[Parameter], root: &Value<'t>) -> Result<Vec<Value<'t>>, Error> {
    parameters
        .iter()
        .map(|parameter| match parameter {
            Parameter::Path(path) => eval::read(path, root, root).map(JsonMatch::into_value),
            Parameter::Json(text) => match Json::parse(text) {
                Ok(json) => Ok(json.root().to_owned_value()),
                Err(error) => Err(Error::failed(error.to_string())),
            },
        })
        .collect()
}

/// The numbers of an array, followed by those of the parameters (`AbstractAggregation`).
fn numbers(
    parameters: &[Parameter],
    model: &Value<'_>,
    root: &Value<'_>,
) -> Result<Vec<f64>, Error> {
    let mut numbers = Vec::new();
    let mut collect = |value: &Value<'_>| {
        if let Value::Number(number) = value {
            numbers.push(number.as_f64());
        }
    };
    if let Value::Array(items) = model {
        items.iter().for_each(&mut collect);
    }
    for value in values(parameters, root)? {
        match &value {
            Value::Array(items) => items.iter().for_each(&mut collect),
            other => collect(other),
        }
    }
    Ok(numbers)
}

fn aggregate(name: &str, numbers: &[f64]) -> Result<f64, Error> {
    if numbers.is_empty() {
        return Err(Error::failed(
            "Aggregation function attempted to calculate value using empty array",
        ));
    }
    let count = numbers.len() as f64;
    let sum = || numbers.iter().fold(0.0, |sum, number| sum + number);
    Ok(match name {
        "sum" => sum(),
        "avg" => sum() / count,
        // Max starts at Double.MIN_VALUE, which is the smallest positive number.
        "max" => numbers.iter().fold(
            f64::from_bits(1),
            |max, number| if max < *number { *number } else { max },
        ),
        "min" => numbers.iter().fold(
            f64::MAX,
            |min, number| if min > *number { *number } else { min },
        ),
        _ => {
            let squares = numbers
                .iter()
                .fold(0.0, |sum, number| sum + number * number);
            (squares / count - sum() * sum() / count / count).sqrt()
        }
    })
}

fn concat(parameters: &[Parameter], model: &Value<'_>, root: &Value<'_>) -> Result<String, Error> {
    let mut out = String::new();
    if let Value::Array(items) = model {
        for item in items {
            if let Value::String(text) = item {
                out.push_str(text);
            }
        }
    }
    for value in values(parameters, root)? {
        match &value {
            Value::Null => {}
            Value::Array(items) => {
                for item in items.iter().filter(|item| !matches!(item, Value::Null)) {
                    out.push_str(&item.to_java_text());
                }
            }
            other => out.push_str(&other.to_java_text()),
        }
    }
    Ok(out)
}

/// `Length`: with a path, the number of values below it; without, the number of items or keys.
fn length<'t>(parameters: &[Parameter], model: &Value<'t>) -> Result<Value<'t>, Error> {
    if let Some(first) = parameters.first() {
        let Parameter::Path(path) = first else {
            return Err(Error::failed("java.lang.NullPointerException"));
        };
        let count = if path.ends_with_function() || path.tokens.is_empty() {
            match &*eval::read(path, model, model)? {
                Value::Array(items) => Some(items.len()),
                _ => None,
            }
        } else {
            count_below(path, model)?
        };
        if let Some(count) = count {
            return Ok(Value::Number(Number::Whole(count as i64)));
        }
    }
    Ok(match model {
        Value::Array(items) => Value::Number(Number::Whole(items.len() as i64)),
        Value::Object(members) => Value::Number(Number::Whole(members.len() as i64)),
        _ => Value::Null,
    })
}

/// Counts the hits of `path[*]`.
fn count_below(path: &Path, model: &Value<'_>) -> Result<Option<usize>, Error> {
    let below = Path {
        from_root: true,
        tokens: vec![PathToken::Wildcard],
    };
    let mut count = 0;
    for hit in eval::evaluate(path, model, model, false)? {
        count += eval::evaluate(&below, &hit, &hit, false)?.len();
    }
    Ok(Some(count))
}

/// `Append`: the array followed by the values of the parameters. Jayway modifies the array in the body; since
/// nothing reads the body after a function, this copies it.
fn append<'j, 't>(
    parameters: &'j [Parameter],
    model: &'j Value<'t>,
    root: &'j Value<'t>,
) -> Result<JsonMatch<'j, 't>, Error> {
    let Value::Array(items) = model else {
        return Ok(JsonMatch::Part(model));
    };
    let mut items = items.clone();
    items.extend(values(parameters, root)?);
    Ok(JsonMatch::Made(Value::Array(items)))
}

/// An item of an array. A negative index counts from the end, but cannot reach the very first item
/// (`AbstractSequenceAggregation`).
fn item<'j, 't>(model: &'j Value<'t>, index: i64) -> Result<JsonMatch<'j, 't>, Error> {
    let Value::Array(items) = model else {
        return Err(Error::failed(
            "Aggregation function attempted to calculate value using empty array",
        ));
    };
    let length = items.len();
    if index < 0 && length as i64 + index <= 0 {
        return Err(Error::failed(format!(
            "Target index:{index} larger than object count:{length}"
        )));
    }
    let position = if index < 0 {
        length as i64 + index
    } else {
        index
    };
    match usize::try_from(position)
        .ok()
        .and_then(|place| items.get(place))
    {
        Some(item) => Ok(JsonMatch::Part(item)),
        None => Err(Error::failed(format!(
            "Index {index} out of bounds for length {length}"
        ))),
    }
}
