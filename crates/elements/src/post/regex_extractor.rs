//! Regular Expression Extractor.

use crate::form::{
    ElementFacts, Language, Property, Role, choice, code, flag, is, same, text, whole,
};
use crate::shared::scope;

pub const CLASS: &str = "RegexExtractor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "Regular Expression Extractor",
    "RegexExtractorGui",
)
.help("Puts what a pattern finds in a response into variables.")
.fields(&[
    scope::SAMPLE,
    scope::VARIABLE,
    FIELD,
    NAME,
    REGEX,
    TEMPLATE,
    MATCH_NUMBER,
    DEFAULT,
    EMPTY_DEFAULT,
]);

pub const FIELD: Property = choice(
    "RegexExtractor.useHeaders",
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

pub const NAME: Property = text("RegexExtractor.refname")
    .label("Name of created variable")
    .sets_with_parts()
    .help("Names the variable.");

pub const REGEX: Property = code("RegexExtractor.regex", Language::Regex)
    .label("Regular Expression")
    .help("Holds the pattern.");

pub const TEMPLATE: Property = text("RegexExtractor.template")
    .label("Template ($i$ where i is capturing group number, starts at 1)")
    .help("Builds the value from groups: `$1$` is the first.");

pub const MATCH_NUMBER: Property = whole("RegexExtractor.match_number")
    .label("Match No. (0 for Random)")
    .help("Says which match counts: 0 is a random one, and a negative number is all.");

pub const DEFAULT: Property = text("RegexExtractor.default")
    .label("Default Value")
    .help("Is the value if nothing matches.");

pub const EMPTY_DEFAULT: Property = flag("RegexExtractor.default_empty_value")
    .label("Use empty default value")
    .default("false")
    .help("Makes the empty text the default.");
