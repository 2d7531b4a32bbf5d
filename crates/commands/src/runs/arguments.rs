//! The command line of `drumfire runs`.

use std::path::PathBuf;

/// The options of `runs`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
#[command(
    before_help = "  drumfire runs",
    args_conflicts_with_subcommands = true
)]
pub struct RunsArguments {
    #[command(flatten)]
    pub list: ListedRuns,
    #[command(subcommand)]
    pub action: Option<RunsAction>,
}

impl RunsArguments {
    /// The options of the list, if the list is wanted.
    pub fn list(&self) -> Option<&ListedRuns> {
        match &self.action {
            None => Some(&self.list),
            Some(RunsAction::List(list)) => Some(list),
            Some(_) => None,
        }
    }
}

/// The options of `runs` and `runs list`.
#[derive(Debug, Clone, PartialEq, Eq, clap::Args)]
pub struct ListedRuns {
    /// Only the runs of this plan
    #[arg(long, value_name = "NAME")]
    pub plan: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The actions on runs. A run is named by its number in the list, by `last`, by its name or by its file.
#[derive(Debug, Clone, PartialEq, Eq, clap::Subcommand)]
pub enum RunsAction {
    /// List the runs, the latest first
    List(ListedRuns),
    /// Show the numbers of a run
    Show {
        /// The run
        #[arg(default_value = "last")]
        run: String,
    },
    /// Compare runs with the first of them; exit code 7 if one is worse
    Compare {
        /// The runs
        #[arg(required = true, num_args = 2..)]
        runs: Vec<String>,
        /// Compare runs even if their plan, load or verdict forbids it
        #[arg(long)]
        anyway: bool,
        /// Write the comparison as one HTML page
        #[arg(long = "report", alias = "html", value_name = "FILE.html")]
        page: Option<PathBuf>,
    },
    /// Show how the results of a plan changed from run to run
    Trend {
        /// Only the runs of this plan; by default, of the latest run's plan
        #[arg(long, value_name = "NAME")]
        plan: Option<String>,
        /// Write a page with charts
        #[arg(long = "report", alias = "html", value_name = "FILE.html")]
        page: Option<PathBuf>,
    },
    /// Remove runs
    Prune {
        /// The number of latest runs to keep
        #[arg(long, value_name = "COUNT", default_value_t = 20)]
        keep: usize,
        /// Only show which runs would be removed
        #[arg(long)]
        dry_run: bool,
    },
}
