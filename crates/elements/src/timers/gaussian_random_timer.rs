//! Gaussian Random Timer.

use crate::form::{ElementFacts, Property, Role, number, whole};

pub const CLASS: &str = "GaussianRandomTimer";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Timer,
    CLASS,
    "Gaussian Random Timer",
    "GaussianRandomTimerGui",
)
.help("Delays samples by a time that is spread as a bell curve.")
.fields(&[RANGE, DELAY]);

pub const RANGE: Property = number("RandomTimer.range")
    .label("Deviation (in milliseconds)")
    .default("100.0")
    .help("Sets the standard deviation.");

pub const DELAY: Property = whole("ConstantTimer.delay")
    .label("Constant Delay Offset (in milliseconds)")
    .default("300")
    .help("Is added to the random part.");
