//! The command line of `drumfire doctor`.

use std::path::PathBuf;

use crate::settings::options::PropertyOptions;

/// The options of `doctor`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire doctor plan.jmx")]
pub struct DoctorArguments {
    /// A plan (.jmx) to check against the limits
    pub plan: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub properties: PropertyOptions,
}
