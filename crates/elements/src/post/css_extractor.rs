//! CSS Selector Extractor.

use crate::form::{ElementFacts, Language, Property, Role, choice, code, flag, same, text, whole};
use crate::shared::scope;

pub const CLASS: &str = "HtmlExtractor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "CSS Selector Extractor",
    "HtmlExtractorGui",
)
.help("Puts texts or attributes of the elements that a CSS selector finds into variables.")
.fields(&[
    scope::SAMPLE,
    scope::VARIABLE,
    IMPLEMENTATION,
    NAME,
    SELECTOR,
    ATTRIBUTE,
    MATCH_NUMBER,
    DEFAULT,
    EMPTY_DEFAULT,
]);

pub const IMPLEMENTATION: Property = choice(
    "HtmlExtractor.extractor_impl",
    &[same(""), same("JSOUP"), same("JODD")],
)
.label("CSS Selector Extractor Implementation")
.help("Names the library whose behaviour it has.");

pub const NAME: Property = text("HtmlExtractor.refname")
    .label("Name of created variable")
    .sets_with_parts()
    .help("Names the variable.");

pub const SELECTOR: Property = code("HtmlExtractor.expr", Language::Css)
    .label("CSS Selector expression")
    .help("Holds the selector.");

pub const ATTRIBUTE: Property = text("HtmlExtractor.attribute")
    .label("Attribute")
    .help("Names the attribute; if empty, the text of the element counts.");

pub const MATCH_NUMBER: Property = whole("HtmlExtractor.match_number")
    .label("Match No. (0 for Random)")
    .help("Says which match counts: 0 is a random one, and a negative number is all.");

pub const DEFAULT: Property = text("HtmlExtractor.default")
    .label("Default Value")
    .help("Is the value if nothing matches.");

pub const EMPTY_DEFAULT: Property = flag("HtmlExtractor.default_empty_value")
    .label("Use empty default value")
    .default("false")
    .help("Makes the empty text the default.");
