//! JSON JMESPath Assertion.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, text};

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
