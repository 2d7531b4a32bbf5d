//! RegEx User Parameters.

use crate::form::{ElementFacts, Property, Role, text, whole};
use crate::when::May;

pub const CLASS: &str = "RegExUserParameters";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "RegEx User Parameters",
    "RegExUserParametersGui",
)
.help("Sets arguments of requests to values that a Regular Expression Extractor has found.")
.fields(&[NAME, NAMES_GROUP, VALUES_GROUP])
.may(&[May::SetAnyVariable]);

pub const NAME: Property = text("RegExUserParameters.regex_ref_name")
    .label("Regular Expression Reference Name")
    .reads_parts()
    .help("Names the extractor's variable.");

pub const NAMES_GROUP: Property = whole("RegExUserParameters.param_names_gr_nr")
    .label("Parameter names regexp group number")
    .help("Says which group of the pattern holds the names of arguments.");

pub const VALUES_GROUP: Property = whole("RegExUserParameters.param_values_gr_nr")
    .label("Parameter values regex group number")
    .help("Says which group of the pattern holds their values.");
