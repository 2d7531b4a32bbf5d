//! Generate Summary Results.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "Summariser";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "Generate Summary Results",
    "SummariserGui",
)
.help("Prints a summary again and again.");
