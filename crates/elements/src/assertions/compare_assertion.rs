//! Compare Assertion.

use crate::form::{ElementFacts, Property, Role, Saved, flag, items, section, whole};
use crate::items;

pub const CLASS: &str = "CompareAssertion";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Assertion, CLASS, "Compare Assertion", "TestBeanGUI")
        .help("Checks that the results in its scope do not differ.")
        .sections(&[
            section("Comparison Options", &[CONTENT, TIME]),
            section("Comparison Filters", &[SUBSTITUTIONS]),
        ]);

pub const CONTENT: Property = flag("compareContent")
    .label("Compare Content")
    .default("true")
    .help("Compares the bodies.");

pub const TIME: Property = whole("compareTime")
    .saved(Saved::LongProp)
    .label("Compare Time")
    .default("-1")
    .help("Allows the times to differ by this many milliseconds; -1 allows any.");

pub const SUBSTITUTIONS: Property = items("stringsToSkip", &items::SUBSTITUTION)
    .label("Regular Expression Substitutions")
    .help("Lists patterns that are replaced before bodies are compared.");
