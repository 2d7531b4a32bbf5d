//! JSR223 Timer.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "JSR223Timer";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Timer, CLASS, "JSR223 Timer", "TestBeanGUI")
        .help("Asks a script for the delay of each sample.")
        .sections(&[script::JSR223]);
