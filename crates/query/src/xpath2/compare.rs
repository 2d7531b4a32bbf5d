//! Boolean values and the order of atoms.

use std::cmp::Ordering;

use super::cast::truth as atom_truth;
use super::item::{Atom, Item, Number, Outcome, cast, fail};

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

/// How two atoms compare; `None` where one is not a number.
///
/// # Errors
/// If their types cannot be compared.
pub(super) fn order(a: &Atom, b: &Atom) -> Outcome<Option<Ordering>> {
    Ok(match (a, b) {
        (Atom::Untyped(a) | Atom::Text(a), Atom::Untyped(b) | Atom::Text(b)) => Some(a.cmp(b)),
        (Atom::Number(Number::Whole(a)), Atom::Number(Number::Whole(b))) => Some(a.cmp(b)),
        (Atom::Number(a), Atom::Number(b)) => match (a.exact(), b.exact()) {
            (Some(a), Some(b)) => Some(a.cmp(&b)),
            _ => a.as_f64().partial_cmp(&b.as_f64()),
        },
        (Atom::Untyped(a), Atom::Number(b)) => cast(a)?.partial_cmp(&b.as_f64()),
        (Atom::Number(a), Atom::Untyped(b)) => a.as_f64().partial_cmp(&cast(b)?),
        (Atom::Bool(a), Atom::Bool(b)) => Some(a.cmp(b)),
        (a @ Atom::Untyped(_), Atom::Bool(b)) => Some(atom_truth(a)?.cmp(b)),
        (Atom::Bool(a), b @ Atom::Untyped(_)) => Some(a.cmp(&atom_truth(b)?)),
        (a, b) => {
            return fail(format!(
                "cannot compare {} to {}",
                a.type_name(),
                b.type_name()
            ));
        }
    })
}
