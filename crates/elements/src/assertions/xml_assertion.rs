//! XML Assertion.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "XMLAssertion";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Assertion, CLASS, "XML Assertion", "XMLAssertionGui")
        .help("Checks that the response is XML.");
