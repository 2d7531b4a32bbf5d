//! Constant Timer.

use crate::form::{ElementFacts, Property, Role, whole};

pub const CLASS: &str = "ConstantTimer";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Timer, CLASS, "Constant Timer", "ConstantTimerGui")
        .help("Delays each sample by the same time.")
        .fields(&[DELAY]);

pub const DELAY: Property = whole("ConstantTimer.delay")
    .label("Thread Delay (in milliseconds)")
    .default("300")
    .help("Sets the delay.");
