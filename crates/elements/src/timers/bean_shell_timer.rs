//! BeanShell Timer.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "BeanShellTimer";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Timer, CLASS, "BeanShell Timer", "TestBeanGUI")
        .help("Asks a BeanShell script for the delay of each sample.")
        .sections(&[script::BEANSHELL]);
