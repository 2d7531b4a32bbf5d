//! JSR223 Listener.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "JSR223Listener";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Listener, CLASS, "JSR223 Listener", "TestBeanGUI")
        .help("Runs a script for each sample that has ended.")
        .sections(&[script::JSR223]);
