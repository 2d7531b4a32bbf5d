//! Items of a sequence.

use bigdecimal::{BigDecimal, ToPrimitive};
use xpath_eval::{Node, NodeKind};

use crate::xpath::{NodeRef, XPathError};

/// A sequence.
pub(super) type Items<'t> = Vec<Item<'t>>;
pub(super) type Outcome<T> = Result<T, XPathError>;

/// A failed evaluation.
pub(super) fn fail<T>(message: impl Into<String>) -> Outcome<T> {
    Err(XPathError::new(message))
}

/// One item.
#[derive(Clone, Debug)]
pub(super) enum Item<'t> {
    Node(NodeRef<'t>),
    /// The content of a node as an untyped value.
    Untyped(String),
    Text(String),
    Whole(i64),
    Decimal(BigDecimal),
    Double(f64),
    Bool(bool),
}

/// An atomic value; the content of a node is untyped.
#[derive(Clone, Debug)]
pub(super) enum AtomicValue {
    Untyped(String),
    Text(String),
    Number(Number),
    Bool(bool),
}

#[derive(Clone, Debug)]
pub(super) enum Number {
    Whole(i64),
    Decimal(BigDecimal),
    Double(f64),
}

impl Number {
    pub(super) fn as_f64(&self) -> f64 {
        match self {
            Number::Whole(number) => *number as f64,
            Number::Decimal(number) => number.to_f64().unwrap_or(f64::NAN),
            Number::Double(number) => *number,
        }
    }

    /// The exact value of a number that is not a double.
    pub(super) fn exact(&self) -> Option<BigDecimal> {
        match self {
            Number::Whole(number) => Some(BigDecimal::from(*number)),
            Number::Decimal(number) => Some(number.clone()),
            Number::Double(_) => None,
        }
    }
}

impl From<Number> for Item<'_> {
    fn from(number: Number) -> Self {
        match number {
            Number::Whole(number) => Item::Whole(number),
            Number::Decimal(number) => Item::Decimal(number),
            Number::Double(number) => Item::Double(number),
        }
    }
}

impl Item<'_> {
    pub(super) fn text(&self) -> String {
        match self {
            Item::Node(node) => node.string_value(),
            Item::Untyped(text) | Item::Text(text) => text.clone(),
            Item::Whole(number) => number.to_string(),
            Item::Decimal(number) => number.normalized().to_plain_string(),
            Item::Double(number) => double_text(*number),
            Item::Bool(value) => value.to_string(),
        }
    }

    pub(super) fn atom(&self) -> AtomicValue {
        match self {
            Item::Node(node) => match node.kind() {
                NodeKind::Comment | NodeKind::ProcessingInstruction | NodeKind::Namespace => {
                    AtomicValue::Text(node.string_value())
                }
                _ => AtomicValue::Untyped(node.string_value()),
            },
            Item::Untyped(text) => AtomicValue::Untyped(text.clone()),
            Item::Text(text) => AtomicValue::Text(text.clone()),
            Item::Whole(number) => AtomicValue::Number(Number::Whole(*number)),
            Item::Decimal(number) => AtomicValue::Number(Number::Decimal(number.clone())),
            Item::Double(number) => AtomicValue::Number(Number::Double(*number)),
            Item::Bool(value) => AtomicValue::Bool(*value),
        }
    }
}

impl From<AtomicValue> for Item<'_> {
    fn from(atom: AtomicValue) -> Self {
        match atom {
            AtomicValue::Untyped(text) => Item::Untyped(text),
            AtomicValue::Text(text) => Item::Text(text),
            AtomicValue::Number(number) => number.into(),
            AtomicValue::Bool(value) => Item::Bool(value),
        }
    }
}

impl AtomicValue {
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            AtomicValue::Untyped(_) => "xs:untypedAtomic",
            AtomicValue::Text(_) => "xs:string",
            AtomicValue::Number(Number::Whole(_)) => "xs:integer",
            AtomicValue::Number(Number::Decimal(_)) => "xs:decimal",
            AtomicValue::Number(Number::Double(_)) => "xs:double",
            AtomicValue::Bool(_) => "xs:boolean",
        }
    }
}

/// Converts a value like `fn:number`: anything that is not a number becomes NaN.
pub(super) fn number(atom: &AtomicValue) -> f64 {
    match atom {
        AtomicValue::Untyped(text) | AtomicValue::Text(text) => parse(text).unwrap_or(f64::NAN),
        AtomicValue::Number(number) => number.as_f64(),
        AtomicValue::Bool(value) => f64::from(u8::from(*value)),
    }
}

/// Casts a node's text to a number.
pub(super) fn cast(text: &str) -> Result<f64, XPathError> {
    parse(text)
        .ok_or_else(|| XPathError::new(format!("Cannot convert string \"{text}\" to double")))
}

/// Trims the white space that schema types ignore.
pub(super) fn trimmed(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// Parses the lexical form of `xs:double`.
fn parse(text: &str) -> Option<f64> {
    let text = trimmed(text);
    match text {
        "INF" | "+INF" => Some(f64::INFINITY),
        "-INF" => Some(f64::NEG_INFINITY),
        "NaN" => Some(f64::NAN),
        _ if text.contains(|c: char| c.is_alphabetic() && !matches!(c, 'e' | 'E')) => None,
        _ => text.parse().ok(),
    }
}

/// Converts `xs:double` to `xs:string`: with an exponent from a million and below a
/// millionth.
pub(super) fn double_text(number: f64) -> String {
    let size = number.abs();
    if number.is_nan() {
        return "NaN".to_owned();
    }
    if number.is_infinite() {
        return if number > 0.0 { "INF" } else { "-INF" }.to_owned();
    }
    if size == 0.0 || (1e-6..1e6).contains(&size) {
        return number.to_string();
    }
    let text = format!("{number:E}");
    match text.split_once('E') {
        Some((digits, exponent)) if !digits.contains('.') => format!("{digits}.0E{exponent}"),
        _ => text,
    }
}
