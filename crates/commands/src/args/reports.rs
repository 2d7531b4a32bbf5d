//! The arguments of the commands that read the files of runs: `report`, `compare`, `merge`; and the outputs that `run` shares
//! with them.

use std::path::PathBuf;

use super::{PASS, PropertyArguments};
use crate::options::{Change, CompareOrder, MergeOrder, ReportFiles, ReportOptions};
use crate::thresholds::ALLOW_UNJUDGED;

/// The outcome of thresholds for CI systems.
#[derive(Debug, Default, clap::Args)]
pub(super) struct CiArguments {
    /// Write the outcome as JUnit XML
    #[arg(long, value_name = "FILE.xml", help_heading = PASS)]
    pub junit: Option<PathBuf>,
    /// Print the outcome as annotations that GitHub, Azure Pipelines or TeamCity shows
    #[arg(long, help_heading = PASS)]
    pub annotations: bool,
}

/// The numbers of each label for CI systems.
#[derive(Debug, Default, clap::Args)]
pub(super) struct OutcomeArguments {
    /// Write the outcome as Markdown, for a pull request or a build's summary
    #[arg(long, value_name = "FILE.md", help_heading = PASS)]
    pub markdown: Option<PathBuf>,
    /// Write the numbers of each label as OpenMetrics, which GitLab compares between branches
    #[arg(long, value_name = "FILE.txt", help_heading = PASS)]
    pub metrics: Option<PathBuf>,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire report results.jtl --report report.html")]
pub(super) struct ReportArguments {
    /// A result file (.jtl, CSV or XML, also compressed with gzip) or a run file
    input: PathBuf,
    /// Write the page, statistics.json and the run file to this folder
    #[arg(short = 'o', long = "reportoutputfolder", value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Empty the folder first
    #[arg(short = 'f', long)]
    force: bool,
    /// Write the page to this file
    #[arg(long = "report", alias = "html", value_name = "FILE.html")]
    page: Option<PathBuf>,
    /// Write a run file
    #[arg(long, value_name = "FILE")]
    run_file: Option<PathBuf>,
    /// End with exit code 5 if this is true, such as 'errors > 1%' or 'p95 > 300ms'
    #[arg(long, value_name = "THRESHOLD")]
    fail_on: Vec<String>,
    /// Pass although a threshold cannot be judged, such as one on a label without samples
    #[arg(long)]
    allow_unjudged: bool,
    #[command(flatten)]
    ci: CiArguments,
    #[command(flatten)]
    outcome: OutcomeArguments,
    #[command(flatten)]
    properties: PropertyArguments,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire compare before.jtl after.jtl")]
pub(super) struct CompareArguments {
    /// Result files or run files; the others are compared with the first
    #[arg(required = true, num_args = 2..)]
    inputs: Vec<PathBuf>,
    /// Ignore changes smaller than this percentage
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0)]
    min_change: f64,
    /// Compare runs even if their plan, load or verdict forbids it
    #[arg(long)]
    anyway: bool,
    /// Write the comparison as one HTML page
    #[arg(long = "report", alias = "html", value_name = "FILE.html")]
    page: Option<PathBuf>,
    /// Write the comparison as Markdown
    #[arg(long, value_name = "FILE.md")]
    markdown: Option<PathBuf>,
    #[command(flatten)]
    ci: CiArguments,
    #[command(flatten)]
    properties: PropertyArguments,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire merge before.jtl after.jtl -o both.drumfire")]
pub(super) struct MergeArguments {
    /// Result files or run files
    #[arg(required = true, num_args = 2..)]
    inputs: Vec<PathBuf>,
    /// The run file to write
    #[arg(short = 'o', long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    properties: PropertyArguments,
}

impl ReportArguments {
    pub fn into_options(self) -> ReportOptions {
        let mut properties = self.properties.into_options();
        if self.allow_unjudged {
            properties.changes.push(Change::switched_on(ALLOW_UNJUDGED));
        }
        ReportOptions {
            input: self.input,
            files: ReportFiles {
                folder: self.folder,
                pages: self.page.into_iter().collect(),
                runs: self.run_file.into_iter().collect(),
                summary: None,
                junit: self.ci.junit,
                markdown: self.outcome.markdown,
                metrics: self.outcome.metrics,
                annotations: self.ci.annotations,
            },
            force: self.force,
            fail_on: self.fail_on,
            properties,
            is_jmeter: false,
        }
    }
}

impl CompareArguments {
    pub fn into_order(self) -> CompareOrder {
        CompareOrder {
            inputs: self.inputs,
            smallest_change: self.min_change / 100.0,
            anyway: self.anyway,
            page: self.page,
            markdown: self.markdown,
            junit: self.ci.junit,
            annotations: self.ci.annotations,
            properties: self.properties.into_options(),
        }
    }
}

impl MergeArguments {
    pub fn into_order(self) -> MergeOrder {
        MergeOrder {
            inputs: self.inputs,
            output: self.output,
            properties: self.properties.into_options(),
        }
    }
}
