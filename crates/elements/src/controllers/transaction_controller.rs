//! Transaction Controller.

use crate::form::{ElementFacts, Property, Role, flag};

pub const CLASS: &str = "TransactionController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Transaction Controller",
    "TransactionControllerGui",
)
.help("Adds a sample that sums up its children.")
.fields(&[PARENT, INCLUDE_TIMERS]);

pub const PARENT: Property = flag("TransactionController.parent")
    .label("Generate parent sample")
    .help("Makes the children sub-samples of that sample.");

pub const INCLUDE_TIMERS: Property = flag("TransactionController.includeTimers")
    .label("Include duration of timer and pre-post processors in generated sample")
    .default("false")
    .absent("true")
    .help("Counts the time of timers and of pre- and post-processors.");
