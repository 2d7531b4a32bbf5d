//! BSF Assertion.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BSFAssertion";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Assertion, CLASS, "BSF Assertion", "TestBeanGUI")
        .help("Lets a script of the Bean Scripting Framework decide whether a sample is a success.")
        .sections(&[script::BSF]);
