//! The command line of `drumfire report`, and the files that `drumfire run` writes like it.

use std::path::PathBuf;

use crate::args::headings::{PASS, RESULTS};
use crate::settings::options::PropertyOptions;

/// The outcome of thresholds for CI systems.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct CiOptions {
    /// Write the outcome as JUnit XML
    #[arg(long, value_name = "FILE.xml", help_heading = PASS)]
    pub junit: Option<PathBuf>,
    /// Print the outcome as annotations that GitHub, Azure Pipelines or TeamCity shows
    #[arg(long, help_heading = PASS)]
    pub annotations: bool,
}

/// The numbers of each label for CI systems.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct OutcomeOptions {
    /// Write the outcome as Markdown, for a pull request or a build's summary
    #[arg(long, value_name = "FILE.md", help_heading = PASS)]
    pub markdown: Option<PathBuf>,
    /// Write the numbers of each label as OpenMetrics, which GitLab compares between branches
    #[arg(long, value_name = "FILE.txt", help_heading = PASS)]
    pub metrics: Option<PathBuf>,
}

/// The files of a report, and the options of `run` for them.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct ReportFiles {
    /// A folder with the page, `statistics.json` and the run file.
    #[arg(skip)]
    pub folder: Option<PathBuf>,
    /// A folder for the tables as CSV.
    #[arg(skip)]
    pub tables: Option<PathBuf>,
    /// Write the report as one HTML page when the run has ended
    #[arg(long = "report", alias = "html", value_name = "FILE.html", help_heading = RESULTS)]
    pub page: Option<PathBuf>,
    /// Write the run file here instead of to the history (`drumfire runs`), from the first second on: it holds everything measured, for 'report', 'compare' and 'merge'
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    pub run_file: Option<PathBuf>,
    /// Write no run file
    #[arg(long, conflicts_with = "run_file", help_heading = RESULTS)]
    pub no_run_file: bool,
    /// Write the outcome as JSON: verdict, thresholds, numbers of each label
    #[arg(long, value_name = "FILE.json", help_heading = RESULTS)]
    pub summary_json: Option<PathBuf>,
    #[command(flatten)]
    pub ci: CiOptions,
    #[command(flatten)]
    pub outcome: OutcomeOptions,
}

impl ReportFiles {
    /// Whether no file is asked for.
    pub fn is_empty(&self) -> bool {
        let written = ReportFiles {
            no_run_file: false,
            ..self.clone()
        };
        written == ReportFiles::default()
    }
}

/// The options of `report`.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
#[command(before_help = "  drumfire report results.jtl --report report.html")]
pub struct ReportArguments {
    /// A result file (.jtl, CSV or XML, also compressed with gzip) or a run file
    pub input: PathBuf,
    /// Write the page, statistics.json and the run file to this folder
    #[arg(short = 'o', long = "reportoutputfolder", value_name = "FOLDER")]
    pub folder: Option<PathBuf>,
    /// Empty the folder first
    #[arg(short = 'f', long)]
    pub force: bool,
    /// Write the page to this file
    #[arg(long = "report", alias = "html", value_name = "FILE.html")]
    pub page: Option<PathBuf>,
    /// Write a run file
    #[arg(long, value_name = "FILE")]
    pub run_file: Option<PathBuf>,
    /// Write the tables as CSV to this folder: labels, steps, errors, thresholds, findings
    #[arg(long, value_name = "FOLDER")]
    pub csv: Option<PathBuf>,
    /// Leave the warm-up, if there is one, out of statistics and thresholds; charts show it
    #[arg(long)]
    pub without_warm_up: bool,
    /// End with exit code 5 if this is true, such as 'errors > 1%' or 'p95 > 300ms'
    #[arg(long, value_name = "THRESHOLD")]
    pub fail_on: Vec<String>,
    /// Pass although a threshold cannot be judged, such as one on a label without samples
    #[arg(long)]
    pub allow_unjudged: bool,
    #[command(flatten)]
    pub ci: CiOptions,
    #[command(flatten)]
    pub outcome: OutcomeOptions,
    #[command(flatten)]
    pub properties: PropertyOptions,
    /// Whether JMeter's `-g` asked for the report; messages are then JMeter's.
    #[arg(skip)]
    pub is_jmeter: bool,
}

impl ReportArguments {
    /// The files to make.
    pub fn files(&self) -> ReportFiles {
        ReportFiles {
            folder: self.folder.clone(),
            page: self.page.clone(),
            run_file: self.run_file.clone(),
            tables: self.csv.clone(),
            ci: self.ci.clone(),
            outcome: self.outcome.clone(),
            ..ReportFiles::default()
        }
    }
}
