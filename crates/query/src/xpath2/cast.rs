//! `cast as`, `castable as`, `instance of`.

use bigdecimal::{BigDecimal, FromPrimitive, RoundingMode, ToPrimitive, Zero};
use xpath_eval::Axis;

use super::ast::{AtomicType, ItemType, SequenceType};
use super::item::{Atom, Item, Number, Outcome, cast as to_double, double_text, fail, trimmed};
use super::node_test::passes;

/// An atom as another type.
///
/// # Errors
/// If its text is none of the type's, in Saxon's words.
pub(super) fn cast(atom: Atom, to: AtomicType) -> Outcome<Atom> {
    Ok(match to {
        AtomicType::AnyAtomic | AtomicType::Numeric => atom,
        AtomicType::Untyped => Atom::Untyped(text(atom)),
        AtomicType::Text => Atom::Text(text(atom)),
        AtomicType::Bool => Atom::Bool(truth(&atom)?),
        AtomicType::Double => Atom::Number(Number::Double(match &atom {
            Atom::Untyped(text) | Atom::Text(text) => to_double(text)?,
            Atom::Number(number) => number.as_f64(),
            Atom::Bool(value) => f64::from(u8::from(*value)),
        })),
        AtomicType::Decimal => Atom::Number(Number::Decimal(decimal(&atom)?)),
        AtomicType::Whole => Atom::Number(Number::Whole(whole(&atom)?)),
        AtomicType::Bounded(name, least, most) => {
            let number = whole(&atom)?;
            if !(least..=most).contains(&number) {
                return fail(format!(
                    "Value {number} cannot be converted to integer subtype xs:{name}"
                ));
            }
            Atom::Number(Number::Whole(number))
        }
    })
}

fn text(atom: Atom) -> String {
    Item::from(atom).text()
}

pub(super) fn truth(atom: &Atom) -> Outcome<bool> {
    match atom {
        Atom::Untyped(text) | Atom::Text(text) => match trimmed(text) {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => fail(format!("The string \"{text}\" cannot be cast to a boolean")),
        },
        Atom::Number(Number::Decimal(number)) => Ok(!number.is_zero()),
        Atom::Number(number) => Ok(number.as_f64() != 0.0 && !number.as_f64().is_nan()),
        Atom::Bool(value) => Ok(*value),
    }
}

fn whole(atom: &Atom) -> Outcome<i64> {
    match atom {
        Atom::Untyped(text) | Atom::Text(text) => {
            let digits = trimmed(text);
            let unsigned = digits.strip_prefix(['+', '-']).unwrap_or(digits);
            match unsigned.is_empty() || unsigned.contains(|c: char| !c.is_ascii_digit()) {
                true => fail(format!("Cannot convert string \"{text}\" to an integer")),
                false => digits
                    .parse()
                    .or_else(|_| fail("whole numbers beyond 64 bits are not built")),
            }
        }
        Atom::Number(Number::Whole(number)) => Ok(*number),
        Atom::Number(Number::Double(number)) if !number.is_finite() => fail(format!(
            "Cannot convert double {} to an integer",
            double_text(*number)
        )),
        Atom::Number(number) => {
            let whole = match number {
                Number::Double(number) => BigDecimal::from_f64(number.trunc()),
                number => number.exact(),
            };
            let whole = whole.map(|whole| whole.with_scale_round(0, RoundingMode::Down));
            match whole.and_then(|whole| whole.to_i64()) {
                Some(whole) => Ok(whole),
                None => fail("whole numbers beyond 64 bits are not built"),
            }
        }
        Atom::Bool(value) => Ok(i64::from(*value)),
    }
}

fn decimal(atom: &Atom) -> Outcome<BigDecimal> {
    match atom {
        Atom::Untyped(text) | Atom::Text(text) => {
            let digits = trimmed(text);
            let is_digit = |c: char| c.is_ascii_digit() || matches!(c, '.' | '+' | '-');
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
        Atom::Number(Number::Double(number)) => match BigDecimal::from_f64(*number) {
            Some(decimal) => Ok(decimal),
            None => fail(format!(
                "Cannot convert double {} to xs:decimal",
                double_text(*number)
            )),
        },
        Atom::Number(number) => Ok(number.exact().unwrap_or_default()),
        Atom::Bool(value) => Ok(BigDecimal::from(i64::from(*value))),
    }
}

/// Whether items are what a type asks for.
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

fn is_of(atom: &Atom, wanted: AtomicType) -> bool {
    match wanted {
        AtomicType::AnyAtomic => true,
        AtomicType::Untyped => matches!(atom, Atom::Untyped(_)),
        AtomicType::Text => matches!(atom, Atom::Text(_)),
        AtomicType::Bool => matches!(atom, Atom::Bool(_)),
        AtomicType::Whole | AtomicType::Bounded(..) => {
            matches!(atom, Atom::Number(Number::Whole(_)))
        }
        AtomicType::Decimal => {
            matches!(atom, Atom::Number(Number::Whole(_) | Number::Decimal(_)))
        }
        AtomicType::Double => matches!(atom, Atom::Number(Number::Double(_))),
        AtomicType::Numeric => matches!(atom, Atom::Number(_)),
    }
}
