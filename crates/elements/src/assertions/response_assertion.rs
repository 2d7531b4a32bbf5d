//! Response Assertion.

use crate::form::{ElementFacts, Property, Role, Saved, choice, flag, is, list, text, whole};
use crate::shared::scope;

pub const CLASS: &str = "ResponseAssertion";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Assertion, CLASS, "Response Assertion", "AssertionGui")
        .help("Compares a part of a response, or a variable, with patterns.")
        .fields(&[
            scope::ASSERTION,
            scope::VARIABLE,
            FIELD,
            IGNORE_STATUS,
            TEST_TYPE,
            PATTERNS,
            CUSTOM_MESSAGE,
        ]);

pub const FIELD: Property = choice(
    "Assertion.test_field",
    &[
        is("Assertion.response_data", "Text Response"),
        is("Assertion.response_code", "Response Code"),
        is("Assertion.response_message", "Response Message"),
        is("Assertion.response_headers", "Response Headers"),
        is("Assertion.request_headers", "Request Headers"),
        is("Assertion.sample_label", "URL Sampled"),
        is("Assertion.response_data_as_document", "Document (text)"),
        is("Assertion.request_data", "Request Data"),
    ],
)
.label("Field to Test")
.default("Assertion.response_data")
.help("Says which part of the sample is compared.");

pub const IGNORE_STATUS: Property = flag("Assertion.assume_success")
    .label("Ignore Status")
    .default("false")
    .help("Ignores that the sample failed before.");

pub const TEST_TYPE: Property = whole("Assertion.test_type")
    .saved(Saved::IntProp)
    .label("Pattern Matching Rules")
    .default("16")
    .help("Adds up the rule: 1 matches, 2 contains, 8 equals, 16 substring, 4 not, 32 or.");

pub const PATTERNS: Property = list("Asserion.test_strings")
    .label("Patterns to Test")
    .help("Lists the patterns.");

pub const CUSTOM_MESSAGE: Property = text("Assertion.custom_message")
    .label("Custom failure message")
    .help("Replaces the message of a failure.");
