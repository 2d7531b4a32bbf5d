//! The operands of a filter's operator (`ValueNodes`).

use std::borrow::Cow;
use std::cmp::Ordering;

use drumfire_java::text::trim;

use super::cursor::unescape;
use super::{Error, ErrorKind, JsonMatch, Path, compile, eval};
use crate::json::{Decimal, Json, Number, Value};
use crate::regex::{Dialect, Pattern, RegexOptions};

/// An operand as written.
#[derive(Debug)]
pub(super) enum Literal {
    Path(Path),
    /// `['a', 1]` or `{…}`; an invalid one fails only when it is used.
    Json(Result<Value<'static>, String>),
    String(String),
    Number(Amount),
    Bool(bool),
    Null,
    Pattern(Box<Pattern>),
}

impl Literal {
    /// A string, including its quotes.
    pub(super) fn string(text: &str) -> Result<Literal, Error> {
        unescape(&text[1..text.len() - 1]).map(Literal::String)
    }

    pub(super) fn number(text: &str) -> Result<Literal, Error> {
        match Amount::parse(text) {
            Some(amount) => Ok(Literal::Number(amount)),
            None => Err(Error::failed("java.lang.NumberFormatException")),
        }
    }

    pub(super) fn json(text: &str) -> Literal {
        Literal::Json(match Json::parse(text) {
            Ok(json) => Ok(json.root().to_owned_value()),
            Err(error) => Err(error.to_string()),
        })
    }

    /// `/…/flags`
    pub(super) fn pattern(text: &str, flags: &str) -> Result<Literal, Error> {
        let text = match flags
            .chars()
            .filter(|flag| "dixmsuU".contains(*flag))
            .collect::<String>()
        {
            flags if flags.is_empty() => text.to_owned(),
            flags => format!("(?{flags}){text}"),
        };
        match Pattern::compile(&text, Dialect::Java, RegexOptions::default()) {
            Ok(pattern) => Ok(Literal::Pattern(Box::new(pattern))),
            Err(error) => Err(Error::failed(error.message)),
        }
    }

    /// The value of the operand for this item.
    pub(super) fn value<'j, 't>(
        &'j self,
        item: &'j Value<'t>,
        root: &'j Value<'t>,
    ) -> Result<Operand<'j, 't>, Error> {
        Ok(match self {
            Literal::Path(path) => {
                let item = if path.from_root { root } else { item };
                match eval::read(path, item, root) {
                    Ok(node) => return Operand::of_node(node),
                    Err(Error {
                        kind: ErrorKind::NotFound,
                        ..
                    }) => Operand::Undefined,
                    Err(error) => return Err(error),
                }
            }
            Literal::Json(json) => match json {
                Ok(value) => Operand::Literal(value),
                Err(message) => return Err(Error::failed(message.clone())),
            },
            Literal::String(text) => Operand::String(Cow::Borrowed(text)),
            Literal::Number(amount) => Operand::Number(amount.clone()),
            Literal::Bool(value) => Operand::Bool(*value),
            Literal::Null => Operand::Null,
            Literal::Pattern(pattern) => Operand::Pattern(pattern),
        })
    }
}

/// A number, compared as a `BigDecimal`.
#[derive(Clone, Debug)]
pub(super) enum Amount {
    Whole(i64),
    Decimal(Decimal),
}

impl Amount {
    fn parse(text: &str) -> Option<Amount> {
        match text.parse() {
            Ok(number) => Some(Amount::Whole(number)),
            Err(_) => Decimal::parse(text).map(Amount::Decimal),
        }
    }

    fn decimal(&self) -> Decimal {
        match self {
            Amount::Whole(number) => {
                Decimal::parse(&number.to_string()).expect("digits are a number")
            }
            Amount::Decimal(decimal) => decimal.clone(),
        }
    }

    fn compare(&self, other: &Amount) -> Ordering {
        match (self, other) {
            (Amount::Whole(a), Amount::Whole(b)) => a.cmp(b),
            _ => self.decimal().compare(&other.decimal()),
        }
    }

