//! JDBC PostProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::jdbc;

pub const CLASS: &str = "JDBCPostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "JDBC PostProcessor",
    "TestBeanGUI",
)
.help("Sends a statement to a database after each sample.")
.fields(&[jdbc::POOL.label("Variable Name")])
.sections(&[jdbc::PROCESSOR_STATEMENT]);
