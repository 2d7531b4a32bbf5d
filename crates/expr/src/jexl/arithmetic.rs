//! `JexlArithmetic` in strict mode: operators on values of different types.

use std::cmp::Ordering;
use std::rc::Rc;

use drumfire_java::values::{double_to_string, parse_double, parse_long};
use num_bigint::BigInt;

use super::ast::Binary;
use super::{Dialect, JexlError};
use crate::text::Text;

/// A value during evaluation. Java's integer types up to `long` share one variant, because they print alike.
#[derive(Debug, Clone)]
pub(super) enum JexlValue<'e> {
    Null,
    Bool(bool),
    Int(i64),
    /// A `BigInteger`: a number that does not fit into `long`.
    Big(Rc<BigInt>),
    Double(f64),
    /// A Java `char`.
    Char(u16),
    Text(Text<'e>),
    /// An array.
    List(Rc<[JexlValue<'e>]>),
    /// A map with at most one entry.
    Map(Option<Rc<(JexlValue<'e>, JexlValue<'e>)>>),
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

impl From<String> for JexlValue<'_> {
    fn from(text: String) -> Self {
        JexlValue::Text(Text::Owned(text))
    }
}

fn null_operand() -> JexlError {
    JexlError::Jexl("null operand".to_owned())
}

fn not_a_number(text: &str) -> JexlError {
    JexlError::Java(format!(
        "java.lang.NumberFormatException: For input string: \"{text}\""
    ))
}

/// Converts a whole number to the smallest type that can hold it.
fn narrowed<'e>(number: BigInt) -> JexlValue<'e> {
    match i64::try_from(&number) {
        Ok(number) => JexlValue::Int(number),
        Err(_) => JexlValue::Big(Rc::new(number)),
    }
}

impl JexlValue<'_> {
    /// `Object.toString`; `None` for `null`.
    pub(super) fn print(&self) -> Result<Option<String>, JexlError> {
        Ok(Some(match self {
            JexlValue::Null => return Ok(None),
            JexlValue::Bool(value) => value.to_string(),
            JexlValue::Int(number) => number.to_string(),
            JexlValue::Big(number) => number.to_string(),
            JexlValue::Map(None) => "{}".to_owned(),
            JexlValue::Map(Some(entry)) => {
                let null = || "null".to_owned();
                let key = entry.0.print()?.unwrap_or_else(null);
                format!("{{{key}={}}}", entry.1.print()?.unwrap_or_else(null))
            }
            JexlValue::Double(number) => double_to_string(*number),
            JexlValue::Char(unit) => String::from_utf16_lossy(&[*unit]),
            JexlValue::Text(text) => text.as_str().to_owned(),
            JexlValue::Host(_) | JexlValue::List(_) => {
                return Err(JexlError::Unsupported("An object of Java".to_owned()));
            }
        }))
    }

    /// `JexlArithmetic.toString`: unlike in Java, NaN is empty and `null` an error.
    pub(super) fn to_text(&self) -> Result<String, JexlError> {
        match self {
            JexlValue::Double(number) if number.is_nan() => Ok(String::new()),
            _ => self.print()?.ok_or_else(null_operand),
        }
    }

    /// `JexlArithmetic.toBoolean`.
    pub(super) fn to_bool(&self) -> Result<bool, JexlError> {
        Ok(match self {
            JexlValue::Null => return Err(null_operand()),
            JexlValue::Bool(value) => *value,
            JexlValue::Int(number) => *number != 0,
            JexlValue::Double(number) => !number.is_nan() && *number != 0.0,
            JexlValue::Text(text) => !text.is_empty() && *text != "false",
            JexlValue::Big(number) => **number != BigInt::ZERO,
            JexlValue::Char(_) | JexlValue::Host(_) | JexlValue::List(_) | JexlValue::Map(_) => {
                true
            }
        })
    }

    /// `JexlArithmetic.toLong`.
    pub(super) fn to_long(&self) -> Result<i64, JexlError> {
        Ok(match self {
            JexlValue::Null => return Err(null_operand()),
            JexlValue::Bool(value) => i64::from(*value),
            JexlValue::Int(number) => *number,
            JexlValue::Double(number) => *number as i64,
            JexlValue::Char(unit) => i64::from(*unit),
            JexlValue::Text(text) if text.is_empty() => 0,
            JexlValue::Text(text) => parse_long(text).ok_or_else(|| not_a_number(text))?,
            // `BigInteger.longValue`: the lowest 64 bits.
            JexlValue::Big(number) => {
                let mut low = number.to_signed_bytes_le();
                low.resize(8, if **number < BigInt::ZERO { 0xFF } else { 0 });
                i64::from_le_bytes(low.try_into().expect("it has eight bytes"))
            }
            JexlValue::Host(_) | JexlValue::List(_) | JexlValue::Map(_) => {
                return Err(JexlError::Jexl("Long coercion".to_owned()));
            }
        })
    }

    /// `JexlArithmetic.toBigInteger`.
    fn to_big(&self) -> Result<BigInt, JexlError> {
        match self {
            JexlValue::Big(number) => Ok((**number).clone()),
            JexlValue::Text(text) if !text.is_empty() => {
                text.parse().map_err(|_| not_a_number(text))
            }
            other => other.to_long().map(BigInt::from),
        }
    }

    /// Whether the value is a number that does not fit into `long`.
    fn is_wide(&self) -> bool {
        match self {
            JexlValue::Big(_) => true,
            JexlValue::Text(text) => parse_long(text).is_none() && text.parse::<BigInt>().is_ok(),
            _ => false,
        }
    }

    /// `JexlArithmetic.toDouble`.
    pub(super) fn to_double(&self) -> Result<f64, JexlError> {
        Ok(match self {
            JexlValue::Null => return Err(null_operand()),
            JexlValue::Bool(value) => f64::from(u8::from(*value)),
            JexlValue::Int(number) => *number as f64,
            JexlValue::Big(number) => parse_double(&number.to_string()).unwrap_or(f64::NAN),
            JexlValue::Double(number) => *number,
            JexlValue::Char(unit) => f64::from(*unit),
            JexlValue::Text(text) if text.is_empty() => f64::NAN,
            JexlValue::Text(text) => parse_double(text).ok_or_else(|| not_a_number(text))?,
            JexlValue::Host(_) | JexlValue::List(_) | JexlValue::Map(_) => {
                return Err(JexlError::Jexl("Double coercion".to_owned()));
            }
        })
    }

    /// `isFloatingPointNumber`: includes texts with a point or an exponent.
    fn is_floating(&self, dialect: Dialect) -> bool {
        match self {
            JexlValue::Double(_) => true,
            JexlValue::Text(text) => match dialect {
                Dialect::Jexl2 => text.contains(['.', 'e', 'E']),
                Dialect::Jexl3 => looks_floating(text),
            },
            _ => false,
        }
    }

    fn is_integral(&self) -> bool {
        matches!(self, JexlValue::Int(_) | JexlValue::Char(_))
    }

    fn is_text(&self) -> bool {
        matches!(self, JexlValue::Text(_))
    }

    pub(super) fn is_null(&self) -> bool {
        matches!(self, JexlValue::Null)
    }
}

/// Matches `FLOAT_PATTERN` with at least one of its groups: `[+-]?\d*(\.\d*)?([eE][+-]?\d+)?`.
fn looks_floating(text: &str) -> bool {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    rest = &rest[digits(rest)..];
    let mut has_point_or_exponent = false;
    if let Some(fraction) = rest.strip_prefix('.') {
        rest = &fraction[digits(fraction)..];
        has_point_or_exponent = true;
    }
    if let Some(exponent) = rest.strip_prefix(['e', 'E']) {
        let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        let len = digits(exponent);
        if len == 0 {
            return false;
        }
        rest = &exponent[len..];
        has_point_or_exponent = true;
    }
    has_point_or_exponent && rest.is_empty()
}

fn digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

/// Applies a binary operator.
pub(super) fn binary<'e>(
    operator: Binary,
    left: &JexlValue<'e>,
    right: &JexlValue<'e>,
    dialect: Dialect,
) -> Result<JexlValue<'e>, JexlError> {
    match operator {
        Binary::Add => add(left, right, dialect),
        Binary::Subtract | Binary::Multiply | Binary::Divide | Binary::Modulo => {
            calculate(operator, left, right, dialect)
        }
        Binary::BitAnd => Ok(JexlValue::Int(left.to_long()? & right.to_long()?)),
        Binary::BitOr => Ok(JexlValue::Int(left.to_long()? | right.to_long()?)),
        Binary::BitXor => Ok(JexlValue::Int(left.to_long()? ^ right.to_long()?)),
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

fn truth(result: Result<bool, JexlError>) -> Result<JexlValue<'static>, JexlError> {
    result.map(JexlValue::Bool)
}