    fn text(&self) -> String {
        match self {
            Amount::Whole(number) => number.to_string(),
            Amount::Decimal(decimal) => decimal.to_string(),
        }
    }
}

/// An operand with its value.
pub(super) enum Operand<'j, 't> {
    String(Cow<'j, str>),
    Number(Amount),
    Bool(bool),
    Null,
    /// An array or object that a path found.
    Json(JsonMatch<'j, 't>),
    /// An array or object written in the filter.
    Literal(&'j Value<'static>),
    Pattern(&'j Pattern),
    /// A path without a hit, or a list item that equals nothing.
    Undefined,
}

impl<'j, 't> Operand<'j, 't> {
    fn of_node(node: JsonMatch<'j, 't>) -> Result<Operand<'j, 't>, Error> {
        Ok(match &*node {
            Value::Null => Operand::Null,
            Value::Bool(value) => Operand::Bool(*value),
            Value::Number(number) => Operand::of_number(number)?,
            Value::String(_) => match node {
                JsonMatch::Part(Value::String(text)) => Operand::String(Cow::Borrowed(text)),
                JsonMatch::Made(Value::String(text)) => {
                    Operand::String(Cow::Owned(text.into_owned()))
                }
                _ => Operand::Undefined,
            },
            Value::Array(_) | Value::Object(_) => Operand::Json(node),
        })
    }

    fn of_number(number: &Number<'_>) -> Result<Operand<'j, 't>, Error> {
        match number {
            Number::Whole(number) => Ok(Operand::Number(Amount::Whole(*number))),
            other => match Amount::parse(&other.text()) {
                Some(amount) => Ok(Operand::Number(amount)),
                None => Err(Error::failed("java.lang.NumberFormatException")),
            },
        }
    }

    /// Converts an item of a list (`ValueNode.toValueNode`).
    fn of_item<'v>(value: &'v Value<'_>) -> Result<Operand<'v, 'v>, Error> {
        Ok(match value {
            Value::Null => Operand::Null,
            Value::Bool(value) => Operand::Bool(*value),
            Value::Number(number) => match Operand::of_number(number)? {
                Operand::Number(amount) => Operand::Number(amount),
                _ => Operand::Undefined,
            },
            Value::String(text) if is_path_or_json(text) => Operand::Undefined,
            Value::String(text) => Operand::String(without_quotes(text)?),
            Value::Array(_) | Value::Object(_) => {
                return Err(Error::failed("Could not determine value type"));
            }
        })
    }

    /// The number of items, if this is an array.
    fn array_length(&self) -> Option<usize> {
        let length = |value: &Value<'_>| match value {
            Value::Array(items) => Some(items.len()),
            _ => None,
        };
        match self {
            Operand::Json(node) => length(node),
            Operand::Literal(value) => length(value),
            _ => None,
        }
    }

    /// The items, if this is an array; `None` if it is an object.
    pub(super) fn list(&self) -> Result<Option<Vec<Operand<'_, '_>>>, Error> {
        let items = match self {
            Operand::Json(node) => match &**node {
                Value::Array(items) => items.iter().map(Operand::of_item).collect(),
                _ => return Ok(None),
            },
            Operand::Literal(Value::Array(items)) => items.iter().map(Operand::of_item).collect(),
            Operand::Literal(_) => return Ok(None),
            _ => return Err(Error::invalid("Expected value list node")),
        };
        Result::map(items, Some)
    }

    pub(super) fn is_in(&self, list: &[Operand<'_, '_>]) -> bool {
        list.iter().any(|item| self.equals(item))
    }

    /// `equals`: a string equals a number if it parses to that number.
    pub(super) fn equals(&self, other: &Operand<'_, '_>) -> bool {
        match (self, other) {
            (Operand::String(a), Operand::String(b)) => a == b,
            (Operand::String(a), Operand::Number(b)) => *a == b.text(),
            (Operand::Number(a), Operand::Number(b)) => a.compare(b).is_eq(),
            (Operand::Number(a), Operand::String(b)) => {
                Decimal::parse(b).is_some_and(|b| a.compare(&Amount::Decimal(b)).is_eq())
            }
            (Operand::Bool(a), Operand::Bool(b)) => a == b,
            (Operand::Null, Operand::Null) => true,
            (Operand::Json(a), Operand::Json(b)) => a.java_equals(b),
            // JsonNode compares its own parsed value, but a literal's is still text.
            (Operand::Json(a), Operand::Literal(b)) => a.java_equals(b),
            _ => false,
        }
    }

    pub(super) fn same_type(&self, other: &Operand<'_, '_>) -> bool {
        matches!(
            (self, other),
            (Operand::String(_), Operand::String(_))
                | (Operand::Number(_), Operand::Number(_))
                | (Operand::Bool(_), Operand::Bool(_))
                | (Operand::Null, Operand::Null)
                | (
                    Operand::Json(_) | Operand::Literal(_),
                    Operand::Json(_) | Operand::Literal(_)
                )
                | (Operand::Pattern(_), Operand::Pattern(_))
                | (Operand::Undefined, Operand::Undefined)
        )
    }

