//! Once Only Controller.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "OnceOnlyController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Once Only Controller",
    "OnceOnlyControllerGui",
)
.help("Runs its children in the first iteration of each user only.");
