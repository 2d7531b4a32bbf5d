//! jp@gc - JSON/YAML Path Assertion.

use crate::form::{ElementFacts, Language, Property, Role, choice, code, flag, is, text};

pub const CLASS: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.JSONPathAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "jp@gc - JSON/YAML Path Assertion",
    "com.atlantbh.jmeter.plugins.jsonutils.jsonpathassertion.gui.JSONPathAssertionGui",
)
.help("Checks that a JSONPath exists and, optionally, its value.")
.fields(&[
    FORMAT,
    PATH,
    COMPARES,
    IS_REGEX,
    EXPECTED_VALUE,
    EXPECT_NULL,
    INVERT,
]);

pub const FORMAT: Property = choice("INPUT_FORMAT", &[is("JSON", "JSON"), is("YAML", "YAML")])
    .label("Input Format")
    .default("JSON")
    .help("Says whether the text is JSON or YAML.");

pub const PATH: Property = code("JSON_PATH", Language::JsonPath)
    .label("JSON Path")
    .help("Holds the path.");

pub const COMPARES: Property = flag("JSONVALIDATION")
    .label("Validate against expected value")
    .default("true")
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
