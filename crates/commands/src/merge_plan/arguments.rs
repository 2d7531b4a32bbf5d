//! The command line of `drumfire merge-plan`.

use std::path::PathBuf;

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
