//! JSON Assertion.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, text};

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

pub const COMPARES: Property = flag("JSONVALIDATION")
    .label("Additionally assert value")
    .default("false")
    .help("Compares the value with the expected one.");

pub const IS_REGEX: Property = flag("ISREGEX")
    .label("Match as regular expression")
    .default("true")
    .help("Takes the expected value as a pattern.");

pub const EXPECTED_VALUE: Property = text("EXPECTED_VALUE")
    .label("Expected Value")
    .help("Holds the expected value.");

pub const EXPECT_NULL: Property = flag("EXPECT_NULL")
    .label("Expect null")
    .default("false")
    .help("Expects null.");

pub const INVERT: Property = flag("INVERT")
    .label("Invert assertion (will fail if above conditions met)")
    .default("false")
    .help("Makes a failure a success, and a success a failure.");
