//! The settings of a run that are not in the plan.

use std::path::PathBuf;

use drumfire_expr::Properties;

use crate::run::debug::Debugging;
use crate::run::java::host::Java;
use crate::run::share::Share;

/// The properties of a run, its files, and its Java.
#[derive(Clone, Default)]
pub struct RunSettings {
    pub properties: Properties,
    /// Folder of the plan: relative file names start here.
    pub base_dir: PathBuf,
    /// The results file of the command line (`-l`).
    pub results: Option<PathBuf>,
    /// This machine's name, for the host name column.
    pub hostname: String,
    /// The host of scripts and Java elements.
    pub java: Java,
    /// The names of the properties that the command line sets.
    pub given: Vec<String>,
    /// The debugger that follows the users step by step.
    pub debugging: Debugging,
    /// The part of the plan that this machine runs.
    pub share: Share,
}
