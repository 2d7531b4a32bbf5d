//! JSR223 PostProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "JSR223PostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "JSR223 PostProcessor",
    "TestBeanGUI",
)
.help("Runs a script after each sample.")
.sections(&[script::JSR223]);
