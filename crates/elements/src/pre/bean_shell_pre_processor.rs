//! BeanShell PreProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BeanShellPreProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "BeanShell PreProcessor",
    "TestBeanGUI",
)
.help("Runs a BeanShell script before each sample.")
.sections(&[script::BEANSHELL]);
