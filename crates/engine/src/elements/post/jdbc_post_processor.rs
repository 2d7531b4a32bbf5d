//! JDBC PostProcessor (`JDBCPostProcessor`): a statement for a database after each sample in scope.
//!
//! Properties and behaviour are the JDBC Request's. What fails is logged, and the sample is not touched.

use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::elements::jdbc::JdbcStatement;
use crate::elements::{PostProcessor, Roles, java};
use crate::run::context::Context;
use crate::run::program::Needs;

struct JdbcPostProcessor(JdbcStatement);

pub fn decode(d: &mut Decoder) -> Roles {
    match d.unit.jdbc.java {
        Some(_) => java::post(d),
        None => Roles::post(JdbcPostProcessor(JdbcStatement::decode(d))),
    }
}

impl PostProcessor for JdbcPostProcessor {
    /// It is waited for instead.
    fn process(&self, _: &mut Context, _: &mut Sample) {}

    fn statement(&self) -> Option<&JdbcStatement> {
        Some(&self.0)
    }

    fn needs(&self) -> Needs {
        Needs::NOTHING
    }
}
