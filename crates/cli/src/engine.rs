//! What the command line asks of the engine, and what it wants back. The engine itself knows nothing of terminals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use drumfire_jmx::Diagnostic;
use serde::Serialize;

use crate::properties::Settings;
use crate::terminal::snapshot::Snapshot;
use crate::terminal::summary::Summary;

/// Reads, compiles and runs plans.
pub trait Engine {
    /// A compiled plan.
    type Program;

    /// Says of every element and function of a plan how it is run.
    ///
    /// # Errors
    /// What is wrong with the file, if it cannot be read as a plan.
    fn survey(&self, plan: &Path, settings: &Settings) -> Result<Vec<SurveyRow>, Vec<Diagnostic>>;

    /// Compiles a plan; warnings come with it.
    ///
    /// # Errors
    /// Everything that is wrong with the plan, at once.
    fn compile(
        &self,
        plan: &Path,
        settings: &Settings,
    ) -> Result<(Self::Program, Vec<Diagnostic>), Vec<Diagnostic>>;

    /// The compiled plan as data.
    fn describe(&self, program: &Self::Program) -> PlanView;

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
    /// Called several times a second.
    fn tick(&mut self, snapshot: &Snapshot);
    /// A line of the summariser that is meant for standard output.
    fn summariser_line(&mut self, line: &str);
    /// The last user has ended; results are still being written.
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
    /// What went wrong with the results, such as a full disk; the run is a failure if there is anything.
    pub faults: Vec<String>,
}

/// How an element or a function is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rung {
    /// By Drumfire's own code.
    Native,
    /// By Java code inside the process.
    Jvm,
    /// Not at all, which changes nothing: disabled, or meant for the graphical interface.
    Skipped,
    /// Not at all; the plan does not run.
    Refused,
}

/// One element or function of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SurveyRow {
    /// Names from the Test Plan down to the element.
    pub path: Vec<String>,
    /// The element's class, or the function as `__name`.
    pub class: String,
    /// How it is run.
    pub rung: Rung,
    /// Why it is not native; empty if it is.
    pub why: String,
}

/// A plan as it will be run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PlanView {
    /// The elements in the order of the file.
    pub tree: Vec<TreeRow>,
    /// Properties that the plan reads, with their values; none if the property is not set.
    pub properties: Vec<(String, Option<String>)>,
    /// The thread groups.
    pub groups: Vec<GroupShape>,
}

/// One element of the tree.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TreeRow {
    /// 0 for the Test Plan.
    pub depth: usize,
    /// The element's class.
    pub class: String,
    /// Its name, with properties put in.
    pub name: String,
    /// Whether it takes part.
    pub enabled: bool,
}

/// When the users of a thread group start and stop.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct GroupShape {
    /// The group's name.
    pub name: String,
    /// Iterations per user; none if only time ends it.
    pub iterations: Option<u64>,
    /// One window per user.
    pub users: Vec<UserWindow>,
}

/// When one user starts and stops, in milliseconds from the start of the run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct UserWindow {
    /// The start.
    pub start_ms: u64,
    /// The latest stop; none if only its iterations end it.
    pub stop_ms: Option<u64>,
}
