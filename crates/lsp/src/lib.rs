//! A language server for plans: findings while typing, outline, definitions and references of variables, properties, modules
//! and files, rename across a project, hover, completion, code actions and formatting.
//!
//! It speaks the Language Server Protocol over a [`Connection`] and handles one message at a time on one thread. When no
//! message is waiting, it publishes the errors of the text, and a second thread inspects the plan, so that typing never waits
//! for an inspection. The findings come from an [`Inspector`], which the command line provides, because this crate does not
//! depend on the engine.

#![warn(missing_docs)]

mod actions;
mod completion;
mod diagnostics;
mod docs;
mod document;
#[cfg(fuzzing)]
pub mod fuzzing;
mod hover;
mod names;
mod outline;
mod protocol;
mod server;
mod settings;
mod transport;
mod uri;
mod values;
mod workspace;

use std::ops::Range;
use std::path::Path;

use drumfire_jmx::Tree;

pub use drumfire_edit::{Hint, Inspection};
pub use lsp_server::Connection;
pub use server::{ServeError, serve};
pub use transport::{MessageThreads, stdio};

/// Inspects plans and projects.
pub trait Inspector {
    /// The errors of a plan whose text may not be saved yet.
    fn inspect(&self, plan: &Path, tree: &Tree) -> Inspection;

    /// The properties that apply to a plan.
    fn properties(&self, plan: &Path) -> Vec<(String, String)>;

    /// The errors of a `drumfire.toml`: byte ranges and messages.
    fn project(&self, text: &str) -> Vec<(Range<usize>, String)>;
}
