//! jp@gc - Parameterized Controller.

use crate::form::{ElementFacts, Property, Role, inner};
use crate::items;

pub const CLASS: &str = "kg.apc.jmeter.control.ParameterizedController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "jp@gc - Parameterized Controller",
    "kg.apc.jmeter.control.ParameterizedControllerGui",
)
.help("Runs its children once, with the variables of a table.")
.fields(&[VARIABLES]);

pub const VARIABLES: Property = inner("ParameterizedController", &items::VARIABLES)
    .label("User Defined Variables")
    .help("Lists the variables that it sets whenever it is asked for the next sampler.");
