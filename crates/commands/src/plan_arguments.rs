//! The arguments of commands that work on plans as files.

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
