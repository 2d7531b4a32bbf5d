//! JDBC PreProcessor (`JDBCPreProcessor`): runs a database statement before each sample in its scope.
//!
//! Properties and behaviour are the JDBC Request's. A failure is logged and does not change the sample.

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::java;
use crate::elements::jdbc::{self, JdbcStatement};
use crate::run::roles::{Act, PreProcessorRole};
use crate::run::view::PreProcessorView;

struct JdbcPreProcessor(JdbcStatement);

pub fn decode(d: &mut Decoder) -> Roles {
    if jdbc::runs_here(d.decoding) {
        Roles::pre(JdbcPreProcessor(JdbcStatement::decode(d)))
    } else {
        java::pre(d)
    }
}

impl PreProcessorRole for JdbcPreProcessor {
    fn turn<'a>(&'a self, cx: &'a mut PreProcessorView) -> Act<'a> {
        Act::wait(self.0.process(cx))
    }
}
