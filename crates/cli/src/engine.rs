//! What the command line asks of the engine. The engine itself knows nothing of terminals; that the commands reach it
//! through a trait lets their tests follow a script instead of sending load.

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use drumfire_engine::{
    Advice, AdvicePlace, Demand, Effect, GroupView, LevelUnit, PlanView, PropertyRow, Rung,
    Stretch, Survey, SurveyRow, TreeRow, UserWindow,
};
use drumfire_health::{Second, Verdict};
use drumfire_jmx::Diagnostic;
use drumfire_results::{Connections, Recording};

use crate::properties::Settings;
use crate::terminal::snapshot::Snapshot;
use crate::terminal::summary::Summary;

/// Reads, compiles and runs plans.
pub trait Engine {
    /// A compiled plan.
    type Program;

    /// Says of every element and function of a plan how it is run, and what compiling it says.
    ///
    /// # Errors
    /// What is wrong with the file, if it cannot be read as a plan.
    fn survey(&self, plan: &Path, settings: &Settings) -> Result<Survey, Vec<Diagnostic>>;

    /// Compiles a plan; warnings come with it.
    ///
    /// # Errors
    /// Everything that is wrong with the plan, at once.
    fn compile(
        &self,
        plan: &Path,
        settings: &Settings,
        order: &RunOrder,
    ) -> Result<(Self::Program, Vec<Diagnostic>), Vec<Diagnostic>>;

    /// The result files that a run writes.
    fn result_files(&self, _program: &Self::Program) -> Vec<PathBuf> {
        Vec::new()
    }

    /// The compiled plan as data.
    fn describe(&self, program: &Self::Program) -> PlanView;

    /// What there is of Java for plans that need it, after what is missing has been brought if `install` says so.
    ///
    /// # Errors
    /// What is missing, and how to get it.
    fn java(&self, settings: &Settings, install: bool) -> Result<String, String>;

    /// Runs a plan to its end on this thread.
    ///
    /// # Errors
    /// Why it could not start or go on.
    fn run(
        &self,
        program: Self::Program,
        order: &RunOrder,
        watch: &mut dyn Watch,
    ) -> anyhow::Result<Outcome>;
}

/// How to run a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOrder {
    /// Where samples go beside the listeners of the plan (`-l`).
    pub results: Option<PathBuf>,
    /// Delete the files of all result listeners before the start (`-f`).
    pub delete_results: bool,
}

/// Told by the engine how a run goes on; always called on the thread of [`Engine::run`].
pub trait Watch {
    /// The first user is about to start; `stop` ends the run early and may be used on any thread.
    fn started(&mut self, stop: Arc<dyn Stop>);
    /// Whether anybody looks at [`tick`](Watch::tick)'s numbers.
    fn wants_snapshots(&self) -> bool;
    /// Called several times a second, if wanted.
    fn tick(&mut self, snapshot: &Snapshot);
    /// A line of the summariser that is meant for standard output.
    fn summariser_line(&mut self, line: &str);
    /// Something is wrong that the user can mend while the run goes on, such as a full disk.
    fn warning(&mut self, text: &str);
    /// The last user has ended and the results are written.
    fn tidying_up(&mut self);
}

/// Ends a run early.
pub trait Stop: Send + Sync {
    /// Users finish the sample at hand.
    fn shutdown(&self);
    /// Samples are broken off.
    fn stop_now(&self);
}

/// How a run went.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// The numbers.
    pub summary: Summary,
    /// The numbers in full.
    pub recording: Recording,
    /// Start of the run, in milliseconds since the Unix epoch.
    pub started_ms: i64,
    /// End of the run, in milliseconds since the Unix epoch.
    pub ended_ms: i64,
    /// What became of the connections.
    pub connections: Connections,
    /// What went wrong with the results, such as a full disk; the run is a failure if there is anything.
    pub faults: Vec<String>,
    /// Why the run sent nothing, if it did not.
    pub nothing_sent: Option<String>,
    /// Whether the numbers can be trusted; none if nothing was watched.
    pub verdict: Option<Verdict>,
    /// What the machine and the generator did, second by second.
    pub seconds: Vec<Second>,
    /// What happened, with when, in milliseconds since the Unix epoch.
    pub marks: Vec<(i64, String)>,
}
