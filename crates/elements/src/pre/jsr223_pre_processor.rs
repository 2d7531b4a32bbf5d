//! JSR223 PreProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "JSR223PreProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "JSR223 PreProcessor",
    "TestBeanGUI",
)
.help("Runs a script before each sample.")
.sections(&[script::JSR223]);
