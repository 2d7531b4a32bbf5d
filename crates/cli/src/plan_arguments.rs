//! The arguments of commands that work on plans as files.

use std::path::PathBuf;

/// The options of `rename`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire rename plan.jmx var token session_token")]
pub struct RenameArguments {
    /// A plan (.jmx); plans that it includes and plans of the project that include it change too
    pub plan: PathBuf,
    /// What is renamed
    #[arg(value_enum)]
    pub what: RenamedThing,
    /// The name now; of an element also a path such as 'Users > Log in'
    pub old: String,
    /// The new name
    pub new: String,
    /// Rename the column in the first line of CSV files too
    #[arg(long)]
    pub csv: bool,
    /// Only say what would change
    #[arg(long)]
    pub dry_run: bool,
}

/// What gets another name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RenamedThing {
    /// A variable, with its parts such as name_1
    Var,
    /// An element, with the Module and Switch Controllers that name it
    Element,
}

/// The options of `merge-plan`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  git config merge.jmx.driver 'drumfire merge-plan %O %A %B --path %P'")]
pub struct MergePlanArguments {
    /// The common ancestor (%O)
    pub base: PathBuf,
    /// Our plan (%A); the merged plan is written there
    pub ours: PathBuf,
    /// Their plan (%B)
    pub theirs: PathBuf,
    /// The name of the plan in messages (%P)
    #[arg(long, value_name = "PATH")]
    pub path: Option<PathBuf>,
    /// Write the merged plan here instead
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}
