//! HTML Assertion.

use crate::form::{
    ElementFacts, FileUse, Property, Role, Saved, choice, file, flag, is, same, whole,
};

pub const CLASS: &str = "HTMLAssertion";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Assertion, CLASS, "HTML Assertion", "HTMLAssertionGui")
        .help("Checks that the response is clean HTML.")
        .fields(&[DOCTYPE, FORMAT, ERRORS_ONLY, MAX_ERRORS, MAX_WARNINGS, FILE]);

pub const DOCTYPE: Property = choice(
    "html_assertion_doctype",
    &[same("omit"), same("auto"), same("strict"), same("loose")],
)
.label("Doctype")
.default("omit")
.help("Says which document type is expected.");

pub const FORMAT: Property = choice(
    "html_assertion_format",
    &[is("0", "HTML"), is("1", "XHTML"), is("2", "XML")],
)
.saved(Saved::LongProp)
.label("Format")
.default("0")
.help("Says which language is expected.");

pub const ERRORS_ONLY: Property = flag("html_assertion_errorsonly")
    .label("Errors only")
    .default("false")
    .help("Ignores warnings.");

pub const MAX_ERRORS: Property = whole("html_assertion_error_threshold")
    .saved(Saved::LongProp)
    .label("Error threshold")
    .default("0")
    .help("Allows this many errors.");

pub const MAX_WARNINGS: Property = whole("html_assertion_warning_threshold")
    .saved(Saved::LongProp)
    .label("Warning threshold")
    .default("0")
    .help("Allows this many warnings.");

pub const FILE: Property = file("html_assertion_filename", FileUse::Write)
    .label("Filename")
    .help("Names a file for the report.");
