//! Values of a configuration, formatted as Python does when Taurus writes them into a plan.

use serde_json::{Map, Value};

/// A table of a configuration.
pub(crate) type Table = Map<String, Value>;

/// Python's `str(value)`.
pub(crate) fn text(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => whole.to_string(),
            (None, Some(float)) => float_text(float),
            (None, None) => number.to_string(),
        },
        Value::String(text) => text.clone(),
        other => json(other),
    }
}

/// Python's `str` of a float, which always shows a fraction.
pub(crate) fn float_text(number: f64) -> String {
    format!("{number:?}")
}

/// Python's `json.dumps`: blanks after separators, and only ASCII.
pub(crate) fn json(value: &Value) -> String {
    match value {
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(json).collect();
            format!("[{}]", items.join(", "))
        }
        Value::Object(table) => {
            let entries = table
                .iter()
                .map(|(key, value)| format!("{}: {}", quoted(key), json(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        Value::String(text) => quoted(text),
        Value::Number(number) if number.as_i64().is_none() => number
            .as_f64()
            .map(float_text)
            .unwrap_or_else(|| number.to_string()),
        other => other.to_string(),
    }
}

fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    for sign in Value::from(text).to_string().chars() {
        if sign.is_ascii() {
            quoted.push(sign);
            continue;
        }
        for unit in sign.encode_utf16(&mut [0; 2]) {
            quoted.push_str(&format!("\\u{unit:04x}"));
        }
    }
    quoted
}

/// Whether a value is true in Python.
pub(crate) fn is_true(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Bool(value)) => *value,
        Some(Value::Number(number)) => number.as_f64() != Some(0.0),
        Some(Value::String(text)) => !text.is_empty(),
        Some(Value::Array(items)) => !items.is_empty(),
        Some(Value::Object(table)) => !table.is_empty(),
    }
}

/// A flag of a table; `default` if it is not set.
pub(crate) fn flag(table: &Table, key: &str, default: bool) -> bool {
    match table.get(key) {
        None => default,
        value => is_true(value),
    }
}

/// A text of a table; `default` if it is not set.
pub(crate) fn text_or(table: &Table, key: &str, default: &str) -> String {
    table
        .get(key)
        .map(text)
        .unwrap_or_else(|| default.to_owned())
}

/// A table within a table.
pub(crate) fn table<'t>(around: &'t Table, key: &str) -> Option<&'t Table> {
    around.get(key).and_then(Value::as_object)
}

/// A list of a table; a single value counts as a list of one.
pub(crate) fn list<'t>(around: &'t Table, key: &str) -> Vec<&'t Value> {
    match around.get(key) {
        None | Some(Value::Null) => Vec::new(),
        Some(Value::Array(items)) => items.iter().collect(),
        Some(one) => vec![one],
    }
}

/// A table. A single value becomes the table's entry `key`.
pub(crate) fn as_table(value: &Value, key: &str) -> Table {
    match value {
        Value::Object(table) => table.clone(),
        Value::Null => Table::new(),
        other => [(key.to_owned(), other.clone())].into_iter().collect(),
    }
}

/// Whether a text contains a JMeter variable or function.
pub(crate) fn has_variable(text: &str) -> bool {
    text.find("${")
        .is_some_and(|at| text[at + 2..].find('}').is_some_and(|end| end > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json as value;

    #[test]
    fn values_are_shown_as_python_shows_them() {
        for (value, shown) in [
            (value!(true), "True"),
            (value!(5), "5"),
            (value!(2.0), "2.0"),
            (value!(null), "None"),
            (value!("a"), "a"),
        ] {
            assert_eq!(text(&value), shown);
        }
        assert_eq!(
            json(&value!({"a": [1, "é"], "b": {"c": null}})),
            r#"{"a": [1, "\u00e9"], "b": {"c": null}}"#
        );
        assert!(has_variable("a${b}c") && !has_variable("${}") && !has_variable("$b"));
    }
}
