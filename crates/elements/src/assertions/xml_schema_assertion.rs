//! XML Schema Assertion.

use crate::form::{ElementFacts, FileUse, Property, Role, file};

pub const CLASS: &str = "XMLSchemaAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "XML Schema Assertion",
    "XMLSchemaAssertionGUI",
)
.help("Checks the response against an XML schema.")
.fields(&[FILE]);

pub const FILE: Property = file("xmlschema_assertion_filename", FileUse::Read)
    .label("File Name")
    .help("Names the schema.");
