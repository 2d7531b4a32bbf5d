//! JSR223 Sampler.

use crate::form::{ElementFacts, Role};
use crate::shared::script;

pub const CLASS: &str = "JSR223Sampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "JSR223 Sampler", "TestBeanGUI")
        .help("Runs a script as a sample.")
        .sections(&[script::JSR223]);
