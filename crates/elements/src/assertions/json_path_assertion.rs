//! jp@gc - JSON/YAML Path Assertion.

use crate::form::{ElementFacts, Language, Property, Role, choice, code, same};
use crate::shared::expectation;

pub use crate::shared::expectation::{EXPECT_NULL, EXPECTED_VALUE, INVERT, IS_REGEX};

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

pub const FORMAT: Property = choice("INPUT_FORMAT", &[same("JSON"), same("YAML")])
    .label("Input Format")
    .default("JSON")
    .help("Says whether the text is JSON or YAML.");

pub const PATH: Property = code("JSON_PATH", Language::JsonPath)
    .label("JSON Path")
    .help("Holds the path.");

pub const COMPARES: Property = expectation::COMPARES
    .label("Validate against expected value")
    .default("true");
