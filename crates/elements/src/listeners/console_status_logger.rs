//! jp@gc - Console Status Logger.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "kg.apc.jmeter.reporters.ConsoleStatusLogger";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - Console Status Logger",
    "kg.apc.jmeter.reporters.ConsoleStatusLoggerGui",
)
.help("Prints a line about the samples of each second.");
