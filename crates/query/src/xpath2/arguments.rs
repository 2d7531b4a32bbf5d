//! Checks the arguments of functions, with Saxon's messages.

use super::item::{AtomicValue, Item, Number, Outcome, cast, fail};

/// The only item, if there is one.
///
/// # Errors
/// If there are several. Where `atomized` Saxon shows their texts instead of their names.
pub(super) fn at_most_one<'a, 't>(
    items: &'a [Item<'t>],
    place: &str,
    atomized: bool,
) -> Outcome<Option<&'a Item<'t>>> {
    match items {
        [] => Ok(None),
        [item] => Ok(Some(item)),
        [first, second, ..] => {
            let shown = [first, second].map(|item| match item {
                Item::Node(node) if !atomized => format!("<{}>", node.qualified_name()),
                item => format!("\"{}\"", item.text()),
            });
            fail(format!(
                "A sequence of more than one item is not allowed as the {place} ({}) ",
                shown.join(", ")
            ))
        }
    }
}

/// The description of an argument in messages.
pub(super) fn place(index: usize, function: &str) -> String {
    let number = ["first", "second", "third"].get(index).unwrap_or(&"last");
    format!("{number} argument of fn:{function}()")
}

/// An argument that must be a string; an empty sequence gives an empty string.
///
/// # Errors
/// If there are several items, or one of another type.
pub(super) fn string(items: &[Item<'_>], index: usize, function: &str) -> Outcome<String> {
    let argument = place(index, function);
    let Some(item) = at_most_one(items, &argument, true)? else {
        return Ok(String::new());
    };
    match item.atom() {
        AtomicValue::Untyped(text) | AtomicValue::Text(text) => Ok(text),
        other => fail(format!(
            "The required item type of the {argument} is xs:string. The supplied value is of type {}",
            other.type_name()
        )),
    }
}

/// An argument that must be a number.
///
/// # Errors
/// If it is of another type.
pub(super) fn numeric(atom: &AtomicValue, name: &str) -> Outcome<Number> {
    match atom {
        AtomicValue::Number(number) => Ok(number.clone()),
        AtomicValue::Untyped(text) => cast(text).map(Number::Double),
        other => fail(format!(
            "The required item type of the {} is xs:numeric. The required type is a union type allowing any of (xs:double, xs:float, xs:decimal), but the supplied type {} is not any of these",
            place(0, name),
            other.type_name()
        )),
    }
}
