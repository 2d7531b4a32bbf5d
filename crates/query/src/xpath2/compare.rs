//! Boolean values and the ordering of atomic values.

use std::cmp::Ordering;

use super::cast::truth as atom_truth;
use super::item::{AtomicValue, Item, Number, Outcome, cast, fail};

/// The effective boolean value.
pub(super) fn truth(items: &[Item<'_>]) -> Outcome<bool> {
    match items {
        [] => Ok(false),
        [Item::Node(_), ..] => Ok(true),
        [Item::Bool(value)] => Ok(*value),
        [Item::Untyped(text) | Item::Text(text)] => Ok(!text.is_empty()),
        [number] => atom_truth(&number.atom()),
        _ => fail("Effective boolean value is not defined for a sequence of two or more items"),
    }
}

/// The order of two atomic values; `None` if either is NaN.
///
/// # Errors
/// If their types cannot be compared.
pub(super) fn order(a: &AtomicValue, b: &AtomicValue) -> Outcome<Option<Ordering>> {
    Ok(match (a, b) {
        (
            AtomicValue::Untyped(a) | AtomicValue::Text(a),
            AtomicValue::Untyped(b) | AtomicValue::Text(b),
        ) => Some(a.cmp(b)),
        (AtomicValue::Number(Number::Whole(a)), AtomicValue::Number(Number::Whole(b))) => {
            Some(a.cmp(b))
        }
        (AtomicValue::Number(a), AtomicValue::Number(b)) => match (a.exact(), b.exact()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64().partial_cmp(&b.as_f64()),
        },
        (AtomicValue::Untyped(a), AtomicValue::Number(b)) => cast(a)?.partial_cmp(&b.as_f64()),
        (AtomicValue::Number(a), AtomicValue::Untyped(b)) => a.as_f64().partial_cmp(&cast(b)?),
        (AtomicValue::Bool(a), AtomicValue::Bool(b)) => Some(a.cmp(b)),
        (a @ AtomicValue::Untyped(_), AtomicValue::Bool(b)) => Some(atom_truth(a)?.cmp(b)),
        (AtomicValue::Bool(a), b @ AtomicValue::Untyped(_)) => Some(a.cmp(&atom_truth(b)?)),
        (a, b) => {
            return fail(format!(
                "cannot compare {} to {}",
                a.type_name(),
                b.type_name()
            ));
        }
    })
}
