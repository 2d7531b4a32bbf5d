//! The command line of `drumfire matrix`.

use std::path::PathBuf;

/// The options of `matrix`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire matrix shop.jmx --report matrix.html")]
pub struct MatrixArguments {
    /// The plan (.jmx); by default, the plan of `[matrix]`
    pub plan: Option<PathBuf>,
    /// Only list the combinations
    #[arg(long)]
    pub list: bool,
    /// Run all combinations again, including those that already have results
    #[arg(long)]
    pub again: bool,
    /// Write a page with the table, with links to the report of each combination and to the comparison
    #[arg(long = "report", alias = "html", value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Write the table as Markdown
    #[arg(long, value_name = "FILE.md")]
    pub markdown: Option<PathBuf>,
    /// Options for each `drumfire run`, behind `--`
    #[arg(last = true, value_name = "OPTION")]
    pub options: Vec<String>,
}
