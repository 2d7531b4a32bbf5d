//! Random Order Controller.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "RandomOrderController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Random Order Controller",
    "RandomOrderControllerGui",
)
.help("Runs all children, in a new random order each time.");
