//! Durations and counts of a configuration, which may be JMeter expressions.

use serde_json::Value;

use crate::error::TaurusError;
use crate::value::{has_variable, text};

/// A number, or an expression that JMeter evaluates.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Amount {
    Number(f64),
    Text(String),
}

impl Amount {
    /// Whether the amount is true in Python.
    pub fn is_set(&self) -> bool {
        match self {
            Amount::Number(number) => *number != 0.0,
            Amount::Text(text) => !text.is_empty(),
        }
    }

    /// The amount as a plan stores it, truncated to a whole number.
    pub fn whole(&self) -> String {
        match self {
            Amount::Number(number) => format!("{}", number.trunc()),
            Amount::Text(text) => text.clone(),
        }
    }

    pub fn number(&self) -> Option<f64> {
        match self {
            Amount::Number(number) => Some(*number),
            Amount::Text(_) => None,
        }
    }
}

/// A duration in seconds, or an expression; `None` if the value is missing.
pub(crate) fn time(value: Option<&Value>, name: &str) -> Result<Option<Amount>, TaurusError> {
    read(value, name, seconds)
}

/// A number, or an expression; `None` if the value is missing. `int` truncates fractions.
pub(crate) fn number(
    value: Option<&Value>,
    name: &str,
    int: bool,
) -> Result<Option<Amount>, TaurusError> {
    read(value, name, |text| {
        let number: f64 = text
            .trim()
            .parse()
            .map_err(|_| format!("`{text}` is not a number"))?;
        Ok(if int { number.trunc() } else { number })
    })
}

fn read(
    value: Option<&Value>,
    name: &str,
    parse: impl Fn(&str) -> Result<f64, String>,
) -> Result<Option<Amount>, TaurusError> {
    let value = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(value) => text(value),
    };
    if has_variable(&value) {
        return Ok(Some(Amount::Text(value)));
    }
    let number = parse(&value).map_err(|why| TaurusError::new(format!("`{name}`: {why}")))?;
    Ok(Some(Amount::Number(number)))
}

/// Parses `1d4h33m12s103ms`, `1.5h`, `90` or `inf` to seconds.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let text: String = text.chars().filter(|sign| *sign != ' ').collect();
    if text.is_empty() {
        return Ok(0.0);
    }
    let mut total = 0.0;
    let mut rest = text.as_str();
    while !rest.is_empty() {
        let (number, after) = match rest.strip_prefix("inf") {
            Some(after) => (f64::INFINITY, after),
            None => {
                let end = rest.find(|sign| !is_number(sign)).unwrap_or(rest.len());
                let number = rest[..end]
                    .parse()
                    .map_err(|_| format!("`{text}` is not a time; write 30s, 5m or 1h30m"))?;
                (number, &rest[end..])
            }
        };
        let end = after
            .find(|sign: char| !sign.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let unit = after[..end].to_ascii_lowercase();
        let factor = match unit.as_str() {
            "ms" => 0.001,
            "s" | "" => 1.0,
            "m" => 60.0,
            "h" => 3_600.0,
            "d" => 86_400.0,
            _ => {
                return Err(format!(
                    "`{unit}` in `{text}` is not a unit; write ms, s, m, h or d"
                ));
            }
        };
        total += number * factor;
        rest = &after[end..];
    }
    Ok(total)
}

fn is_number(sign: char) -> bool {
    sign.is_ascii_digit() || matches!(sign, '.' | '-')
}

/// Converts a duration to milliseconds for a plan; other values stay unchanged.
pub(crate) fn milliseconds(value: &Value) -> Value {
    let text = text(value);
    match seconds(&text) {
        Ok(seconds) => Value::from((seconds * 1000.0).trunc() as i64),
        Err(_) => Value::from(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        assert_eq!(seconds("1h30m"), Ok(5_400.0));
        assert_eq!(seconds("1d 4h33m12s500ms"), Ok(102_792.5));
        assert_eq!(seconds("90"), Ok(90.0));
        assert_eq!(seconds("inf"), Ok(f64::INFINITY));
        assert!(seconds("3 weeks").is_err() && seconds("soon").is_err());
    }

    #[test]
    fn expressions_stay() {
        let value = Value::from("${__P(users)}");
        assert_eq!(
            number(Some(&value), "concurrency", true),
            Ok(Some(Amount::Text("${__P(users)}".to_owned())))
        );
        assert!(number(Some(&Value::from("many")), "concurrency", true).is_err());
        assert_eq!(Amount::Number(30.0).whole(), "30");
    }
}