fn negated(result: Result<bool, JexlError>) -> Result<JexlValue<'static>, JexlError> {
    result.map(|value| JexlValue::Bool(!value))
}

/// JEXL 3 concatenates if either side is a text; JEXL 2 first tries to convert both to numbers.
fn add<'e>(
    left: &JexlValue<'e>,
    right: &JexlValue<'e>,
    dialect: Dialect,
) -> Result<JexlValue<'e>, JexlError> {
    if dialect == Dialect::Jexl2 || !(left.is_text() || right.is_text()) {
        match calculate(Binary::Add, left, right, dialect) {
            Err(JexlError::Java(_)) => {}
            outcome => return outcome,
        }
    }
    Ok(JexlValue::from(left.to_text()? + &right.to_text()?))
}

fn calculate<'e>(
    operator: Binary,
    left: &JexlValue<'e>,
    right: &JexlValue<'e>,
    dialect: Dialect,
) -> Result<JexlValue<'e>, JexlError> {
    if left.is_floating(dialect) || right.is_floating(dialect) {
        let (left, right) = (left.to_double()?, right.to_double()?);
        return Ok(JexlValue::Double(match operator {
            Binary::Add => left + right,
            Binary::Subtract => left - right,
            Binary::Multiply => left * right,
            Binary::Divide if right == 0.0 => return Err(by_zero("/")),
            Binary::Divide => left / right,
            _ if right == 0.0 => return Err(by_zero("%")),
            _ => left % right,
        }));
    }
    let truth = |value: &JexlValue<'_>| matches!(value, JexlValue::Bool(_));
    if dialect == Dialect::Jexl2 && (truth(left) || truth(right)) {
        return Err(JexlError::Jexl(
            "BigInteger coercion of a boolean".to_owned(),
        ));
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
        // `BigInteger.mod` is never negative. JEXL 2 always uses it, JEXL 3 unless both operands are integers.
        _ if never_negative && right < 0 => {
            return Err(JexlError::Jexl(
                "BigInteger: modulus not positive".to_owned(),
            ));
        }
        _ if never_negative => left.checked_rem_euclid(right),
        _ => left.checked_rem(right),
    };
    match result {
        Some(number) => Ok(JexlValue::Int(number)),
        None => calculate_big(operator, &left.into(), &right.into()),
    }
}

