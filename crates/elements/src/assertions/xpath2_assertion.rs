//! XPath2 Assertion.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, text};
use crate::shared::scope;

pub const CLASS: &str = "XPath2Assertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "XPath2 Assertion",
    "XPath2AssertionGui",
)
.help("Checks that an XPath 2 finds something or is true.")
.fields(&[scope::ASSERTION, scope::VARIABLE, QUERY, NAMESPACES, INVERT])
.since("5.0");

pub const QUERY: Property = code("XPath.xpath", Language::XPath)
    .label("XPath")
    .default("/")
    .help("Holds the XPath.");

pub const NAMESPACES: Property = text("XPath.namespaces")
    .label("Namespaces aliases list (prefix=full namespace, 1 per line)")
    .help("Lists prefixes with their namespaces, one per line.");

pub const INVERT: Property = flag("XPath.negate")
    .label("Invert assertion(will fail if XPath expression matches)")
    .default("false")
    .help("Fails the sample if the XPath finds something.");
