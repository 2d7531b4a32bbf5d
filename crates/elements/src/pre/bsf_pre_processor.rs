//! BSF PreProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BSFPreProcessor";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::PreProcessor, CLASS, "BSF PreProcessor", "TestBeanGUI")
        .help("Runs a script of the Bean Scripting Framework before each sample.")
        .sections(&[script::BSF]);
