//! XPath2 Extractor.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, text, whole};
use crate::shared::scope;

pub const CLASS: &str = "XPath2Extractor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "XPath2 Extractor",
    "XPath2ExtractorGui",
)
.help("Puts what an XPath 2 finds in XML into variables.")
.fields(&[
    scope::SAMPLE,
    scope::VARIABLE,
    NAME,
    QUERY,
    MATCH_NUMBER,
    DEFAULT,
    NAMESPACES,
    FRAGMENT,
])
.since("5.0");

pub const NAME: Property = text("XPathExtractor2.refname")
    .label("Name of created variable")
    .sets_with_parts()
    .help("Names the variable.");

pub const QUERY: Property = code("XPathExtractor2.xpathQuery", Language::XPath)
    .label("XPath query")
    .help("Holds the XPath.");

pub const MATCH_NUMBER: Property = whole("XPathExtractor2.matchNumber")
    .label("Match No. (0 for Random)")
    .default("0")
    .help("Says which match counts: 0 is a random one, and -1 is all.");

pub const DEFAULT: Property = text("XPathExtractor2.default")
    .label("Default Value")
    .help("Is the value if nothing is found.");

pub const NAMESPACES: Property = text("XPathExtractor2.namespaces")
    .label("Namespaces aliases list (prefix=full namespace, 1 per line)")
    .help("Lists prefixes with their namespaces, one per line.");

pub const FRAGMENT: Property = flag("XPathExtractor2.fragment")
    .label("Return entire XPath fragment instead of text content?")
    .help("Takes the XML of a match instead of its text.");
