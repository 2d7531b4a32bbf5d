//! JDBC PreProcessor (`JDBCPreProcessor`): a statement for a database before each sample in scope.
//!
//! Properties and behaviour are the JDBC Request's. What fails is logged, and the sample is not touched.

use crate::decode::Decoder;
use crate::elements::jdbc::JdbcStatement;
use crate::elements::{PreProcessor, Roles, java};
use crate::run::context::Context;

struct JdbcPreProcessor(JdbcStatement);

pub fn decode(d: &mut Decoder) -> Roles {
    match d.unit.jdbc.java {
        Some(_) => java::pre(d),
        None => Roles::pre(JdbcPreProcessor(JdbcStatement::decode(d))),
    }
}

impl PreProcessor for JdbcPreProcessor {
    /// It is waited for instead.
    fn process(&self, _: &mut Context) {}

    fn statement(&self) -> Option<&JdbcStatement> {
        Some(&self.0)
    }
}
