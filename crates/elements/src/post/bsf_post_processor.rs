//! BSF PostProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BSFPostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "BSF PostProcessor",
    "TestBeanGUI",
)
.help("Runs a script of the Bean Scripting Framework after each sample.")
.sections(&[script::BSF]);
