//! BeanShell PostProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BeanShellPostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "BeanShell PostProcessor",
    "TestBeanGUI",
)
.help("Runs a BeanShell script after each sample.")
.sections(&[script::BEANSHELL]);
