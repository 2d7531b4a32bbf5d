//! Where the command line meets the engine.

use std::convert::Infallible;
use std::path::Path;

use drumfire::engine::{Engine, Outcome, PlanView, RunOrder, SurveyRow, Watch};
use drumfire::properties::Settings;
use drumfire_jmx::Diagnostic;

/// The engine of this build. It has none yet: plans are read, so that what is wrong with the file is told, and then
/// refused.
pub struct Wiring;

fn no_engine(plan: &Path) -> Vec<Diagnostic> {
    match drumfire_jmx::read_file(plan) {
        Err(faults) => faults,
        Ok(_) => vec![
            Diagnostic::error("no-engine", format!("{} cannot be run", plan.display()))
                .help("this build of drumfire has no engine"),
        ],
    }
}

impl Engine for Wiring {
    type Program = Infallible;

    fn survey(&self, plan: &Path, _: &Settings) -> Result<Vec<SurveyRow>, Vec<Diagnostic>> {
        Err(no_engine(plan))
    }

    fn compile(
        &self,
        plan: &Path,
        _: &Settings,
    ) -> Result<(Infallible, Vec<Diagnostic>), Vec<Diagnostic>> {
        Err(no_engine(plan))
    }

    fn describe(&self, program: &Infallible) -> PlanView {
        match *program {}
    }

    fn run(&self, program: Infallible, _: &RunOrder, _: &mut dyn Watch) -> anyhow::Result<Outcome> {
        match program {}
    }
}
