//! JSON JMESPath Extractor.

use crate::form::{ElementFacts, Language, Property, Role, code, text, whole};
use crate::shared::scope;

pub const CLASS: &str = "JMESPathExtractor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "JSON JMESPath Extractor",
    "JMESPathExtractorGui",
)
.help("Puts the result of a JMESPath into variables.")
.fields(&[
    scope::SAMPLE,
    scope::VARIABLE,
    NAME,
    PATH,
    MATCH_NUMBER,
    DEFAULT,
])
.since("5.2");

pub const NAME: Property = text("JMESExtractor.referenceName")
    .label("Names of created variables")
    .sets_with_parts()
    .help("Names the variable.");

pub const PATH: Property = code("JMESExtractor.jmesPathExpr", Language::JmesPath)
    .label("JMESPath expressions")
    .help("Holds the path.");

pub const MATCH_NUMBER: Property = whole("JMESExtractor.matchNumber")
    .label("Match No. (0 for Random)")
    .help("Says which value of a list counts: 0 is a random one, and -1 is all.");

pub const DEFAULT: Property = text("JMESExtractor.defaultValue")
    .label("Default Values")
    .help("Is the value if nothing is found.");
