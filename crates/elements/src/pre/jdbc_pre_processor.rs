//! JDBC PreProcessor.

use crate::form::{ElementFacts, Role};
use crate::shared::jdbc;

pub const CLASS: &str = "JDBCPreProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "JDBC PreProcessor",
    "TestBeanGUI",
)
.help("Sends a statement to a database before each sample.")
.fields(&[jdbc::POOL.label("Variable Name")])
.sections(&[jdbc::PROCESSOR_STATEMENT]);
