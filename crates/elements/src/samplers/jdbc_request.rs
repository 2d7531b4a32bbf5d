//! JDBC Request.

use crate::form::{ElementFacts, Role};
use crate::shared::jdbc;

pub const CLASS: &str = "JDBCSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "JDBC Request", "TestBeanGUI")
        .help("Sends a statement to a database.")
        .fields(&[jdbc::POOL])
        .sections(&[jdbc::STATEMENT]);
