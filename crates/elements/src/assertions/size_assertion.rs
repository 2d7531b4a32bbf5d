//! Size Assertion.

use crate::form::{ElementFacts, Property, Role, Saved, choice, is, whole};
use crate::shared::scope;

pub const CLASS: &str = "SizeAssertion";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Assertion, CLASS, "Size Assertion", "SizeAssertionGui")
        .help("Compares the size of a part of a response, or a number in a variable.")
        .fields(&[scope::ASSERTION, scope::VARIABLE, FIELD, SIZE, OPERATOR]);

pub const FIELD: Property = choice(
    "Assertion.test_field",
    &[
        is("SizeAssertion.response_network_size", "Full Response"),
        is("SizeAssertion.response_headers", "Response Headers"),
        is("SizeAssertion.response_data", "Response Body"),
        is("SizeAssertion.response_code", "Response Code"),
        is("SizeAssertion.response_message", "Response Message"),
    ],
)
.label("Response Size Field to Test")
.default("SizeAssertion.response_network_size")
.help("Says whose size counts.");

pub const SIZE: Property = whole("SizeAssertion.size")
    .label("Size in bytes")
    .help("Sets the size.");

pub const OPERATOR: Property = choice(
    "SizeAssertion.operator",
    &[
        is("1", "="),
        is("2", "!="),
        is("3", ">"),
        is("4", "<"),
        is("5", ">="),
        is("6", "<="),
    ],
)
.saved(Saved::IntProp)
.label("Type of Comparison")
.default("1")
.help("Says how the sizes are compared.");
