//! Debug Sampler.

use crate::form::{ElementFacts, Property, Role, flag};
use crate::when::May;

pub const CLASS: &str = "DebugSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "Debug Sampler", "TestBeanGUI")
        .help("Makes a sample whose response lists variables and properties.")
        .fields(&[PROPERTIES, VARIABLES, SYSTEM_PROPERTIES])
        .may(&[May::ReadAnyVariable]);

pub const PROPERTIES: Property = flag("displayJMeterProperties")
    .label("JMeter properties")
    .default("false")
    .help("Lists JMeter's properties.");

pub const VARIABLES: Property = flag("displayJMeterVariables")
    .label("JMeter variables")
    .default("true")
    .help("Lists the user's variables.");

pub const SYSTEM_PROPERTIES: Property = flag("displaySystemProperties")
    .label("System properties")
    .default("false")
    .help("Lists the system properties.");
