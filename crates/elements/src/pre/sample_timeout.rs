//! Sample Timeout.

use crate::form::{ElementFacts, Property, Role, whole};

pub const CLASS: &str = "SampleTimeout";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "Sample Timeout",
    "SampleTimeoutGui",
)
.help("Interrupts samples that take too long.")
.fields(&[TIMEOUT]);

pub const TIMEOUT: Property = whole("InterruptTimer.timeout")
    .label("Sample timeout (in milliseconds)")
    .default("10000")
    .help("Sets the limit; 0 is none.");
