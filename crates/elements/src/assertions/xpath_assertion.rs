//! XPath Assertion.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, section};
use crate::shared::scope;

pub const CLASS: &str = "XPathAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "XPath Assertion",
    "XPathAssertionGui",
)
.help("Checks that an XPath finds nodes or is true.")
.fields(&[scope::ASSERTION, scope::VARIABLE])
.sections(&[
    section(
        "XML Parsing Options",
        &[
            TOLERANT,
            QUIET,
            REPORT_ERRORS,
            SHOW_WARNINGS,
            NAMESPACES,
            VALIDATE,
            IGNORE_WHITESPACE,
            FETCH_DTDS,
        ],
    ),
    section("XPath Assertion", &[QUERY, INVERT]),
]);

pub const TOLERANT: Property = flag("XPath.tolerant")
    .label("Use Tidy (tolerant parser)")
    .default("false")
    .help("Repairs HTML before it is searched.");

pub const QUIET: Property = flag("XPath.quiet")
    .label("Quiet")
    .help("Does not log what is repaired.");

pub const REPORT_ERRORS: Property = flag("XPath.report_errors")
    .label("Report errors")
    .help("Fails the sample if the page has errors.");

pub const SHOW_WARNINGS: Property = flag("XPath.show_warnings")
    .label("Show warnings")
    .help("Logs warnings about the page.");

pub const NAMESPACES: Property = flag("XPath.namespace")
    .label("Use Namespaces")
    .default("false")
    .help("Knows the prefixes of the document's namespaces.");

pub const VALIDATE: Property = flag("XPath.validate")
    .label("Validate XML")
    .default("false")
    .help("Checks the document against its DTD.");

pub const IGNORE_WHITESPACE: Property = flag("XPath.whitespace")
    .label("Ignore Whitespace")
    .default("false")
    .help("Leaves out white space between elements.");

pub const FETCH_DTDS: Property = flag("XPath.download_dtds")
    .label("Fetch external DTDs")
    .help("Fetches DTDs from other places.");

pub const QUERY: Property = code("XPath.xpath", Language::XPath)
    .label("XPath")
    .default("/")
    .help("Holds the XPath.");

pub const INVERT: Property = flag("XPath.negate")
    .label("Invert assertion(will fail if XPath expression matches)")
    .default("false")
    .help("Fails the sample if the XPath finds something.");
