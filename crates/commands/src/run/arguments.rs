//! The command line of `drumfire run` and `drumfire attach`.

use std::path::{Path, PathBuf};

use clap::ValueHint;
use clap::builder::{PathBufValueParser, TypedValueParser};
use drumfire_report::WITHOUT_WARM_UP;
use drumfire_serve::ListenAddress;

use crate::args::headings::{METRICS, PASS, PROPERTIES, RESULTS, SHOWN};
use crate::exit_codes;
use crate::fleet::arguments::{FleetOptions, has_no_effect};
use crate::log::options::LogOptions;
use crate::refusal::UsageError;
use crate::report::arguments::ReportFiles;
use crate::run::criteria::thresholds::ALLOW_UNJUDGED;
use crate::run::criteria::until::Goal;
use crate::run::load_options::LoadOptions;
use crate::run::trace_options::TraceOptions;
use crate::settings::authorities;
use crate::settings::options::{Change, PropertyOptions};

/// The first lines of `drumfire help run`: the most common uses.
const RUN_EXAMPLES: &str = "\
  drumfire run --demo                              try it: a plan against a shop
  drumfire run plan.jmx                            numbers, a verdict at the end
  drumfire run plan.jmx -Jusers=50                 set what __P reads
  drumfire run plan.jmx --users 9 --duration 1m    another load
  drumfire run plan.jmx -l results.jtl             a row for each sample
  drumfire run plan.jmx --report report.html       one page with everything
  drumfire run plan.jmx --fail-on 'p95 > 300ms'    exit code 5 if it is true
  drumfire run plan.jmx --until 'p95 within 2%'    as long as it takes
  drumfire run plan.jmx --strict                   exit code 6 unless VALID
  drumfire run plan.jmx --summary-json run.json    the outcome for programs
  drumfire run plan.jmx --progress lines           summary lines, no live view
  drumfire run https://shop.example/               no plan: one address
  drumfire check plan.jmx                          whether it can run

Ctrl-C once lets users finish their sample, twice ends at once; rows are whole
either way.";

/// The message of a `run` without a plan and without `--demo`.
const NO_PLAN: &str = "`run` needs a plan or an address
hint: name one, such as `drumfire run plan.jmx`, or try the built-in plan with `drumfire run --demo`";

