//! Switch Controller.

use crate::form::{ElementFacts, Property, Role, text};

pub const CLASS: &str = "SwitchController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Switch Controller",
    "SwitchControllerGui",
)
.help("Runs one of its children, selected by number or by name.")
.fields(&[VALUE]);

pub const VALUE: Property = text("SwitchController.value")
    .label("Switch Value")
    .help("Holds the number of the child from 0, or its name.");
