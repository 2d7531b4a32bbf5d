//! The properties of JMeter 5.6.3 and Drumfire's own, and what Drumfire does with each. The reference page of properties is
//! generated from this list.

mod java;
mod own;
mod requests;
mod surroundings;

/// How Drumfire treats a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Drumfire does what JMeter does.
    Honoured,
    /// Drumfire does what JMeter does. Where Java runs a class of JMeter's, that class reads the property itself.
    Java,
    /// Drumfire ignores the property, for this reason.
    None(&'static str),
}

/// One property, or all properties with a common prefix.
#[derive(Debug, Clone, Copy)]
pub struct KnownProperty {
    /// The name. A trailing `*` covers all names with that prefix.
    pub name: &'static str,
    /// The default; empty if there is none.
    pub default: &'static str,
    /// Its meaning.
    pub doc: &'static str,
    /// How Drumfire treats it.
    pub effect: Effect,
}

impl KnownProperty {
    /// Whether this entry covers a property's name.
    pub fn covers(&self, name: &str) -> bool {
        match self.name.strip_suffix('*') {
            Some(beginning) => name.starts_with(beginning),
            None => name == self.name,
        }
    }
}

/// Properties of one subject.
#[derive(Debug, Clone, Copy)]
pub struct PropertySection {
    /// The subject.
    pub title: &'static str,
    /// The properties.
    pub properties: &'static [KnownProperty],
}

/// The entry that covers a property's name.
pub fn known_property(name: &str) -> Option<&'static KnownProperty> {
    let mut all = KNOWN_PROPERTIES
        .iter()
        .flat_map(|section| section.properties);
    all.find(|property| property.covers(name))
}

const fn honoured(name: &'static str, default: &'static str, doc: &'static str) -> KnownProperty {
    KnownProperty {
        name,
        default,
        doc,
        effect: Effect::Honoured,
    }
}

const fn without(name: &'static str, why: &'static str) -> KnownProperty {
    KnownProperty {
        name,
        default: "",
        doc: "",
        effect: Effect::None(why),
    }
}

const fn read_by_java(name: &'static str, doc: &'static str) -> KnownProperty {
    KnownProperty {
        name,
        default: "",
        doc,
        effect: Effect::Java,
    }
}

const GUI: &str = "it concerns the graphical interface";
const RECORDER: &str = "it concerns the recorder";
const REMOTE: &str = "agents connect to NATS, and send sums and files of rows";
const CACHE: &str = "compiled expressions are kept for the whole run";
const JAVA: &str = "it concerns Java's implementation";

/// All properties.
pub const KNOWN_PROPERTIES: &[PropertySection] = &[
    own::OWN,
    requests::THE_RUN,
    requests::HTTP_REQUESTS,
    requests::CONNECTIONS,
    requests::COOKIES_AND_CACHE,
    java::JAVA,
    surroundings::ASSERTIONS,
    surroundings::RESULT_FILES,
    surroundings::SUMMARY_LINES,
    surroundings::SCRIPTS_PLUGINS_AND_JAVA_PROTOCOLS,
    surroundings::CACHES_OF_COMPILED_EXPRESSIONS,
    surroundings::REPORT,
    surroundings::REMOTE_ENGINES,
    surroundings::RECORDER_AND_GRAPHICAL_INTERFACE,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JMETER_DEFAULTS;

    #[test]
    fn everything_that_jmeter_sets_is_known() {
        let unknown: Vec<_> = JMETER_DEFAULTS
            .iter()
            .filter(|(name, _)| known_property(name).is_none())
            .collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn the_defaults_that_jmeter_sets_are_told() {
        for (name, value) in JMETER_DEFAULTS {
            let property = known_property(name).expect("it is known");
            if property.effect == Effect::Honoured && property.name == *name {
                assert_eq!(property.default, *value, "{name}");
            }
        }
    }

    #[test]
    fn names_are_found_alone_before_their_group() {
        let found = known_property("backend_metrics_window").expect("it is known");
        assert_eq!(found.default, "100");
        let group = known_property("backend_metrics_large_window").expect("it is known");
        assert!(group.name.ends_with('*'));
        assert!(known_property("jmeter.save.saveservice.output_formt").is_none());
        assert!(known_property("nothing.like.it").is_none());
    }

    #[test]
    fn every_property_says_what_it_does_or_why_it_does_nothing() {
        for property in KNOWN_PROPERTIES
            .iter()
            .flat_map(|section| section.properties)
        {
            match property.effect {
                Effect::Honoured | Effect::Java => {
                    assert!(property.doc.ends_with('.'), "{}", property.name);
                }
                Effect::None(why) => assert!(!why.is_empty(), "{}", property.name),
            }
        }
    }
}
