//! BeanShell Listener.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BeanShellListener";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Listener, CLASS, "BeanShell Listener", "TestBeanGUI")
        .help("Runs a BeanShell script for each sample that has ended.")
        .sections(&[script::BEANSHELL]);