/// Applies `BigInteger`'s operators; the result has the smallest type that can hold it.
fn calculate_big<'e>(
    operator: Binary,
    left: &BigInt,
    right: &BigInt,
) -> Result<JexlValue<'e>, JexlError> {
    Ok(narrowed(match operator {
        Binary::Add => left + right,
        Binary::Subtract => left - right,
        Binary::Multiply => left * right,
        Binary::Divide if *right == BigInt::ZERO => return Err(by_zero("/")),
        Binary::Divide => left / right,
        _ if *right == BigInt::ZERO => return Err(by_zero("%")),
        _ if *right < BigInt::ZERO => {
            return Err(JexlError::Jexl(
                "BigInteger: modulus not positive".to_owned(),
            ));
        }
        _ => ((left % right) + right) % right,
    }))
}

fn by_zero(operator: &str) -> JexlError {
    JexlError::Jexl(format!("{operator} error: division by zero"))
}

/// `JexlArithmetic.negate`.
pub(super) fn negate<'e>(value: &JexlValue<'e>) -> Result<JexlValue<'e>, JexlError> {
    match value {
        JexlValue::Int(number) => Ok(narrowed(-BigInt::from(*number))),
        JexlValue::Big(number) => Ok(narrowed(-(**number).clone())),
        JexlValue::Double(number) => Ok(JexlValue::Double(-number)),
        JexlValue::Bool(value) => Ok(JexlValue::Bool(!value)),
        JexlValue::Null => Err(null_operand()),
        _ => Err(JexlError::Jexl("- error".to_owned())),
    }
}

/// `JexlArithmetic.positivize`.
pub(super) fn positivize<'e>(value: JexlValue<'e>) -> Result<JexlValue<'e>, JexlError> {
    match value {
        JexlValue::Int(_) | JexlValue::Big(_) | JexlValue::Double(_) | JexlValue::Bool(_) => {
            Ok(value)
        }
        JexlValue::Char(unit) => Ok(JexlValue::Int(unit.into())),
        _ => Err(JexlError::Jexl("+ error".to_owned())),
    }
}

