//! XPath Extractor.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, section, text, whole};
use crate::shared::scope;

pub const CLASS: &str = "XPathExtractor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "XPath Extractor",
    "XPathExtractorGui",
)
.help("Puts what an XPath finds in XML, or in HTML read as XML, into variables.")
.fields(&[scope::SAMPLE, scope::VARIABLE])
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
    section("XPath", &[NAME, QUERY, MATCH_NUMBER, DEFAULT, FRAGMENT]),
]);

pub const TOLERANT: Property = flag("XPathExtractor.tolerant")
    .label("Use Tidy (tolerant parser)")
    .default("false")
    .help("Repairs HTML before it is searched.");

pub const QUIET: Property = flag("XPathExtractor.quiet")
    .label("Quiet")
    .help("Does not log what is repaired.");

pub const REPORT_ERRORS: Property = flag("XPathExtractor.report_errors")
    .label("Report errors")
    .help("Fails the sample if the page has errors.");

pub const SHOW_WARNINGS: Property = flag("XPathExtractor.show_warnings")
    .label("Show warnings")
    .help("Logs warnings about the page.");

pub const NAMESPACES: Property = flag("XPathExtractor.namespace")
    .label("Use Namespaces")
    .default("false")
    .help("Knows the prefixes of the document's namespaces.");

pub const VALIDATE: Property = flag("XPathExtractor.validate")
    .label("Validate XML")
    .default("false")
    .help("Checks the document against its DTD.");

pub const IGNORE_WHITESPACE: Property = flag("XPathExtractor.whitespace")
    .label("Ignore Whitespace")
    .help("Leaves out white space between elements.");

pub const FETCH_DTDS: Property = flag("XPathExtractor.download_dtds")
    .label("Fetch external DTDs")
    .help("Fetches DTDs from other places.");

pub const NAME: Property = text("XPathExtractor.refname")
    .label("Name of created variable")
    .sets_with_parts()
    .help("Names the variable.");

pub const QUERY: Property = code("XPathExtractor.xpathQuery", Language::XPath)
    .label("XPath query")
    .help("Holds the XPath.");

pub const MATCH_NUMBER: Property = whole("XPathExtractor.matchNumber")
    .label("Match No. (0 for Random)")
    .default("-1")
    .help("Says which match counts: 0 is a random one, and -1 is all.");

pub const DEFAULT: Property = text("XPathExtractor.default")
    .label("Default Value")
    .help("Is the value if nothing is found.");

pub const FRAGMENT: Property = flag("XPathExtractor.fragment")
    .label("Return entire XPath fragment instead of text content?")
    .help("Takes the XML of a match instead of its text.");
