//! MD5Hex Assertion.

use crate::form::{ElementFacts, Property, Role, text};

pub const CLASS: &str = "MD5HexAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "MD5Hex Assertion",
    "MD5HexAssertionGUI",
)
.help("Compares the MD5 sum of the body.")
.fields(&[SUM]);

pub const SUM: Property = text("MD5HexAssertion.size")
    .label("MD5Hex")
    .help("Holds the expected sum.");