fn equals(left: &JexlValue<'_>, right: &JexlValue<'_>) -> Result<bool, JexlError> {
    match (left, right) {
        (JexlValue::Null, JexlValue::Null) => Ok(true),
        (JexlValue::Null, _) | (_, JexlValue::Null) => Ok(false),
        (JexlValue::Bool(_), _) | (_, JexlValue::Bool(_)) => {
            Ok(left.to_bool()? == right.to_bool()?)
        }
        (JexlValue::Host(left), JexlValue::Host(right)) => Ok(left == right),
        _ => Ok(compare(left, right)? == Ordering::Equal),
    }
}

fn or_equal(
    left: &JexlValue<'_>,
    right: &JexlValue<'_>,
    wanted: Ordering,
) -> Result<bool, JexlError> {
    if left.is_null() && right.is_null() {
        return Ok(true);
    }
    compares(left, right, |order| {
        order == wanted || order == Ordering::Equal
    })
}

/// Comparisons with `null` are false.
fn compares(
    left: &JexlValue<'_>,
    right: &JexlValue<'_>,
    wanted: impl Fn(Ordering) -> bool,
) -> Result<bool, JexlError> {
    if left.is_null() || right.is_null() {
        return Ok(false);
    }
    compare(left, right).map(wanted)
}

/// `JexlArithmetic.compare`: as doubles, else as longs, else as texts. NaN precedes all numbers.
fn compare(left: &JexlValue<'_>, right: &JexlValue<'_>) -> Result<Ordering, JexlError> {
    if matches!(left, JexlValue::Double(_)) || matches!(right, JexlValue::Double(_)) {
        let (left, right) = (left.to_double()?, right.to_double()?);
        let order = left.partial_cmp(&right);
        return Ok(order.unwrap_or_else(|| right.is_nan().cmp(&left.is_nan())));
    }
    if matches!(left, JexlValue::Big(_)) || matches!(right, JexlValue::Big(_)) {
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
        (JexlValue::Bool(left), JexlValue::Bool(right)) => Ok(left.cmp(right)),
        _ => Err(JexlError::Unsupported("A comparison of objects".to_owned())),
    }
}

/// `=~`: whether the regular expression on the right matches the whole left side.
fn matches(left: &JexlValue<'_>, right: &JexlValue<'_>) -> Result<bool, JexlError> {
    match (left, right) {
        (JexlValue::Null, JexlValue::Null) => Ok(true),
        (JexlValue::Null, _) | (_, JexlValue::Null) => Ok(false),
        (_, JexlValue::List(items)) => among(left, items),
        (_, JexlValue::Map(entry)) => match entry {
            Some(entry) => among(left, std::slice::from_ref(&entry.0)),
            None => Ok(false),
        },
        (_, JexlValue::Text(pattern)) => {
            let text = left.print()?.unwrap_or_default();
            super::methods::full_match(&text, pattern)
        }
        _ => equals(left, right),
    }
}

/// Whether the text is one of several texts; other values are compared as Java's collections do.
fn among(wanted: &JexlValue<'_>, items: &[JexlValue<'_>]) -> Result<bool, JexlError> {
    let JexlValue::Text(wanted) = wanted else {
        return Err(JexlError::Unsupported(
            "A search for something that is not text".to_owned(),
        ));
    };
    if items.iter().any(|item| !item.is_text()) {
        return Err(JexlError::Unsupported(
            "A search in something that is not text".to_owned(),
        ));
    }
    Ok(items
        .iter()
        .any(|item| matches!(item, JexlValue::Text(text) if **text == **wanted)))
}

/// The values that a loop iterates over.
pub(super) fn items_of<'e>(value: &JexlValue<'e>) -> Result<Vec<JexlValue<'e>>, JexlError> {
    match value {
        JexlValue::Null | JexlValue::Map(None) => Ok(Vec::new()),
        JexlValue::List(items) => Ok(items.to_vec()),
        JexlValue::Map(Some(entry)) => Ok(vec![entry.1.clone()]),
        _ => Err(JexlError::Unsupported(
            "A loop through an object".to_owned(),
        )),
    }
}

fn affix(
    left: &JexlValue<'_>,
    right: &JexlValue<'_>,
    test: impl Fn(&str, &str) -> bool,
) -> Result<bool, JexlError> {
    match (left, right) {
        (JexlValue::Null, JexlValue::Null) => Ok(true),
        (JexlValue::Null, _) | (_, JexlValue::Null) => Ok(false),
        (JexlValue::Text(text), _) => Ok(test(text, &right.to_text()?)),
        _ => equals(left, right),
    }
}
