//! Uniform Random Timer.

use crate::form::{ElementFacts, Property, Role, number, whole};

pub const CLASS: &str = "UniformRandomTimer";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Timer,
    CLASS,
    "Uniform Random Timer",
    "UniformRandomTimerGui",
)
.help("Delays samples by a time that is spread evenly.")
.fields(&[RANGE, DELAY]);

pub const RANGE: Property = number("RandomTimer.range")
    .label("Random Delay Maximum (in milliseconds)")
    .default("100.0")
    .help("Sets the greatest random part.");

pub const DELAY: Property = whole("ConstantTimer.delay")
    .label("Constant Delay Offset (in milliseconds)")
    .default("0")
    .help("Is added to the random part.");
