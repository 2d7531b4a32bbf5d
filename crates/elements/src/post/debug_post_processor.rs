//! Debug PostProcessor.

use crate::form::{ElementFacts, Property, Role, flag};
use crate::when::May;

pub const CLASS: &str = "DebugPostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "Debug PostProcessor",
    "TestBeanGUI",
)
.help("Adds a sub-sample that lists variables and properties.")
.fields(&[SAMPLER_PROPERTIES, VARIABLES, PROPERTIES, SYSTEM_PROPERTIES])
.may(&[May::ReadAnyVariable]);

pub const SAMPLER_PROPERTIES: Property = flag("displaySamplerProperties")
    .label("Sampler properties")
    .default("true")
    .help("Lists the sampler's properties.");

pub const VARIABLES: Property = flag("displayJMeterVariables")
    .label("JMeter variables")
    .default("true")
    .help("Lists the user's variables.");

pub const PROPERTIES: Property = flag("displayJMeterProperties")
    .label("JMeter properties")
    .default("false")
    .help("Lists JMeter's properties.");

pub const SYSTEM_PROPERTIES: Property = flag("displaySystemProperties")
    .label("System properties")
    .default("false")
    .help("Lists the system properties.");
