//! JSON JMESPath Assertion.

use crate::form::{ElementFacts, Language, Property, Role, code};
pub use crate::shared::expectation::{COMPARES, EXPECT_NULL, EXPECTED_VALUE, INVERT, IS_REGEX};

pub const CLASS: &str = "JMESPathAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "JSON JMESPath Assertion",
    "JMESPathAssertionGui",
)
.help("Checks that a JMESPath gives a value and, optionally, which.")
.fields(&[
    PATH,
    COMPARES,
    IS_REGEX,
    EXPECTED_VALUE,
    EXPECT_NULL,
    INVERT,
])
.since("5.2");

pub const PATH: Property = code("JMES_PATH", Language::JmesPath)
    .label("Assert JMESPath exists")
    .help("Holds the path.");
