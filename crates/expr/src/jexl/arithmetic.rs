//! `JexlArithmetic`, strict: what operators do with values of different types.

use std::cmp::Ordering;
use std::rc::Rc;

use num_bigint::BigInt;

use super::ast::Binary;
use super::{Dialect, Failure};
use crate::text::Text;
use crate::values::{double_to_string, parse_double, parse_long};

/// A value while an expression is evaluated. Java's integer types up to `long` are one here, because they print alike.
#[derive(Debug, Clone)]
pub(super) enum Value<'e> {
    Null,
    Bool(bool),
    Int(i64),
    /// A `BigInteger`: what `long` does not hold.
    Big(Rc<BigInt>),
    Double(f64),
    /// A Java `char`.
    Char(u16),
    Text(Text<'e>),
    /// An array.
    List(Rc<[Value<'e>]>),
    /// A map of at most one entry.
    Map(Option<Rc<(Value<'e>, Value<'e>)>>),
    Host(Host),
}

/// The objects that JMeter puts into the context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Host {
    Vars,
    Props,
    Log,
    Context,
    Sampler,
    SampleResult,
    Out,
}

impl From<String> for Value<'_> {
    fn from(text: String) -> Self {
        Value::Text(Text::Owned(text))
    }
}

fn null_operand() -> Failure {
    Failure::Jexl("null operand".to_owned())
}

fn not_a_number(text: &str) -> Failure {
    Failure::Java(format!(
        "java.lang.NumberFormatException: For input string: \"{text}\""
    ))
}

/// A whole number in the smallest type that holds it.
fn narrowed<'e>(number: BigInt) -> Value<'e> {
    match i64::try_from(&number) {
        Ok(number) => Value::Int(number),
        Err(_) => Value::Big(Rc::new(number)),
    }
}

impl Value<'_> {
    /// `Object.toString`; `None` for `null`.
    pub(super) fn print(&self) -> Result<Option<String>, Failure> {
        Ok(Some(match self {
            Value::Null => return Ok(None),
            Value::Bool(value) => value.to_string(),
            Value::Int(number) => number.to_string(),
            Value::Big(number) => number.to_string(),
            Value::Map(None) => "{}".to_owned(),
            Value::Map(Some(entry)) => {
                let null = || "null".to_owned();
                let key = entry.0.print()?.unwrap_or_else(null);
                format!("{{{key}={}}}", entry.1.print()?.unwrap_or_else(null))
            }
            Value::Double(number) => double_to_string(*number),
            Value::Char(unit) => String::from_utf16_lossy(&[*unit]),
            Value::Text(text) => text.as_str().to_owned(),
            Value::Host(_) | Value::List(_) => {
                return Err(Failure::Unsupported("An object of Java".to_owned()));
            }
        }))
    }

    /// `JexlArithmetic.toString`: unlike Java's, NaN is empty and `null` an error.
    pub(super) fn to_text(&self) -> Result<String, Failure> {
        match self {
            Value::Double(number) if number.is_nan() => Ok(String::new()),
            _ => self.print()?.ok_or_else(null_operand),
        }
    }

    /// `JexlArithmetic.toBoolean`.
    pub(super) fn to_bool(&self) -> Result<bool, Failure> {
        Ok(match self {
            Value::Null => return Err(null_operand()),
            Value::Bool(value) => *value,
            Value::Int(number) => *number != 0,
            Value::Double(number) => !number.is_nan() && *number != 0.0,
            Value::Text(text) => !text.is_empty() && *text != "false",
            Value::Big(number) => **number != BigInt::ZERO,
            Value::Char(_) | Value::Host(_) | Value::List(_) | Value::Map(_) => true,
        })
    }

    /// `JexlArithmetic.toLong`.
    pub(super) fn to_long(&self) -> Result<i64, Failure> {
        Ok(match self {
            Value::Null => return Err(null_operand()),
            Value::Bool(value) => i64::from(*value),
            Value::Int(number) => *number,
            Value::Double(number) => *number as i64,
            Value::Char(unit) => i64::from(*unit),
            Value::Text(text) if text.is_empty() => 0,
            Value::Text(text) => parse_long(text).ok_or_else(|| not_a_number(text))?,
            // `BigInteger.longValue`: the lowest 64 bits.
            Value::Big(number) => {
                let mut low = number.to_signed_bytes_le();
                low.resize(8, if **number < BigInt::ZERO { 0xFF } else { 0 });
                i64::from_le_bytes(low.try_into().expect("it has eight bytes"))
            }
            Value::Host(_) | Value::List(_) | Value::Map(_) => {
                return Err(Failure::Jexl("Long coercion".to_owned()));
            }
        })
    }

    /// `JexlArithmetic.toBigInteger`.
    fn to_big(&self) -> Result<BigInt, Failure> {
        match self {
            Value::Big(number) => Ok((**number).clone()),
            Value::Text(text) if !text.is_empty() => text.parse().map_err(|_| not_a_number(text)),
            other => other.to_long().map(BigInt::from),
        }
    }

    /// Whether `long` does not hold the value as a number.
    fn is_wide(&self) -> bool {
        match self {
            Value::Big(_) => true,
            Value::Text(text) => parse_long(text).is_none() && text.parse::<BigInt>().is_ok(),
            _ => false,
        }
    }

    /// `JexlArithmetic.toDouble`.
    pub(super) fn to_double(&self) -> Result<f64, Failure> {
        Ok(match self {
            Value::Null => return Err(null_operand()),
            Value::Bool(value) => f64::from(u8::from(*value)),
            Value::Int(number) => *number as f64,
            Value::Big(number) => parse_double(&number.to_string()).unwrap_or(f64::NAN),
            Value::Double(number) => *number,
            Value::Char(unit) => f64::from(*unit),
            Value::Text(text) if text.is_empty() => f64::NAN,
            Value::Text(text) => parse_double(text).ok_or_else(|| not_a_number(text))?,
            Value::Host(_) | Value::List(_) | Value::Map(_) => {
                return Err(Failure::Jexl("Double coercion".to_owned()));
            }
        })
    }

    /// `isFloatingPointNumber`: also a text with a point or an exponent.
    fn is_floating(&self, dialect: Dialect) -> bool {
        match self {
            Value::Double(_) => true,
            Value::Text(text) => match dialect {
                Dialect::Jexl2 => text.contains(['.', 'e', 'E']),
                Dialect::Jexl3 => looks_floating(text),
            },
            _ => false,
        }
    }

    fn is_integral(&self) -> bool {
        matches!(self, Value::Int(_) | Value::Char(_))
    }

    fn is_text(&self) -> bool {
        matches!(self, Value::Text(_))
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, Value::Null)
    }
}

