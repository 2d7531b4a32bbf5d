//! While Controller.

use crate::form::{ElementFacts, Language, Property, Role, code};

pub const CLASS: &str = "WhileController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "While Controller",
    "WhileControllerGui",
)
.help("Runs its children until its condition is false.")
.fields(&[CONDITION]);

pub const CONDITION: Property = code("WhileController.condition", Language::Condition)
    .label("Condition (function or variable)")
    .help("Ends the loop when it becomes `false`; a blank one ends it after a failed sample.");
