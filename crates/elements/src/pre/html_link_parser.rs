//! HTML Link Parser.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "AnchorModifier";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "HTML Link Parser",
    "AnchorModifierGui",
)
.help("Replaces patterns in a request by a link or form of the previous page.");
