//! jp@gc - JSON/YAML Path Extractor.

use crate::form::{ElementFacts, Language, Property, Role, choice, code, is, same, text};

pub const CLASS: &str = "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.JSONPathExtractor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "jp@gc - JSON/YAML Path Extractor",
    "com.atlantbh.jmeter.plugins.jsonutils.jsonpathextractor.gui.JSONPathExtractorGui",
)
.help("Puts the result of a JSONPath into a variable.")
.fields(&[FORMAT, NAME, PATH, DEFAULT, SUBJECT, SOURCE]);

pub const FORMAT: Property = choice("INPUT_FORMAT", &[same("JSON"), same("YAML")])
    .label("Input Format")
    .default("JSON")
    .help("Says whether the text is JSON or YAML.");

pub const NAME: Property = text("VAR")
    .label("Destination Variable Name")
    .sets_with_parts()
    .help("Names the variable.");

pub const PATH: Property = code("JSONPATH", Language::JsonPath)
    .label("JSONPath Expression")
    .help("Holds the path.");

pub const DEFAULT: Property = text("DEFAULT")
    .label("Default Value")
    .help("Is the value if nothing is found.");

pub const SUBJECT: Property = choice(
    "SUBJECT",
    &[is("BODY", "Response Text"), is("VAR", "JMeter Variable")],
)
.label("Apply to")
.default("BODY")
.help("Says whether the response or a variable is searched.");

pub const SOURCE: Property = text("VARIABLE")
    .label("JMeter Variable")
    .reads()
    .help("Names the variable that is searched.");
