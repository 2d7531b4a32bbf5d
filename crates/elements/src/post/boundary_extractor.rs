//! Boundary Extractor.

use crate::form::{ElementFacts, Property, Role, choice, flag, is, same, text, whole};
use crate::shared::scope;

pub const CLASS: &str = "BoundaryExtractor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "Boundary Extractor",
    "BoundaryExtractorGui",
)
.help("Puts the text between two boundaries into variables.")
.fields(&[
    scope::SAMPLE,
    scope::VARIABLE,
    FIELD,
    NAME,
    LEFT,
    RIGHT,
    MATCH_NUMBER,
    DEFAULT,
    EMPTY_DEFAULT,
]);

pub const FIELD: Property = choice(
    "BoundaryExtractor.useHeaders",
    &[
        is("false", "Body"),
        is("unescaped", "Body (unescaped)"),
        is("as_document", "Body as a Document"),
        is("true", "Response Headers"),
        is("request_headers", "Request Headers"),
        same("URL"),
        is("code", "Response Code"),
        is("message", "Response Message"),
    ],
)
.label("Field to check")
.default("false")
.help("Says which part of the sample is searched.");

pub const NAME: Property = text("BoundaryExtractor.refname")
    .label("Name of created variable")
    .sets_with_parts()
    .help("Names the variable.");

pub const LEFT: Property = text("BoundaryExtractor.lboundary")
    .label("Left Boundary")
    .help("Stands before the text.");

pub const RIGHT: Property = text("BoundaryExtractor.rboundary")
    .label("Right Boundary")
    .help("Stands after the text.");

pub const MATCH_NUMBER: Property = whole("BoundaryExtractor.match_number")
    .label("Match No. (0 for Random)")
    .help("Says which match counts: 0 is a random one, and a negative number is all.");

pub const DEFAULT: Property = text("BoundaryExtractor.default")
    .label("Default Value")
    .help("Is the value if nothing matches.");

pub const EMPTY_DEFAULT: Property = flag("BoundaryExtractor.default_empty_value")
    .label("Use empty default value")
    .default("false")
    .help("Makes the empty text the default.");
