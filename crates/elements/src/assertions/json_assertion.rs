//! JSON Assertion.

use crate::form::{ElementFacts, Language, Property, Role, code};
pub use crate::shared::expectation::{COMPARES, EXPECT_NULL, EXPECTED_VALUE, INVERT, IS_REGEX};

pub const CLASS: &str = "JSONPathAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "JSON Assertion",
    "JSONPathAssertionGui",
)
.help("Checks that a JSONPath exists and, optionally, its value.")
.fields(&[
    PATH,
    COMPARES,
    IS_REGEX,
    EXPECTED_VALUE,
    EXPECT_NULL,
    INVERT,
])
.since("4.0");

pub const PATH: Property = code("JSON_PATH", Language::JsonPath)
    .label("Assert JSON Path exists")
    .help("Holds the path.");
