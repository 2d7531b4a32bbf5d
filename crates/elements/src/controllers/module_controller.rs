//! Module Controller.

use crate::form::{ElementFacts, Property, Role, list};

pub const CLASS: &str = "ModuleController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Module Controller",
    "ModuleControllerGui",
)
.help("Runs another part of the plan in its place.")
.fields(&[NODE_PATH]);

pub const NODE_PATH: Property = list("ModuleController.node_path")
    .label("Module To Run")
    .help("Holds the names from the root of JMeter's tree down to the part that it runs.");
