//! Finds the facts of a class.

use std::collections::HashMap;
use std::sync::LazyLock;

use drumfire_jmx::{canonical_class, full_class_name};
use rustc_hash::FxBuildHasher;

use crate::form::{ElementFacts, Names, Property};
use crate::shared::scope;
use crate::{
    assertions, config, controllers, listeners, other, post, pre, samplers, thread_groups, timers,
};

/// All element types, by role.
const BY_ROLE: [&[&ElementFacts]; 10] = [
    thread_groups::ALL,
    controllers::ALL,
    samplers::ALL,
    config::ALL,
    timers::ALL,
    pre::ALL,
    post::ALL,
    assertions::ALL,
    listeners::ALL,
    other::ALL,
];

static BY_CLASS: LazyLock<HashMap<&str, Vec<&ElementFacts>, FxBuildHasher>> = LazyLock::new(|| {
    let mut by_class: HashMap<&str, Vec<&ElementFacts>, FxBuildHasher> = HashMap::default();
    for facts in all() {
        by_class.entry(facts.class).or_default().push(facts);
    }
    by_class
});

/// All element types, by role.
pub fn all() -> impl Iterator<Item = &'static ElementFacts> {
    BY_ROLE.into_iter().flatten().copied()
}

/// The types that share a class; empty for an unknown one. The class may be a short name, a full name or an alias of JMeter's.
fn types(class: &str) -> &'static [&'static ElementFacts] {
    let types = BY_CLASS
        .get(class)
        .or_else(|| BY_CLASS.get(canonical_class(class)));
    types.map(Vec::as_slice).unwrap_or_default()
}

/// The facts of a class. If several types share the class, these are the facts of the first.
pub fn of_class(class: &str) -> Option<&'static ElementFacts> {
    types(class).first().copied()
}

/// The facts of the type that a form edits; those of the class if no type has this form.
pub fn of_form(class: &str, gui: &str) -> Option<&'static ElementFacts> {
    let gui = full_class_name(gui);
    let mut types = types(class).iter().copied();
    let with_form = types.find(|facts| facts.guis().any(|own| full_class_name(own) == gui));
    with_form.or_else(|| of_class(class))
}

/// The name of a type in JMeter's menu, by its class and the form that edits it; the class without its package if there are no
/// facts.
pub fn type_name<'n>(class: &'n str, gui: &str) -> &'n str {
    let Some(facts) = of_form(class, gui) else {
        return class.rsplit('.').next().unwrap_or_default();
    };
    let gui = full_class_name(gui);
    let mut others = facts.other_guis.iter();
    let other = others.find(|(own, _)| full_class_name(own) == gui);
    other.map(|(_, name)| *name).unwrap_or(facts.name)
}

/// The label of a property in JMeter's form; empty if it has none. The arguments are those of [`property`].
pub fn label(class: &str, top: &str, name: &str) -> &'static str {
    property(class, top, name)
        .map(|property| property.label)
        .unwrap_or("")
}

/// Whether the class is a script in the plan.
pub fn is_script(class: &str) -> bool {
    of_class(class).is_some_and(ElementFacts::is_script)
}

/// The facts of a property. `top` is the property of the element; `name` is the innermost one.
pub fn property(class: &str, top: &str, name: &str) -> Option<&'static Property> {
    let mut types = types(class).iter();
    types.find_map(|facts| facts.property(top, name))
}

/// How a text of an element names variables; the properties are those of [`property`].
pub fn variable_names(class: &str, top: &str, name: &str) -> Option<Names> {
    if name == scope::VARIABLE.name {
        return scope::VARIABLE.names;
    }
    property(class, top, name)?.names
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use drumfire_jmx::is_known_alias;

    use super::*;
    use crate::form::Kind;

    #[test]
    fn every_form_stands_once_and_its_class_is_spelt_as_jmeter_writes_it() {
        let mut forms = BTreeSet::new();
        for facts in all() {
            for gui in facts.guis() {
                assert!(
                    forms.insert((facts.class, gui)),
                    "{} {gui} stands twice",
                    facts.class
                );
            }
            for name in facts.guis().chain([facts.class]) {
                assert!(name.contains('.') || is_known_alias(name), "{name}");
            }
            assert_eq!(canonical_class(facts.class), facts.class);
        }
    }

    #[test]
    fn a_class_is_found_by_each_of_its_names_and_a_type_by_its_form() {
        let request = of_class("HTTPSamplerProxy").expect("JMeter's own class");
        for name in [
            "HTTPSampler2",
            "org.apache.jmeter.protocol.http.sampler.HTTPSamplerProxy",
        ] {
            assert!(std::ptr::eq(of_class(name).expect(name), request), "{name}");
        }
        let defaults = |gui: &str| of_form("ConfigTestElement", gui).map(|facts| facts.name);
        assert_eq!(defaults("TCPConfigGui"), Some("TCP Sampler Config"));
        let full = "org.apache.jmeter.protocol.http.config.gui.HttpDefaultsGui";
        assert_eq!(defaults(full), Some("HTTP Request Defaults"));
        assert!(of_class("no.such.Class").is_none());
    }

    #[test]
    fn every_property_of_a_type_has_another_name_a_label_and_help_in_one_sentence() {
        for facts in all() {
            let mut names = BTreeSet::new();
            for property in facts.properties() {
                let place = format!("{} {}", facts.class, property.name);
                assert!(names.insert(property.name), "{place} stands twice");
                let help = property.help;
                assert!(help.ends_with('.'), "{place}: help ends with a full stop");
                assert!(!help.contains(". "), "{place}: help is one sentence");
                if let Kind::Choice(choices) = property.kind {
                    assert!(
                        property.default.is_empty()
                            || choices
                                .iter()
                                .any(|choice| choice.value == property.default),
                        "{place}: the default is no choice"
                    );
                }
            }
            assert!(facts.help.ends_with('.'), "{}", facts.class);
        }
    }
}