    /// Numbers can only be compared with numbers, and strings with strings.
    pub(super) fn order(&self, other: &Operand<'_, '_>) -> Option<Ordering> {
        match (self, other) {
            (Operand::Number(a), Operand::Number(b)) => Some(a.compare(b)),
            (Operand::String(a), Operand::String(b)) => {
                Some(a.encode_utf16().cmp(b.encode_utf16()))
            }
            _ => None,
        }
    }

    pub(super) fn as_bool(&self) -> Option<bool> {
        match self {
            Operand::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub(super) fn matches(&self, other: &Operand<'_, '_>) -> Result<bool, Error> {
        let (pattern, input) = match (self, other) {
            (Operand::Pattern(_), Operand::Pattern(_)) => return Ok(false),
            (Operand::Pattern(pattern), input) | (input, Operand::Pattern(pattern)) => {
                (pattern, input)
            }
            _ => return Ok(false),
        };
        if input.array_length().is_none() {
            return Ok(pattern.full_match(&input.input()));
        }
        let items = input.list()?.unwrap_or_default();
        Ok(items.iter().any(|item| pattern.full_match(&item.input())))
    }

    /// The text that regular expressions match.
    fn input(&self) -> Cow<'_, str> {
        match self {
            Operand::String(text) => Cow::Borrowed(text),
            Operand::Number(amount) => Cow::Owned(amount.text()),
            Operand::Bool(true) => Cow::Borrowed("true"),
            Operand::Bool(false) => Cow::Borrowed("false"),
            _ => Cow::Borrowed(""),
        }
    }

    pub(super) fn contains(&self, other: &Operand<'_, '_>) -> Result<bool, Error> {
        if let (Operand::String(text), Operand::String(part)) = (self, other) {
            return Ok(text.contains(&**part));
        }
        if !matches!(self, Operand::Json(_) | Operand::Literal(_)) {
            return Ok(false);
        }
        Ok(self.list()?.is_some_and(|list| other.is_in(&list)))
    }

    pub(super) fn has_size(&self, other: &Operand<'_, '_>) -> bool {
        let Operand::Number(size) = other else {
            return false;
        };
        let Some(size) = size.decimal().to_i64() else {
            return false;
        };
        match self {
            Operand::String(text) => text.encode_utf16().count() as i64 == size,
            Operand::Json(_) | Operand::Literal(_) => {
                self.array_length()
                    .map(|length| length as i64)
                    .unwrap_or(-1)
                    == size
            }
            _ => false,
        }
    }

    pub(super) fn is_empty(&self, other: &Operand<'_, '_>) -> Result<bool, Error> {
        let empty = match self {
            Operand::String(text) => text.is_empty(),
            Operand::Json(_) | Operand::Literal(_) => {
                match self.array_length() {
                    Some(length) => length == 0,
                    // JsonNode.isEmpty treats an object as a collection.
                    None => {
                        return Err(Error::failed(
                            "class java.util.LinkedHashMap cannot be cast to class java.util.Collection \
                             (java.util.LinkedHashMap and java.util.Collection are in module java.base of loader \
                             'bootstrap')",
                        ));
                    }
                }
            }
            _ => return Ok(false),
        };
        match other {
            Operand::Bool(wanted) => Ok(empty == *wanted),
            _ => Err(Error::invalid("Expected boolean node")),
        }
    }
}

/// Whether a string in a list parses as a path or as JSON; it then becomes a separate node type,
/// which equals nothing.
fn is_path_or_json(text: &str) -> bool {
    let text = trim(text);
    match (text.chars().next(), text.chars().next_back()) {
        (Some('@' | '$'), _) => compile::compile(text).is_ok(),
        (Some('['), Some(']')) | (Some('{'), Some('}')) => Json::parse(text).is_ok(),
        _ => false,
    }
}

/// Removes the quotes and escapes of a string in a list.
fn without_quotes(text: &str) -> Result<Cow<'_, str>, Error> {
    if text.chars().nth(1).is_none() {
        return Ok(Cow::Borrowed(text));
    }
    let inner = ['\'', '"']
        .into_iter()
        .find_map(|quote| text.strip_prefix(quote)?.strip_suffix(quote));
    let text = inner.unwrap_or(text);
    if text.contains('\\') {
        unescape(text).map(Cow::Owned)
    } else {
        Ok(Cow::Borrowed(text))
    }
}
