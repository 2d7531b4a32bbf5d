//! `cast as`, `castable as`, `instance of`.

use bigdecimal::{BigDecimal, FromPrimitive, RoundingMode, ToPrimitive, Zero};
use xpath_eval::Axis;

use super::ast::{AtomicType, ItemType, SequenceType};
use super::item::{
    AtomicValue, Item, Number, Outcome, cast as to_double, double_text, fail, trimmed,
};
use super::node_test::passes;

/// Casts an atomic value to another type.
///
/// # Errors
/// If its text is not valid for the type; with Saxon's message.
pub(super) fn cast(atom: AtomicValue, to: AtomicType) -> Outcome<AtomicValue> {
    Ok(match to {
        AtomicType::AnyAtomic | AtomicType::Numeric => atom,
        AtomicType::Untyped => AtomicValue::Untyped(text(atom)),
        AtomicType::Text => AtomicValue::Text(text(atom)),
        AtomicType::Bool => AtomicValue::Bool(truth(&atom)?),
        AtomicType::Double => AtomicValue::Number(Number::Double(match &atom {
            AtomicValue::Untyped(text) | AtomicValue::Text(text) => to_double(text)?,
            AtomicValue::Number(number) => number.as_f64(),
            AtomicValue::Bool(value) => f64::from(u8::from(*value)),
        })),
        AtomicType::Decimal => AtomicValue::Number(Number::Decimal(decimal(&atom)?)),
        AtomicType::Whole => AtomicValue::Number(Number::Whole(whole(&atom)?)),
        AtomicType::Bounded(name, least, most) => {
            let number = whole(&atom)?;
            if !(least..=most).contains(&number) {
                return fail(format!(
                    "Value {number} cannot be converted to integer subtype xs:{name}"
                ));
            }
            AtomicValue::Number(Number::Whole(number))
        }
    })
}

fn text(atom: AtomicValue) -> String {
    Item::from(atom).text()
}

pub(super) fn truth(atom: &AtomicValue) -> Outcome<bool> {
    match atom {
        AtomicValue::Untyped(text) | AtomicValue::Text(text) => match trimmed(text) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => fail(format!("The string \"{text}\" cannot be cast to a boolean")),
        },
        AtomicValue::Number(Number::Decimal(number)) => Ok(!number.is_zero()),
        AtomicValue::Number(number) => Ok(number.as_f64() != 0.0 && !number.as_f64().is_nan()),
        AtomicValue::Bool(value) => Ok(*value),
    }
}

fn whole(atom: &AtomicValue) -> Outcome<i64> {
    match atom {
        AtomicValue::Untyped(text) | AtomicValue::Text(text) => {
            let digits = trimmed(text);
            let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            if unsigned.is_empty() || unsigned.contains(|c: char| !c.is_ascii_digit()) {
                fail(format!("Cannot convert string \"{text}\" to an integer"))
            } else {
                digits
                    .parse()
                    .or_else(|_| fail("Drumfire does not support whole numbers beyond 64 bits"))
            }
        }
        AtomicValue::Number(Number::Whole(number)) => Ok(*number),
        AtomicValue::Number(Number::Double(number)) if !number.is_finite() => fail(format!(
            "Cannot convert double {} to an integer",
            double_text(*number)
        )),
        AtomicValue::Number(number) => {
            let whole = match number {
                Number::Double(number) => BigDecimal::from_f64(number.trunc()),
                number => number.exact(),
            };
            let whole = whole.map(|whole| whole.with_scale_round(0, RoundingMode::Down));
            match whole.and_then(|whole| whole.to_i64()) {
                Some(whole) => Ok(whole),
                None => fail("Drumfire does not support whole numbers beyond 64 bits"),
            }
        }
        AtomicValue::Bool(value) => Ok(i64::from(*value)),
    }
}

fn decimal(atom: &AtomicValue) -> Outcome<BigDecimal> {
    match atom {
        AtomicValue::Untyped(text) | AtomicValue::Text(text) => {
            let digits = trimmed(text);
            match digits.parse() {
                Ok(decimal) if digits.chars().all(is_digit) => Ok(decimal),
                _ => {
                    let invalid = text.chars().find(|c| !is_digit(*c)).unwrap_or('.');
                    fail(format!(
                        "Cannot convert string \"{text}\" to xs:decimal: invalid character '{invalid}'"
                    ))
                }
            }
        }
        AtomicValue::Number(Number::Double(number)) => match BigDecimal::from_f64(*number) {
            Some(decimal) => Ok(decimal),
            None => fail(format!(
                "Cannot convert double {} to xs:decimal",
                double_text(*number)
            )),
        },
        AtomicValue::Number(number) => Ok(number.exact().unwrap_or_default()),
        AtomicValue::Bool(value) => Ok(BigDecimal::from(i64::from(*value))),
    }
}

fn is_digit(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '.' | '+' | '-')
}

/// Whether the items match a sequence type.
pub(super) fn are_of(items: &[Item<'_>], wanted: &SequenceType) -> bool {
    (wanted.least..=wanted.most).contains(&items.len())
        && items.iter().all(|item| match &wanted.item {
            None => false,
            Some(ItemType::Item) => true,
            Some(ItemType::Node(test)) => {
                matches!(item, Item::Node(node) if passes(test, Axis::Child, *node))
            }
            Some(ItemType::Atomic(wanted)) => {
                !matches!(item, Item::Node(_)) && is_of(&item.atom(), *wanted)
            }
        })
}

fn is_of(atom: &AtomicValue, wanted: AtomicType) -> bool {
    match wanted {
        AtomicType::AnyAtomic => true,
        AtomicType::Untyped => matches!(atom, AtomicValue::Untyped(_)),
        AtomicType::Text => matches!(atom, AtomicValue::Text(_)),
        AtomicType::Bool => matches!(atom, AtomicValue::Bool(_)),
        AtomicType::Whole | AtomicType::Bounded(..) => {
            matches!(atom, AtomicValue::Number(Number::Whole(_)))
        }
        AtomicType::Decimal => {
            matches!(
                atom,
                AtomicValue::Number(Number::Whole(_) | Number::Decimal(_))
            )
        }
        AtomicType::Double => matches!(atom, AtomicValue::Number(Number::Double(_))),
        AtomicType::Numeric => matches!(atom, AtomicValue::Number(_)),
    }
}
