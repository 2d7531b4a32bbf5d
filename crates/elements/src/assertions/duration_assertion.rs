//! Duration Assertion.

use crate::form::{ElementFacts, Property, Role, whole};
use crate::shared::scope;

pub const CLASS: &str = "DurationAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "Duration Assertion",
    "DurationAssertionGui",
)
.help("Fails samples that took too long.")
.fields(&[scope::ASSERTION, DURATION]);

pub const DURATION: Property = whole("DurationAssertion.duration")
    .label("Duration in milliseconds")
    .help("Sets the limit.");
