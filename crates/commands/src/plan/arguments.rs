//! The command line of `drumfire plan`.

use std::path::PathBuf;

use crate::settings::options::PropertyOptions;

/// The options of `plan`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire plan plan.jmx")]
pub struct PlanArguments {
    /// The plan (.jmx)
    pub plan: PathBuf,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Show how the load is divided among this many agents of equal weight
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub agents: Option<u32>,
    #[command(flatten)]
    pub properties: PropertyOptions,
}
