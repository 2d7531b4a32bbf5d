//! The command line of `drumfire rename`.

use std::path::PathBuf;

/// The options of `rename`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire rename plan.jmx var token session_token")]
pub struct RenameArguments {
    /// A plan (.jmx); plans that it includes and plans of the project that include it change too
    pub plan: PathBuf,
    /// The kind of thing to rename
    #[arg(value_enum)]
    pub what: RenamedThing,
    /// The current name; for an element also a path such as 'Users > Log in'
    pub old: String,
    /// The new name
    pub new: String,
    /// Rename the column in the first line of CSV files too
    #[arg(long)]
    pub csv: bool,
    /// Only show what would change
    #[arg(long)]
    pub dry_run: bool,
}

/// The kind of thing that gets another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RenamedThing {
    /// A variable, with its parts such as name_1
    Var,
    /// An element, with the Module and Switch Controllers that name it
    Element,
}
