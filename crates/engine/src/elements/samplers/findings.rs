//! The findings of a protocol's check about one element, before the run.

use drumfire_elements::Property;
use drumfire_java::values::property_bool;
use drumfire_jmx::Diagnostic;

use crate::resolve::Element;

/// The findings about one element.
pub struct Findings<'a> {
    element: &'a Element,
    /// Gives a property's value if it is known before the run.
    value: &'a mut dyn FnMut(&str) -> Option<String>,
    /// Is added to the help of errors.
    remedy: &'a str,
    /// All so far.
    pub all: Vec<Diagnostic>,
}

impl<'a> Findings<'a> {
    pub fn new(
        element: &'a Element,
        value: &'a mut dyn FnMut(&str) -> Option<String>,
        remedy: &'a str,
    ) -> Findings<'a> {
        Findings {
            element,
            value,
            remedy,
            all: Vec::new(),
        }
    }

    pub fn element(&self) -> &'a Element {
        self.element
    }

    /// The value of a property, or the one that it has when it is missing.
    pub fn value(&mut self, property: &Property) -> Option<String> {
        if self.element.props.has(property.name) {
            (self.value)(property.name)
        } else {
            Some(property.absent.to_owned())
        }
    }

    /// Whether a flag is known to be set.
    pub fn is_set(&mut self, property: &Property) -> bool {
        self.value(property)
            .is_some_and(|text| property_bool(&text))
    }

    /// Adds an error.
    pub fn refuse(&mut self, code: &'static str, property: &Property, why: &str, help: &str) {
        let message = format!("{why}, in '{}'", self.element.name);
        let help = format!("{help}, {}", self.remedy);
        let finding = self.element.error(code, message);
        self.all.push(finding.about(property.name).help(help));
    }

    /// Adds a warning.
    pub fn warn(&mut self, code: &'static str, property: &Property, why: &str) {
        let message = format!("{why}, in '{}'", self.element.name);
        let finding = self.element.warning(code, message);
        self.all.push(finding.about(property.name));
    }
}
