//! Include Controller.

use crate::form::{ElementFacts, FileUse, Property, Role, file};

pub const CLASS: &str = "IncludeController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Include Controller",
    "IncludeControllerGui",
)
.help("Runs the Test Fragment of another plan in its place.")
.fields(&[FILE]);

pub const FILE: Property = file("IncludeController.includepath", FileUse::Plan)
    .label("Filename")
    .help("Names the plan.");
