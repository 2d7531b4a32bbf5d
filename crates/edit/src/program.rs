//! The questions of a session that the command line answers, which has the engine and the importers.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use drumfire_jmx::{Diagnostic, Node, Tree};

use crate::protocol::methods::RunSampleDetail;
use crate::protocol::types::{RunDetail, RunOutcome, RunSample};
use crate::refused::Refused;
use crate::tree::Id;

/// Findings in a plan beyond its syntax.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Errors and warnings, with their positions.
    pub findings: Vec<Diagnostic>,
    /// Advice, one entry for each element.
    pub advice: Vec<Hint>,
    /// How each element runs, in the order of the file; empty if that was not asked for.
    pub rungs: Vec<Rung>,
}

/// How an element runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rung {
    /// Drumfire runs it.
    Native,
    /// Its own Java class runs it.
    Java,
    /// It is not run, which changes nothing.
    Skipped,
    /// It keeps the plan from running.
    Refused,
}

/// Advice about an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    /// A stable name to search for, such as `xpath-tolerant`.
    pub rule: String,
    /// The finding, its reason and the remedy.
    pub message: String,
    /// The line of the element's start tag, from 1.
    pub line: usize,
    /// The names from the Test Plan down to the element.
    pub path: Vec<String>,
    /// The property that decides it, if it is one.
    pub property: Option<String>,
}

/// The order to run a part of a plan.
#[derive(Debug, Clone)]
pub struct PartOrder {
    /// The file of the plan, whose folder holds the files that it names.
    pub plan: PathBuf,
    /// The part.
    pub tree: Tree,
    /// The number of the element that begins at each offset of the part's text.
    pub ids: HashMap<usize, Id>,
    /// The users of each thread group.
    pub users: u32,
    /// The iterations of each thread group.
    pub iterations: u32,
    /// Variables that users have when their first element has its turn.
    pub variables: BTreeMap<String, String>,
    /// Properties of this run.
    pub properties: BTreeMap<String, String>,
}

/// A message of a running part.
#[derive(Debug, Clone)]
#[expect(
    clippy::large_enum_variant,
    reason = "made once for each sample, and written at once"
)]
pub enum PartEvent {
    /// A sample is complete.
    Sample(RunSample),
    /// The run is over.
    Ended(RunOutcome),
}

/// Receives what a running part tells.
pub type PartListener = Box<dyn Fn(PartEvent) + Send + Sync>;

/// A part of a plan that runs, or has run.
pub trait RunningPart: Send + Sync {
    /// Ends the run.
    fn stop(&self);

    /// Whether the run is over.
    fn is_over(&self) -> bool;

    /// A sample with everything that is known of it, and a window of its body.
    ///
    /// # Errors
    /// There is no such sample, or its body cannot be read.
    fn sample(&self, asked: &RunSampleDetail) -> Result<RunDetail, Refused>;

    /// The numbers of the samples whose request or response has a text, in any case.
    fn search(&self, text: &str) -> Vec<usize>;
}

/// The program around the sessions.
pub trait Program: Send + Sync {
    /// The findings of a plan whose text may not be saved yet.
    fn inspect(&self, plan: &Path, tree: &Tree) -> Inspection;

    /// The elements of a text that is no plan: a cURL command, an entry of a recording, a request as it is sent, an API
    /// description.
    ///
    /// # Errors
    /// No importer reads the text.
    fn import(&self, text: &str) -> Result<Vec<Node>, Refused>;

    /// The plan as the last commit of its repository has it; `None` if there is no repository, or the commit lacks the plan.
    fn committed(&self, plan: &Path) -> Option<Vec<u8>>;

    /// A property that the runs of a plan have.
    fn property(&self, plan: &Path, name: &str) -> Option<String>;

    /// What jars of the user say of the forms of these classes, as `drumfire-jvm` tells it; `None` if no jar has one of them. Takes
    /// seconds.
    fn forms(&self, classes: &[&str]) -> Option<String>;

    /// Runs a part of a plan.
    ///
    /// # Errors
    /// The part cannot run.
    fn run(
        &self,
        order: PartOrder,
        listener: PartListener,
    ) -> Result<Arc<dyn RunningPart>, Refused>;
}
