//! jp@gc - Set Variables Action.

use crate::form::{ElementFacts, Property, Role, inner};
use crate::items;

pub const CLASS: &str = "kg.apc.jmeter.control.sampler.SetVariablesAction";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "jp@gc - Set Variables Action",
    "kg.apc.jmeter.control.sampler.SetVariablesActionGui",
)
.help("Sets variables and makes no sample.")
.fields(&[VARIABLES]);

pub const VARIABLES: Property = inner("SetVariablesAction", &items::VARIABLES)
    .label("User Defined Variables")
    .help("Lists the variables.");