/// `FLOAT_PATTERN` with at least one of its groups: `[+-]?\d*(\.\d*)?([eE][+-]?\d+)?`.
fn looks_floating(text: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    rest = &rest[digits(rest)..];
    let mut found = false;
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = &fraction[digits(fraction)..];
        found = true;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let len = digits(exponent);
        if len == 0 {
            return false;
        }
        rest = &exponent[len..];
        found = true;
    }
    found && rest.is_empty()
}

/// An operator between two values.
pub(super) fn binary<'e>(
    operator: Binary,
    left: &Value<'e>,
    right: &Value<'e>,
    dialect: Dialect,
) -> Result<Value<'e>, Failure> {
    let truth = |result: Result<bool, Failure>| result.map(Value::Bool);
    let negated = |result: Result<bool, Failure>| result.map(|value| Value::Bool(!value));
    match operator {
        Binary::Add => add(left, right, dialect),
        Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Modulo => {
            calculate(operator, left, right, dialect)
        }
        Binary::BitAnd => Ok(Value::Int(left.to_long()? & right.to_long()?)),
        Binary::BitOr => Ok(Value::Int(left.to_long()? | right.to_long()?)),
        Binary::BitXor => Ok(Value::Int(left.to_long()? ^ right.to_long()?)),
        Binary::Equal => truth(equals(left, right)),
        Binary::NotEqual => negated(equals(left, right)),
        Binary::Less => truth(compares(left, right, |order| order == Ordering::Less)),
        Binary::Greater => truth(compares(left, right, |order| order == Ordering::Greater)),
        Binary::LessOrEqual => truth(or_equal(left, right, Ordering::Less)),
        Binary::GreaterOrEqual => truth(or_equal(left, right, Ordering::Greater)),
        Binary::Matches => truth(matches(left, right)),
        Binary::NotMatches => negated(matches(left, right)),
        Binary::StartsWith => truth(affix(left, right, |text, part| text.starts_with(part))),
        Binary::NotStartsWith => negated(affix(left, right, |text, part| text.starts_with(part))),
        Binary::EndsWith => truth(affix(left, right, |text, part| text.ends_with(part))),
        Binary::NotEndsWith => negated(affix(left, right, |text, part| text.ends_with(part))),
    }
}

