//! BSF Timer.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BSFTimer";

pub static FACTS: ElementFacts = ElementFacts::new(Role::Timer, CLASS, "BSF Timer", "TestBeanGUI")
    .help("Asks a script of the Bean Scripting Framework for the delay of each sample.")
    .sections(&[script::BSF]);
