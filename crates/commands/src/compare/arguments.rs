//! The command lines of `drumfire compare` and `drumfire merge`.

use std::path::PathBuf;

use crate::report::arguments::CiOptions;
use crate::settings::options::PropertyOptions;

/// The options of `compare`.
#[derive(Debug, Clone, PartialEq, clap::Args)]
#[command(before_help = "  drumfire compare before.jtl after.jtl")]
pub struct CompareArguments {
    /// Result files or run files; the others are compared with the first
    #[arg(required = true, num_args = 2..)]
    pub inputs: Vec<PathBuf>,
    /// Ignore changes smaller than this percentage
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    pub min_change: f64,
    /// Compare runs even if their plan, load or verdict forbids it
    #[arg(long)]
    pub anyway: bool,
    /// Write the comparison as one HTML page
    #[arg(long = "report", alias = "html", value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Write the comparison as Markdown
    #[arg(long, value_name = "FILE.md")]
    pub markdown: Option<PathBuf>,
    #[command(flatten)]
    pub ci: CiOptions,
    #[command(flatten)]
    pub properties: PropertyOptions,
}

/// The options of `merge`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire merge before.jtl after.jtl -o both.drumfire")]
pub struct MergeArguments {
    /// Result files or run files
    #[arg(required = true, num_args = 2..)]
    pub inputs: Vec<PathBuf>,
    /// The run file to write
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
    #[command(flatten)]
    pub properties: PropertyOptions,
}