/// JEXL 3 concatenates as soon as one side is a text; JEXL 2 first tries to make numbers of both.
fn add<'e>(left: &Value<'e>, right: &Value<'e>, dialect: Dialect) -> Result<Value<'e>, Failure> {
    if dialect == Dialect::Jexl2 || !(left.is_text() || right.is_text()) {
        match calculate(Binary::Add, left, right, dialect) {
            Err(Failure::Java(_)) => {}
            outcome => return outcome,
        }
    }
    Ok(Value::from(left.to_text()? + &right.to_text()?))
}

fn calculate<'e>(
    operator: Binary,
    left: &Value<'e>,
    right: &Value<'e>,
    dialect: Dialect,
) -> Result<Value<'e>, Failure> {
    if left.is_floating(dialect) || right.is_floating(dialect) {
        let (left, right) = (left.to_double()?, right.to_double()?);
        return Ok(Value::Double(match operator {
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            Binary::Multiply => left * right,
            Binary::Divide if right == 0.0 => return Err(by_zero("/")),
            Binary::Divide => left / right,
            _ if right == 0.0 => return Err(by_zero("%")),
            _ => left % right,
        }));
    }
    let truth = |value: &Value<'_>| matches!(value, Value::Bool(_));
    if dialect == Dialect::Jexl2 && (truth(left) || truth(right)) {
        return Err(Failure::Jexl("BigInteger coercion of a boolean".to_owned()));
    }
    if left.is_wide() || right.is_wide() {
        return calculate_big(operator, &left.to_big()?, &right.to_big()?);
    }
    let big = dialect == Dialect::Jexl2 || !(left.is_integral() && right.is_integral());
    let never_negative = operator == Binary::Modulo && big;
    let (left, right) = (left.to_long()?, right.to_long()?);
    let result = match operator {
        Binary::Add => left.checked_add(right),
        Binary::Subtract => left.checked_sub(right),
        Binary::Multiply => left.checked_mul(right),
        Binary::Divide if right == 0 => return Err(by_zero("/")),
        Binary::Divide => left.checked_div(right),
        _ if right == 0 => return Err(by_zero("%")),
        // `BigInteger.mod`, used by JEXL 2 and for texts, is never negative.
        _ if never_negative && right < 0 => {
            return Err(Failure::Jexl("BigInteger: modulus not positive".to_owned()));
        }
        _ if never_negative => left.checked_rem_euclid(right),
        _ => left.checked_rem(right),
    };
    match result {
        Some(number) => Ok(Value::Int(number)),
        None => calculate_big(operator, &left.into(), &right.into()),
    }
}

/// `BigInteger`'s operators, and the smallest type that holds their result.
fn calculate_big<'e>(
    operator: Binary,
    left: &BigInt,
    right: &BigInt,
) -> Result<Value<'e>, Failure> {
    Ok(narrowed(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide if *right == BigInt::ZERO => return Err(by_zero("/")),
        Binary::Divide => left / right,
        _ if *right == BigInt::ZERO => return Err(by_zero("%")),
        _ if *right < BigInt::ZERO => {
            return Err(Failure::Jexl("BigInteger: modulus not positive".to_owned()));
        }
        _ => ((left % right) + right) % right,
    }))
}

fn by_zero(operator: &str) -> Failure {
    Failure::Jexl(format!("{operator} error: division by zero"))
}

/// `JexlArithmetic.negate`.
pub(super) fn negate<'e>(value: &Value<'e>) -> Result<Value<'e>, Failure> {
    match value {
        Value::Int(number) => Ok(narrowed(-BigInt::from(*number))),
        Value::Big(number) => Ok(narrowed(-(**number).clone())),
        Value::Double(number) => Ok(Value::Double(-number)),
        Value::Bool(value) => Ok(Value::Bool(!value)),
        Value::Null => Err(null_operand()),
        _ => Err(Failure::Jexl("- error".to_owned())),
    }
}

