//! jp@gc - Inter-Thread Communication PostProcessor.

use crate::form::{ElementFacts, Property, Role, text};

pub const CLASS: &str = "kg.apc.jmeter.modifiers.FifoPutPostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "jp@gc - Inter-Thread Communication PostProcessor",
    "kg.apc.jmeter.modifiers.FifoPutPostProcessorGui",
)
.help("Appends a value to a queue.")
.fields(&[QUEUE, VALUE]);

pub const QUEUE: Property = text("FifoName")
    .label("FIFO Queue Name to Put Data Into")
    .default("SYNC_FIFO")
    .help("Names the queue.");

pub const VALUE: Property = text("Value").label("Value to Put").help("Is the value.");