/// The options of `run` and `attach`.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
#[command(before_help = RUN_EXAMPLES, after_help = exit_code_help())]
pub struct RunArguments {
    /// The plan (.jmx), or none with --demo; with an address instead, see `drumfire run URL --help`
    #[arg(value_parser = PathBufValueParser::new().map(PlanChoice::File), value_hint = ValueHint::AnyPath)]
    pub plan: Option<PlanChoice>,
    #[command(flatten)]
    pub load: LoadOptions,
    /// Write the samples to this file; it is appended to if it exists
    #[arg(
        short = 'l',
        long = "logfile",
        value_name = "FILE",
        value_parser = PathBufValueParser::new().map(ResultsFile::File),
        value_hint = ValueHint::AnyPath,
        help_heading = RESULTS
    )]
    pub results: Option<ResultsFile>,
    /// Delete result files of earlier runs before the start
    #[arg(short = 'f', long = "forceDeleteResultFile", help_heading = RESULTS)]
    pub delete_results: bool,
    #[command(flatten)]
    pub log: LogOptions,
    /// The display while the run goes on
    #[arg(long, value_enum, default_value_t, help_heading = SHOWN)]
    pub progress: Progress,
    /// At the end, also print the generator's own times and its connections, which the log always has
    #[arg(short, long, help_heading = SHOWN)]
    pub verbose: bool,
    /// Serve the demo site during the run; the plan reads its address from the properties demo.host, demo.port and demo.https.port.
    /// Without a plan, run the built-in one, which reads the properties users and seconds
    #[arg(long, help_heading = PROPERTIES)]
    pub demo: bool,
    /// End with exit code 5 if this is true at the end, such as 'errors > 1%', 'p95 of Login > 300ms', 'rate < 10/s' or
    /// 'samples < 1'; or, with a time span, at any moment, such as 'p95 of /^Check/ > 300ms for 30s' or 'errors > 10% over 10s'
    #[arg(long, value_name = "THRESHOLD", help_heading = PASS)]
    pub fail_on: Vec<String>,
    /// End the run as soon as this is true, with exit code 5
    #[arg(long, value_name = "THRESHOLD", help_heading = PASS)]
    pub abort_on: Vec<String>,
    /// End the run as soon as this is known so exactly, such as 'p95 within 2%' or 'mean of Login within 5%'; it ends at the plan's
    /// end or after --duration in any case
    #[arg(long, value_name = "NUMBER", help_heading = PASS)]
    pub until: Vec<Goal>,
    /// Run the plan so many times and judge all runs as one: thresholds, report and summary show how much the runs differ
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(1..=100), help_heading = PASS)]
    pub repeat: Option<u32>,
    /// Leave the warm-up, if there is one, out of statistics and thresholds at the end; charts and the run file keep it
    #[arg(long, conflicts_with = "repeat", help_heading = PASS)]
    pub without_warm_up: bool,
    /// Pass although a threshold cannot be judged, such as one on a label without samples
    #[arg(long, help_heading = PASS)]
    pub allow_unjudged: bool,
    /// End with exit code 6 if the run's own verdict is not VALID
    #[arg(long, help_heading = PASS)]
    pub strict: bool,
    /// Compare with this run file or result file; end with exit code 7 if this run is worse beyond noise
    #[arg(long, value_name = "FILE", help_heading = PASS)]
    pub baseline: Option<PathBuf>,
    #[command(flatten)]
    pub report: ReportFiles,
    #[command(flatten)]
    pub exports: ExportOptions,
    #[command(flatten)]
    pub trace: TraceOptions,
    #[command(flatten)]
    pub ui: UiOptions,
    #[command(flatten)]
    pub fleet: FleetOptions,
    /// Leave out elements that cannot be run, as if they were disabled
    #[arg(long, help_heading = PROPERTIES)]
    pub skip_unsupported: bool,
    /// Verify the certificates of HTTPS and WebSocket servers; JMeter trusts all
    #[arg(long, help_heading = PROPERTIES)]
    pub tls_verify: bool,
    /// Do not fetch jars that the plan needs
    #[arg(long, help_heading = PROPERTIES)]
    pub offline: bool,
    /// Also trust the certificate authorities in this PEM file, for the TLS of outputs, sources of --watch, NATS and jar downloads
    #[arg(long, value_name = "FILE", help_heading = PROPERTIES)]
    pub tls_ca: Option<PathBuf>,
    #[command(flatten)]
    pub properties: PropertyOptions,
    /// Make the report from the result file, in the folder of `report` or in JMeter's (`-e`).
    #[arg(skip)]
    pub report_at_end: bool,
    /// Notes for the user before the start, such as options without an effect here.
    #[arg(skip)]
    pub notes: Vec<String>,
    /// Whether JMeter's command line ordered the run; a missing plan is then told in JMeter's words, too.
    #[arg(skip)]
    pub is_jmeter: bool,
}

impl RunArguments {
    /// Whether the user has no plan but addresses.
    pub fn is_of_url(&self) -> bool {
        matches!(self.plan, Some(PlanChoice::OfUrl { .. }))
    }

    /// Turns the options of `run` that are properties into changes.
    ///
    /// # Errors
    /// An option that would have no effect, or no plan.
    pub fn settled(self) -> Result<RunArguments, UsageError> {
        if self.plan.is_none() && !self.demo {
            return Err(NO_PLAN.into());
        }
        self.fleet.check()?;
        Ok(self.with_changes())
    }

    /// Does the same for `attach`: the plan's place holds the name of the run to continue.
    ///
    /// # Errors
    /// An option that would have no effect.
    pub fn settled_for_attach(mut self) -> Result<RunArguments, UsageError> {
        let Some(PlanChoice::File(run)) = &self.plan else {
            return Err("the name of the run is missing".into());
        };
        self.fleet.attach = Some(run.to_string_lossy().into_owned());
        let others = [
            ("--demo", self.demo),
            ("--skip-unsupported", self.skip_unsupported),
            ("--tls-verify", self.tls_verify),
            ("--trace", self.trace.trace.is_some()),
        ];
        let other = others.into_iter().find(|(_, is_written)| *is_written);
        if let Some(name) = self.load.given().or(other.map(|(name, _)| name)) {
            return Err(has_no_effect(name));
        }
        self.fleet.check_attached()?;
        Ok(self.with_changes())
    }

