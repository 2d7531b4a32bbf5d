//! Poisson Random Timer.

use crate::form::{ElementFacts, Property, Role, number, whole};

pub const CLASS: &str = "PoissonRandomTimer";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Timer,
    CLASS,
    "Poisson Random Timer",
    "PoissonRandomTimerGui",
)
.help("Delays samples by a time that is spread as by Poisson.")
.fields(&[RANGE, DELAY]);

pub const RANGE: Property = number("RandomTimer.range")
    .label("Lambda (in milliseconds)")
    .default("100")
    .help("Sets the mean of the random part.");

pub const DELAY: Property = whole("ConstantTimer.delay")
    .label("Constant Delay Offset (in milliseconds)")
    .default("300")
    .help("Is added to the random part.");
