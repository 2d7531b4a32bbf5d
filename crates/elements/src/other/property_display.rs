//! Property Display.

use crate::form::{ElementFacts, Role};

pub use crate::config::http_defaults::CLASS;

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::NonTest,
    CLASS,
    "Property Display",
    "PropertyControlGui",
)
.help("Shows properties in JMeter's window.");
