//! JSR223 Assertion.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "JSR223Assertion";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Assertion, CLASS, "JSR223 Assertion", "TestBeanGUI")
        .help("Lets a script decide whether a sample is a success.")
        .sections(&[script::JSR223]);
