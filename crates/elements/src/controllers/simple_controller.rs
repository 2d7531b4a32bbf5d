//! Simple Controller.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "GenericController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Simple Controller",
    "LogicControllerGui",
)
.help("Groups its children.");
