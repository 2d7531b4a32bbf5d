//! JDBC PostProcessor (`JDBCPostProcessor`): runs a database statement after each sample in its scope.
//!
//! Properties and behaviour are the JDBC Request's. A failure is logged and does not change the sample.

use drumfire_results::Sample;

use crate::decode::Decoder;
use crate::decode::roles::Roles;
use crate::elements::java;
use crate::elements::jdbc::{self, JdbcStatement};
use crate::run::needs::Needs;
use crate::run::roles::{Act, PostProcessorRole};
use crate::run::view::PostProcessorView;

struct JdbcPostProcessor(JdbcStatement);

pub fn decode(d: &mut Decoder) -> Roles {
    if jdbc::runs_here(d.decoding) {
        Roles::post(JdbcPostProcessor(JdbcStatement::decode(d)))
    } else {
        java::post(d)
    }
}

impl PostProcessorRole for JdbcPostProcessor {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, _: &'a mut Sample) -> Act<'a> {
        Act::wait(self.0.process(cx))
    }

    fn reads(&self) -> Needs {
        Needs::NOTHING
    }
}
