//! jp@gc - Inter-Thread Communication PreProcessor.

use crate::form::{ElementFacts, Property, Role, text, whole};

pub const CLASS: &str = "kg.apc.jmeter.modifiers.FifoPopPreProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "jp@gc - Inter-Thread Communication PreProcessor",
    "kg.apc.jmeter.modifiers.FifoPopPreProcessorGui",
)
.help("Takes the first value of a queue into a variable.")
.fields(&[QUEUE, VARIABLE, TIMEOUT]);

pub const QUEUE: Property = text("FifoName")
    .label("FIFO Queue Name to Get Data From")
    .default("SYNC_FIFO")
    .help("Names the queue.");

pub const VARIABLE: Property = text("Variable")
    .label("Variable Name to Store Data")
    .default("gotData")
    .sets()
    .help("Names the variable.");

pub const TIMEOUT: Property = whole("Timeout")
    .label("Timeout")
    .help("Waits at most this many seconds for a value.");
