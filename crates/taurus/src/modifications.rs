//! Applies the `modifications` of a plan: enables and disables elements, and sets properties by
//! name.

use drumfire_jmx::{Element, Node, Prop, Props, Value as Held};
use serde_json::Value;

use crate::error::TaurusError;
use crate::value::{Table, list, table, text};

/// Applies the modifications of a scenario.
pub(crate) fn apply(
    plan: &mut Node,
    scenario: &Table,
    notes: &mut Vec<String>,
) -> Result<(), TaurusError> {
    let Some(wanted) = table(scenario, "modifications") else {
        return Ok(());
    };
    for (key, enabled) in [("disable", false), ("enable", true)] {
        for pattern in list(wanted, key) {
            let pattern = text(pattern);
            if !switch(plan, &pattern, enabled) {
                notes.push(format!(
                    "`modifications` names `{pattern}`, and no element has that name"
                ));
            }
        }
    }
    for (path, value) in table(wanted, "set-prop").into_iter().flatten() {
        let parts: Vec<&str> = path.split('>').collect();
        let [name, inside @ ..] = parts.as_slice() else {
            continue;
        };
        if inside.is_empty() {
            let fault =
                TaurusError::new(format!("`set-prop` has `{path}`, which names no property"));
            return Err(fault.hint("write `Element name>property: value`"));
        }
        if !set(plan, name, inside, value) {
            notes.push(format!(
                "`set-prop` has `{path}`, and no element has that name"
            ));
        }
    }
    Ok(())
}

fn switch(node: &mut Node, pattern: &str, enabled: bool) -> bool {
    let mut is_switched = false;
    if fits(pattern, &node.name) {
        node.enabled = enabled;
        is_switched = true;
    }
    for child in &mut node.children {
        is_switched |= switch(child, pattern, enabled);
    }
    is_switched
}

/// Whether a name matches a shell pattern with `*` and `?`.
pub(crate) fn fits(pattern: &str, name: &str) -> bool {
    fn rest(pattern: &[char], name: &[char]) -> bool {
        match pattern.split_first() {
            None => name.is_empty(),
            Some(('*', after)) => (0..=name.len()).any(|at| rest(after, &name[at..])),
            Some(('?', after)) => !name.is_empty() && rest(after, &name[1..]),
            Some((sign, after)) => name.first() == Some(sign) && rest(after, &name[1..]),
        }
    }
    // Adjacent stars are equivalent to one.
    let mut pattern = chars(pattern);
    pattern.dedup_by(|a, b| *a == '*' && *b == '*');
    rest(&pattern, &chars(name))
}

fn chars(text: &str) -> Vec<char> {
    text.chars().collect::<Vec<_>>()
}

fn set(node: &mut Node, name: &str, inside: &[&str], value: &Value) -> bool {
    let mut is_set = false;
    if node.name == *name {
        is_set = set_in(&mut node.props, inside, value);
    }
    for child in &mut node.children {
        is_set |= set(child, name, inside, value);
    }
    is_set
}

/// Sets a property, or adds it if the element or its parent property exists.
fn set_in(props: &mut Props, inside: &[&str], value: &Value) -> bool {
    let Some((name, below)) = inside.split_first() else {
        return false;
    };
    let Some(old) = props.get(name).cloned() else {
        if below.is_empty() {
            props.put(name, text(value));
        }
        return below.is_empty();
    };
    let new = match (&old.value, below.is_empty()) {
        (Held::Element(element), false) => {
            let mut inner = element.props.clone();
            if !set_in(&mut inner, below, value) {
                return false;
            }
            Held::Element(Box::new(Element {
                props: inner,
                ..Element::clone(element)
            }))
        }
        (_, false) => return false,
        (old, true) => of_kind(old, &text(value)),
    };
    props.set(Prop { value: new, ..old });
    true
}

/// Converts the text to the kind of the old value, as JMeter does when it reads the file.
fn of_kind(old: &Held, text: &str) -> Held {
    match old {
        Held::Bool(_) => Held::Bool(text.eq_ignore_ascii_case("true")),
        Held::Int(_) => text
            .parse()
            .map_or_else(|_| Held::Str(text.to_owned()), Held::Int),
        Held::Long(_) => text
            .parse()
            .map_or_else(|_| Held::Str(text.to_owned()), Held::Long),
        _ => Held::Str(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_those_of_a_shell() {
        assert!(fits("HTTP*", "HTTP Request") && fits("a?c", "abc") && fits("**", ""));
        assert!(!fits("HTTP", "HTTP Request") && !fits("a?c", "ac"));
    }
}
