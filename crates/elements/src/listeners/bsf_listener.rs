//! BSF Listener.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BSFListener";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Listener, CLASS, "BSF Listener", "TestBeanGUI")
        .help("Runs a script of the Bean Scripting Framework for each sample that has ended.")
        .sections(&[script::BSF]);