    fn with_changes(mut self) -> RunArguments {
        let changes = &mut self.properties.changes;
        changes.extend(self.load.changes());
        changes.extend(self.trace.changes());
        let switches = [
            (self.skip_unsupported, "drumfire.skip_unsupported"),
            (self.tls_verify, "drumfire.tls_verify"),
            (self.offline, "drumfire.maven.offline"),
            (self.allow_unjudged, ALLOW_UNJUDGED),
            (self.without_warm_up, WITHOUT_WARM_UP),
        ];
        let on = switches.iter().filter(|(is_on, _)| *is_on);
        changes.extend(on.map(|(_, name)| Change::switched_on(name)));
        authorities::trust(&mut self.properties, self.tls_ca.as_deref());
        self
    }
}

/// The plan to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlanChoice {
    /// This file.
    File(PathBuf),
    /// The plan of the last run (`-t LAST`).
    Last,
    /// A file that the program made for this run alone.
    Made {
        /// The file.
        file: PathBuf,
        /// The name to show in place of the file's path.
        name: String,
    },
    /// A file that the program made for the addresses on the command line. JMeter has no such runs, so its log and its lines are
    /// left out.
    OfUrl {
        /// The file.
        file: PathBuf,
        /// The name to show in place of the file's path.
        name: String,
    },
}

impl PlanChoice {
    /// A file that the program made for this run alone, shown under the file's name.
    pub fn made(file: PathBuf) -> PlanChoice {
        let name = name_of(&file);
        PlanChoice::Made { file, name }
    }

    /// A file that the program made for the addresses on the command line, shown under the file's name.
    pub fn of_url(file: PathBuf) -> PlanChoice {
        let name = name_of(&file);
        PlanChoice::OfUrl { file, name }
    }

    /// Whether the user has no plan but addresses.
    pub fn is_of_url(&self) -> bool {
        matches!(self, PlanChoice::OfUrl { .. })
    }
}

fn name_of(file: &Path) -> String {
    let name = file.file_name().unwrap_or(file.as_os_str());
    name.to_string_lossy().into_owned()
}

/// The file of the samples.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResultsFile {
    /// This file.
    File(PathBuf),
    /// Named after the plan of the last run (`-l LAST`).
    Last,
}

/// The display while a run goes on.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Progress {
    /// The live view on a terminal, JMeter's lines elsewhere.
    #[default]
    Auto,
    /// The live view.
    Live,
    /// JMeter's summary lines.
    Lines,
    /// Nothing but the address of --ui; warnings, errors and what fails the run go to standard error.
    Quiet,
}

/// Where the numbers go while the run goes on, and what is looked at beside it.
#[derive(Debug, Clone, Default, PartialEq, Eq, clap::Args)]
pub struct ExportOptions {
    /// Show the target's own metrics beside the load, in the report and on the live page: node=URL (node_exporter),
    /// prometheus=URL?query=…, apache=URL (mod_status), nginx=URL (stub_status), mirror=URL (drumfire mirror) or agent=HOST:PORT
    /// (ServerAgent); several are allowed
    #[arg(long, value_name = "KIND=WHERE", help_heading = METRICS)]
    pub watch: Vec<String>,
    /// Send the numbers while the run goes on: influxdb=URL, graphite=HOST:PORT, prometheus=ADDRESS:PORT,
    /// prometheus-remote-write=URL, otlp=URL, statsd=HOST:PORT, clickhouse=URL or json=FILE; several are allowed
    #[arg(long, value_name = "KIND=WHERE", help_heading = METRICS)]
    pub out: Vec<String>,
    /// Add a tag to everything that --out sends
    #[arg(id = "tag", long = "tag", value_name = "NAME=VALUE", help_heading = METRICS)]
    pub tags: Vec<String>,
    /// End with exit code 1 if an output of --out lost data
    #[arg(id = "out_required", long = "out-required", help_heading = METRICS)]
    pub required: bool,
}

/// The page of a run that is under way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::Args)]
pub struct UiOptions {
    /// Serve a page that shows and controls the run until it ends; by default on 127.0.0.1 and a free port
    #[arg(id = "ui", long = "ui", value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0", help_heading = SHOWN)]
    pub address: Option<ListenAddress>,
    /// Do not let the page of --ui control the run
    #[arg(id = "ui_readonly", long = "ui-readonly", help_heading = SHOWN)]
    pub readonly: bool,
    /// Serve the page of --ui after the run as well, until it is closed or Ctrl-C
    #[arg(id = "ui_stay", long = "ui-stay", help_heading = SHOWN)]
    pub stays: bool,
}

fn exit_code_help() -> String {
    format!("Exit codes:\n{}", exit_codes::describe())
}
