//! Functions that are not built in: a plugin may bring them (`CompoundVariable` looks for classes of functions on the class
//! path).

use drumfire_expr::{add_function, function};
use drumfire_jmx::{Props, Value};

use crate::compile::{Element, Settings};
use crate::java::Java;

/// Makes those known that Java finds among those that the plan calls. Without a Java they are taken for variables, as JMeter
/// takes them where their jar is missing.
pub fn find(plan: &Element, settings: &Settings) {
    let mut names = Vec::new();
    in_element(plan, &mut names);
    names.sort_unstable();
    names.dedup();
    if names.is_empty() {
        return;
    }
    let Java::Host(host) = &settings.java else {
        return;
    };
    let file = settings.base_dir.join(super::script(plan));
    let classpath = super::classpath(plan, &settings.base_dir);
    let found = host
        .find()
        .and_then(|()| host.functions(&names, &file, &classpath));
    match found {
        Ok(found) => found.iter().for_each(|name| add_function(name)),
        Err(why) => tracing::warn!("plugins are not asked for {}: {why}", names.join(", ")),
    }
}

/// Whether a text calls a function that a plugin brings.
pub fn calls_foreign(text: &str) -> bool {
    calls(text).any(|name| function(name).is_some_and(|spec| spec.is_foreign()))
}

fn in_element<'e>(element: &'e Element, names: &mut Vec<&'e str>) {
    in_text(&element.name, names);
    in_props(&element.props, names);
    for child in &element.children {
        in_element(child, names);
    }
}

fn in_props<'e>(props: &'e Props, names: &mut Vec<&'e str>) {
    for prop in props {
        in_value(&prop.value, names);
    }
}

fn in_value<'e>(value: &'e Value, names: &mut Vec<&'e str>) {
    match value {
        Value::Str(text) => in_text(text, names),
        Value::Element(element) => {
            in_text(&element.name, names);
            in_props(&element.props, names);
        }
        Value::List(items) | Value::Map(items) => {
            items.iter().for_each(|item| in_value(&item.value, names));
        }
        _ => {}
    }
}

fn in_text<'e>(text: &'e str, names: &mut Vec<&'e str>) {
    // Most texts call nothing, and large plans have many.
    if !text.as_bytes().contains(&b'$') {
        return;
    }
    names.extend(calls(text).filter(|name| function(name).is_none()));
}

/// The names of functions that a text calls, with their underscores.
fn calls(text: &str) -> impl Iterator<Item = &str> {
    text.split("${").skip(1).filter_map(|after| {
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let name = &after[..end];
        (name.starts_with("__") && after[end..].starts_with('(')).then_some(name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_told_from_variables() {
        let text = "${__a(1,${__b_c(${__idx})})} ${v} __d(1) ${__jm__x__idx} ${__e (1)} ${__f(";
        assert_eq!(calls(text).collect::<Vec<_>>(), ["__a", "__b_c", "__f"]);
        let mut unknown = Vec::new();
        in_text("${__P(a)}${__notThere(b)}", &mut unknown);
        assert_eq!(unknown, ["__notThere"]);
        assert!(!calls_foreign("${__groovy(1)}"));
    }
}
