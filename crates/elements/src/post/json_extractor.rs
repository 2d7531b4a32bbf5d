//! JSON Extractor.

use crate::form::{ElementFacts, Language, Property, Role, code, flag, text};
use crate::shared::scope;

pub const CLASS: &str = "JSONPostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "JSON Extractor",
    "JSONPostProcessorGui",
)
.help("Puts the values that JSONPath expressions find into variables.")
.fields(&[
    scope::SAMPLE,
    scope::VARIABLE,
    NAMES,
    PATHS,
    MATCH_NUMBERS,
    COMPUTE_CONCAT,
    DEFAULTS,
]);

pub const NAMES: Property = text("JSONPostProcessor.referenceNames")
    .label("Names of created variables")
    .sets_each_with_parts(';')
    .help("Names the variables, with semicolons between them.");

pub const PATHS: Property = code("JSONPostProcessor.jsonPathExprs", Language::JsonPath)
    .label("JSON Path expressions")
    .help("Lists the paths, with semicolons between them.");

pub const MATCH_NUMBERS: Property = text("JSONPostProcessor.match_numbers")
    .label("Match No. (0 for Random)")
    .help("Says for each which match counts: 0 is a random one, and -1 is all.");

pub const COMPUTE_CONCAT: Property = flag("JSONPostProcessor.compute_concat")
    .label("Compute concatenation var (suffix _ALL)")
    .help("Sets `name_ALL` to all values with commas between them.");

pub const DEFAULTS: Property = text("JSONPostProcessor.defaultValues")
    .label("Default Values")
    .help("Lists the values if nothing is found.");
