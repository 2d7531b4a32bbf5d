//! Functions that are not built in: a plugin may provide them (`CompoundVariable` searches the class path for function classes).

use drumfire_expr::{add_function, function};
use drumfire_jmx::{Props, Value};

use crate::resolve::Element;
use crate::run::java::host::Java;
use crate::run::settings::RunSettings;

/// The functions that the plan calls and that are not built in.
pub fn called(plan: &Element) -> Vec<&str> {
    let mut names = Vec::new();
    in_element(plan, &mut |name| {
        if function(name).is_none() {
            names.push(name);
        }
    });
    names.sort_unstable();
    names.dedup();
    names
}

/// Asks Java which of these functions are on its class path, and registers those. Without Java a call of one is read as a
/// variable, as in JMeter when the function's jar is missing.
pub fn ask(names: &[&str], plan: &Element, settings: &RunSettings) {
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
        .and_then(|()| host.functions(names, &file, &classpath));
    match found {
        Ok(found) => found.iter().for_each(|name| add_function(name)),
        Err(why) => tracing::warn!("cannot ask plugins for {}: {why}", names.join(", ")),
    }
}

/// Whether a plugin provides the function of that name.
pub fn is_foreign(name: &str) -> bool {
    function(name).is_some_and(|spec| spec.is_foreign())
}

fn in_element<'e>(element: &'e Element, call: &mut dyn FnMut(&'e str)) {
    in_text(&element.name, call);
    in_props(&element.props, call);
    for child in &element.children {
        in_element(child, call);
    }
}

fn in_props<'e>(props: &'e Props, call: &mut dyn FnMut(&'e str)) {
    for prop in props {
        in_value(&prop.value, call);
    }
}

fn in_value<'e>(value: &'e Value, call: &mut dyn FnMut(&'e str)) {
    match value {
        Value::Str(text) => in_text(text, call),
        Value::Element(element) => {
            in_text(&element.name, call);
            in_props(&element.props, call);
        }
        Value::List(items) | Value::Map(items) => {
            items.iter().for_each(|item| in_value(&item.value, call));
        }
        _ => {}
    }
}

fn in_text<'e>(text: &'e str, call: &mut dyn FnMut(&'e str)) {
    calls(text).for_each(call);
}

/// The names of functions that a text calls, with their underscores. Large plans have many texts and most call nothing, so the
/// search is for a single character, which is faster than a search for `${__`.
pub fn calls(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('$').filter_map(|(at, _)| {
        let after = text[at..].strip_prefix("${__")?;
        let end = after.find(|c: char| !c.is_alphanumeric() && c != '_')?;
        let start = at + "${".len();
        after[end..]
            .starts_with('(')
            .then(|| &text[start..start + "__".len() + end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::Resolver;

    #[test]
    fn calls_are_told_from_variables() {
        let text = "${__a(1,${__b_c(${__idx})})} ${v} __d(1) ${__jm__x__idx} ${__e (1)} ${__f(";
        assert_eq!(calls(text).collect::<Vec<_>>(), ["__a", "__b_c", "__f"]);
        assert!(!calls("${__groovy(1)}").any(is_foreign));
    }

    #[test]
    fn names_and_properties_are_searched() {
        let plan = r#"<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree><TestPlan guiclass="g" testclass="TestPlan" testname="p ${__notThere(1)}"/><hashTree>
<DebugSampler guiclass="g" testclass="DebugSampler" testname="${__other(q)} ${__P(q)}"><stringProp name="x">${__notThere(q,v)}</stringProp></DebugSampler><hashTree/>
</hashTree></hashTree></jmeterTestPlan>"#;
        let read = drumfire_jmx::read(plan.as_bytes(), std::path::Path::new("p.jmx"));
        let settings = RunSettings::default();
        let tree = read.expect("the plan is well-formed").tree;
        let plan = Resolver::new(tree, &settings.properties, &settings.base_dir).resolve();
        let plan = plan.expect("there is a test plan");
        assert_eq!(called(&plan), ["__notThere", "__other"]);
    }
}
