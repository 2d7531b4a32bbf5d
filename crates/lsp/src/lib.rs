//! A language server for plans: findings while one types, outline, definitions and references of variables, properties, modules
//! and files, rename over a project, hover, completion, code actions and formatting.
//!
//! It speaks the Language Server Protocol over a [`Connection`], one message after the other on one thread. When no message has
//! come for a moment, faults of the text are published, and a second thread inspects the plan, so that typing is never slowed
//! down. Its findings come from an [`Inspector`], which the command line provides, since this crate does not know the engine.

#![warn(missing_docs)]

mod actions;
mod completion;
mod diagnostics;
mod docs;
mod document;
mod hover;
mod names;
mod outline;
mod server;
mod uri;
mod values;
mod workspace;

use std::ops::Range;
use std::path::Path;

use drumfire_jmx::{Diagnostic, Tree};

pub use lsp_server::Connection;
pub use server::{ServeError, serve};

/// Findings in a plan besides those of its form.
#[derive(Debug, Default)]
pub struct Inspection {
    /// Faults and warnings, with their places.
    pub findings: Vec<Diagnostic>,
    /// Advice, an entry for each element.
    pub advice: Vec<Hint>,
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
}

/// Looks into plans and projects.
pub trait Inspector {
    /// The faults of a plan whose text may not be saved yet.
    fn inspect(&self, plan: &Path, tree: &Tree) -> Inspection;

    /// The properties that hold for a plan.
    fn properties(&self, plan: &Path) -> Vec<(String, String)>;

    /// The faults of a `drumfire.toml`: places in bytes, and messages.
    fn project(&self, text: &str) -> Vec<(Range<usize>, String)>;
}