/// `JexlArithmetic.positivize`.
pub(super) fn positivize<'e>(value: Value<'e>) -> Result<Value<'e>, Failure> {
    match value {
        Value::Int(_) | Value::Big(_) | Value::Double(_) | Value::Bool(_) => Ok(value),
        Value::Char(unit) => Ok(Value::Int(unit.into())),
        _ => Err(Failure::Jexl("+ error".to_owned())),
    }
}

fn equals(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Failure> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Bool(_), _) | (_, Value::Bool(_)) => Ok(left.to_bool()? == right.to_bool()?),
        (Value::Host(left), Value::Host(right)) => Ok(left == right),
        _ => Ok(compare(left, right)? == Ordering::Equal),
    }
}

fn or_equal(left: &Value<'_>, right: &Value<'_>, wanted: Ordering) -> Result<bool, Failure> {
    if left.is_null() && right.is_null() {
        return Ok(true);
    }
    compares(left, right, |order| {
        order == wanted || order == Ordering::Equal
    })
}

/// `null` compares to nothing.
fn compares(
    left: &Value<'_>,
    right: &Value<'_>,
    wanted: impl Fn(Ordering) -> bool,
) -> Result<bool, Failure> {
    if left.is_null() || right.is_null() {
        return Ok(false);
    }
    compare(left, right).map(wanted)
}

/// `JexlArithmetic.compare`: as doubles, else as longs, else as texts. NaN is smaller than any number.
fn compare(left: &Value<'_>, right: &Value<'_>) -> Result<Ordering, Failure> {
    if matches!(left, Value::Double(_)) || matches!(right, Value::Double(_)) {
        let (left, right) = (left.to_double()?, right.to_double()?);
        let order = left.partial_cmp(&right);
        return Ok(order.unwrap_or_else(|| right.is_nan().cmp(&left.is_nan())));
    }
    if matches!(left, Value::Big(_)) || matches!(right, Value::Big(_)) {
        return Ok(left.to_big()?.cmp(&right.to_big()?));
    }
    if left.is_integral() || right.is_integral() {
        return Ok(left.to_long()?.cmp(&right.to_long()?));
    }
    if left.is_text() || right.is_text() {
        let (left, right) = (left.to_text()?, right.to_text()?);
        return Ok(left.encode_utf16().cmp(right.encode_utf16()));
    }
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => Ok(left.cmp(right)),
        _ => Err(Failure::Unsupported("A comparison of objects".to_owned())),
    }
}

/// `=~`: the right side is a regular expression for all of the left side.
fn matches(left: &Value<'_>, right: &Value<'_>) -> Result<bool, Failure> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (_, Value::List(items)) => among(left, items),
        (_, Value::Map(entry)) => match entry {
            Some(entry) => among(left, std::slice::from_ref(&entry.0)),
            None => Ok(false),
        },
        (_, Value::Text(pattern)) => {
            let text = left.print()?.unwrap_or_default();
            super::methods::full_match(&text, pattern)
        }
        _ => equals(left, right),
    }
}

/// Whether a text is among texts; anything else is compared as Java's collections do.
fn among(wanted: &Value<'_>, items: &[Value<'_>]) -> Result<bool, Failure> {
    let Value::Text(wanted) = wanted else {
        return Err(Failure::Unsupported(
            "A search for what is no text".to_owned(),
        ));
    };
    if items.iter().any(|item| !item.is_text()) {
        return Err(Failure::Unsupported(
            "A search among what is no text".to_owned(),
        ));
    }
    let is_wanted = |item: &Value<'_>| matches!(item, Value::Text(text) if **text == **wanted);
    Ok(items.iter().any(is_wanted))
}

/// The values that a loop iterates over.
pub(super) fn items_of<'e>(value: &Value<'e>) -> Result<Vec<Value<'e>>, Failure> {
    match value {
        Value::Null | Value::Map(None) => Ok(Vec::new()),
        Value::List(items) => Ok(items.to_vec()),
        Value::Map(Some(entry)) => Ok(vec![entry.1.clone()]),
        _ => Err(Failure::Unsupported("A loop through an object".to_owned())),
    }
}

fn affix(
    left: &Value<'_>,
    right: &Value<'_>,
    test: impl Fn(&str, &str) -> bool,
) -> Result<bool, Failure> {
    match (left, right) {
        (Value::Null, Value::Null) => Ok(true),
        (Value::Null, _) | (_, Value::Null) => Ok(false),
        (Value::Text(text), _) => Ok(test(text, &right.to_text()?)),
        _ => equals(left, right),
    }
}
