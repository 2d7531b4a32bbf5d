//! The questions of a session that the command line answers, which has the engine and the importers.

use std::path::Path;

use drumfire_jmx::{Diagnostic, Node, Tree};

use crate::refused::Refused;

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
}
