//! The program's own command line, parsed by clap. [`Arguments::into_command`] turns it into a command.

pub mod faults;
mod groups;
mod jvm;
mod reports;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use drumfire_serve::ListenAddress;

use self::reports::{
    CiArguments, CompareArguments, MergeArguments, OutcomeArguments, ReportArguments,
};
use crate::authorities;
use crate::capacity_arguments::CapacityArguments;
use crate::command::Command;
use crate::commands::fmt::FmtArguments;
use crate::commands::import::arguments::ImportArguments;
use crate::commands::new::NewArguments;
use crate::commands::record::arguments::RecordArguments;
use crate::commands::set::SetArguments;
use crate::commands::show::{DiffArguments, ShowArguments};
use crate::ctl_arguments::CtlArguments;
use crate::debug_arguments::DebugArguments;
use crate::exit_codes::{self, Exit};
use crate::fleet_arguments::{AgentArguments, AgentsArguments, FleetArguments, FleetKeys, settled};
use crate::k8s_arguments::K8sArguments;
use crate::load_arguments::LoadArguments;
use crate::options::{
    Change, CheckFormat, CheckOptions, DemoOptions, DoctorOptions, ExportOptions, LogOptions,
    MirrorOptions, PlanChoice, Progress, PropertyOptions, Refusal, ReportFiles, ResultsFile,
    RunOptions, UiOptions, ViewOptions, split_definition,
};
use crate::plan_arguments::{MatrixArguments, MergePlanArguments, RenameArguments, RunsArguments};
use crate::project;
use crate::thresholds::ALLOW_UNJUDGED;
use jvm::JvmArguments;

/// `drumfire COMMAND …`
#[derive(Debug, Parser)]
#[command(
    name = "drumfire",
    version,
    about = "Runs Apache JMeter test plans at close to the cost of a bare socket loop",
    after_help = "JMeter's own command line works as it is:\n  drumfire -n -t plan.jmx -l results.jtl -Jusers=50\n  \
                  drumfire -?    lists its options\n\nExit codes: drumfire help run"
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Debug, Subcommand)]
enum Subcommands {
    /// Run a plan
    Run(RunArguments),
    /// Continue a run on several machines after its `drumfire run` has ended; takes the options of `run`
    #[command(
        before_help = "  drumfire attach 0198e4a2b7c01f3a --nats nats://host:4222 -l results.jtl",
        mut_arg("plan", |plan| plan
            .value_name("RUN")
            .required(true)
            .help("The name of the run, as `drumfire run` printed it"))
    )]
    Attach(RunArguments),
    /// Find the highest rate at which a target still answers well enough
    Capacity(CapacityArguments),
    /// Follow one user step by step: requests, responses, variables, what each element did
    Debug(DebugArguments),
    /// Query or control a run that was started with --ui
    Ctl(CtlArguments),
    /// Report how each element of a plan will run, without sending anything
    Check(CheckArguments),
    /// Show a plan as it will run: its tree, its properties, when each user starts and stops
    Plan(ViewArguments),
    /// Show the limits of this machine, and which of them a plan would reach
    Doctor(DoctorArguments),
    /// Show which Java and which jars run scripts and Java elements; `jvm install` installs the jars
    Jvm(JvmArguments),
    /// Make a report from a result file (CSV or XML) or a run file
    Report(ReportArguments),
    /// Compare runs: show what differs from the first run, and whether it is more than noise
    Compare(CompareArguments),
    /// Merge runs exactly, including percentiles, into one run file
    Merge(MergeArguments),
    /// Rewrite plans in the form in which JMeter 5.6.3 saves them
    Fmt(FmtArguments),
    /// Print a plan as lines of text, for readers and for `git diff`
    Show(ShowArguments),
    /// Rename a variable or an element in all plans that belong together
    Rename(RenameArguments),
    /// Merge the changes of two plans, as git's merge driver; conflicts end with exit code 1
    MergePlan(MergePlanArguments),
    /// Run a plan with every combination of the matrix in drumfire.toml
    Matrix(MatrixArguments),
    /// List the runs of a project; show, compare or remove them
    Runs(RunsArguments),
    /// Serve an editor as a language server, over standard input and output
    #[command(before_help = "  drumfire lsp")]
    Lsp,
    /// Print the JSON Schema of drumfire.toml
    #[command(before_help = "  drumfire schema")]
    Schema,
    /// Change settings of a plan by name
    Set(SetArguments),
    /// Show what two plans do differently; exit code 0 if they mean the same, else 1
    Diff(DiffArguments),
    /// Write a small plan to start from
    New(NewArguments),
    /// Make a plan from recordings (HAR), API descriptions (OpenAPI, Postman), cURL commands or access logs
    Import(ImportArguments),
    /// Record a visit to a site, in a browser or as a proxy, and make a plan from it
    Record(RecordArguments),
    /// Wait for work at a NATS server and run parts of plans, for `drumfire run --agents`
    Agent(AgentArguments),
    /// Print the Kubernetes resources of a run on agents in a cluster
    #[command(
        name = "k8s",
        before_help = "  drumfire k8s manifest plan.jmx --agents 10"
    )]
    K8s(K8sArguments),
    /// Write the keys and the server configuration of a fleet
    Fleet(FleetKeys),
    /// List the agents at a NATS server
    Agents(AgentsArguments),
    /// Serve the demo site on this machine until Ctrl-C
    Demo(DemoArguments),
    /// Serve JMeter's HTTP Mirror Server, which answers with the request, until Ctrl-C
    Mirror(MirrorArguments),
    /// Print the completions for a shell
    #[command(before_help = "  drumfire completions bash >> ~/.bash_completion")]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: clap_complete::Shell,
    },
    /// Write the man pages
    #[command(hide = true)]
    Man {
        /// The folder; it is created if it does not exist
        folder: PathBuf,
    },
    /// Show the version
    #[command(before_help = "  drumfire version")]
    Version,
}

/// Headings under which the help lists the options.
const PROPERTIES: &str = "The plan and its properties";
const RESULTS: &str = "Results and reports";
const PASS: &str = "Pass or fail";
const METRICS: &str = "Live metrics";
const SHOWN: &str = "Terminal and log";

/// The first lines of `drumfire help run`: the most common uses.
const RUN_EXAMPLES: &str = "\
  drumfire run --demo                              try it: a plan against a shop
  drumfire run plan.jmx                            numbers, a verdict at the end
  drumfire run plan.jmx -Jusers=50                 set what __P reads
  drumfire run plan.jmx --users 9 --duration 1m    another load
  drumfire run plan.jmx -l results.jtl             a row for each sample
  drumfire run plan.jmx --report report.html       one page with everything
  drumfire run plan.jmx --fail-on 'p95 > 300ms'    exit code 5 if it is true
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

#[derive(Debug, clap::Args)]
struct PropertyArguments {
    /// Set a JMeter property; without a value, remove it
    #[arg(short = 'J', long = "jmeterproperty", value_name = "NAME=VALUE", help_heading = PROPERTIES)]
    property: Vec<String>,
    /// Set a system property; without a value, remove it
    #[arg(short = 'D', long = "systemproperty", value_name = "NAME=VALUE", help_heading = PROPERTIES)]
    system: Vec<String>,
    /// Read more JMeter properties from this file
    #[arg(short = 'q', long = "addprop", value_name = "FILE", help_heading = PROPERTIES)]
    file: Vec<PathBuf>,
    /// Read system properties from this file
    #[arg(short = 'S', long = "systemPropertyFile", value_name = "FILE", help_heading = PROPERTIES)]
    system_file: Vec<PathBuf>,
    /// Read the JMeter properties from this file instead of jmeter.properties
    #[arg(short = 'p', long = "propfile", value_name = "FILE", help_heading = PROPERTIES)]
    main_file: Option<PathBuf>,
    /// JMeter's home directory, where bin/user.properties is looked for [env: JMETER_HOME]
    #[arg(short = 'd', long = "homedir", value_name = "FOLDER", help_heading = PROPERTIES)]
    home: Option<PathBuf>,
    /// The profile of drumfire.toml to run with
    #[arg(long, value_name = "NAME", help_heading = PROPERTIES)]
    profile: Option<String>,
    /// The target of drumfire.toml to run against [env: DRUMFIRE_TARGET]
    #[arg(long, value_name = "NAME", help_heading = PROPERTIES)]
    target: Option<String>,
}

#[derive(Debug, clap::Args)]
#[command(before_help = RUN_EXAMPLES, after_help = exit_code_help())]
struct RunArguments {
    /// The plan (.jmx), or none with --demo; with an address instead, see `drumfire run URL --help`
    plan: Option<PathBuf>,
    #[command(flatten)]
    load: LoadArguments,
    /// Write the samples to this file; it is appended to if it exists
    #[arg(short = 'l', long = "logfile", value_name = "FILE", help_heading = RESULTS)]
    results: Option<PathBuf>,
    /// Delete result files of earlier runs before the start
    #[arg(short = 'f', long = "forceDeleteResultFile", help_heading = RESULTS)]
    delete_results: bool,
    /// The program's log; 'yyyyMMdd' in quotes stands for the date
    #[arg(
        short = 'j',
        long = "jmeterlogfile",
        value_name = "FILE",
        default_value = "jmeter.log", help_heading = SHOWN)]
    log: String,
    /// [category=]level of the log
    #[arg(short = 'L', long = "loglevel", value_name = "LEVEL", help_heading = SHOWN)]
    level: Vec<String>,
    /// The display while the run goes on
    #[arg(long, value_enum, default_value_t, help_heading = SHOWN)]
    progress: Progress,
    /// At the end, also print the generator's own times and its connections, which the log always has
    #[arg(short, long, help_heading = SHOWN)]
    verbose: bool,
    /// Serve the demo site during the run; the plan reads its address from the properties demo.host, demo.port and demo.https.port.
    /// Without a plan, run the built-in one, which reads the properties users and seconds
    #[arg(long, help_heading = PROPERTIES)]
    demo: bool,
    /// End with exit code 5 if this is true at the end, such as 'errors > 1%', 'p95 of Login > 300ms', 'rate < 10/s' or
    /// 'samples < 1'; or, with a time span, at any moment, such as 'p95 of /^Check/ > 300ms for 30s' or 'errors > 10% over 10s'
    #[arg(long, value_name = "THRESHOLD", help_heading = PASS)]
    fail_on: Vec<String>,
    /// End the run as soon as this is true, with exit code 5
    #[arg(long, value_name = "THRESHOLD", help_heading = PASS)]
    abort_on: Vec<String>,
    /// Pass although a threshold cannot be judged, such as one on a label without samples
    #[arg(long, help_heading = PASS)]
    allow_unjudged: bool,
    /// End with exit code 6 if the run's own verdict is not VALID
    #[arg(long, help_heading = PASS)]
    strict: bool,
    /// Compare with this run file or result file; end with exit code 7 if this run is worse beyond noise
    #[arg(long, value_name = "FILE", help_heading = PASS)]
    baseline: Option<PathBuf>,
    #[command(flatten)]
    report: RunReportArguments,
    #[command(flatten)]
    exports: ExportArguments,
    /// Serve a page that shows and controls the run while it goes on; by default on 127.0.0.1 and a free port
    #[arg(long, value_name = "ADDRESS:PORT", num_args = 0..=1, default_missing_value = "127.0.0.1:0", help_heading = SHOWN)]
    ui: Option<ListenAddress>,
    /// Do not let the page of --ui control the run
    #[arg(long, help_heading = SHOWN)]
    ui_readonly: bool,
    #[command(flatten)]
    fleet: FleetArguments,
    /// Leave out elements that cannot be run, as if they were disabled
    #[arg(long, help_heading = PROPERTIES)]
    skip_unsupported: bool,
    /// Verify the certificates of HTTPS and WebSocket servers; JMeter trusts all
    #[arg(long, help_heading = PROPERTIES)]
    tls_verify: bool,
    /// Do not fetch jars that the plan needs
    #[arg(long, help_heading = PROPERTIES)]
    offline: bool,
    /// Also trust the certificate authorities in this PEM file, for the TLS of outputs, sources of --watch, NATS and jar downloads
    #[arg(long, value_name = "FILE", help_heading = PROPERTIES)]
    tls_ca: Option<PathBuf>,
    #[command(flatten)]
    properties: PropertyArguments,
}

/// Where the numbers go while the run goes on, and what is looked at beside it.
#[derive(Debug, Default, clap::Args)]
struct ExportArguments {
    /// Show the target's own metrics beside the load, in the report and on the live page: node=URL (node_exporter),
    /// prometheus=URL?query=…, apache=URL (mod_status), nginx=URL (stub_status) or agent=HOST:PORT (ServerAgent); several are
    /// allowed
    #[arg(long, value_name = "KIND=WHERE", help_heading = METRICS)]
    watch: Vec<String>,
    /// Send the numbers while the run goes on: influxdb=URL, graphite=HOST:PORT, prometheus=ADDRESS:PORT,
    /// prometheus-remote-write=URL, otlp=URL, statsd=HOST:PORT, clickhouse=URL or json=FILE; several are allowed
    #[arg(long, value_name = "KIND=WHERE", help_heading = METRICS)]
    out: Vec<String>,
    /// Add a tag to everything that --out sends
    #[arg(long, value_name = "NAME=VALUE", help_heading = METRICS)]
    tag: Vec<String>,
    /// End with exit code 1 if an output of --out lost data
    #[arg(long, help_heading = METRICS)]
    out_required: bool,
}

/// The output of a run beside the result file.
#[derive(Debug, Default, clap::Args)]
struct RunReportArguments {
    /// Write the report as one HTML page when the run has ended
    #[arg(long = "report", alias = "html", value_name = "FILE.html", help_heading = RESULTS)]
    page: Option<PathBuf>,
    /// Write the run file here instead of to the history (`drumfire runs`), from the first second on: it holds everything measured, for 'report', 'compare' and 'merge'
    #[arg(long, value_name = "FILE", help_heading = RESULTS)]
    run_file: Option<PathBuf>,
    /// Write no run file
    #[arg(long, conflicts_with = "run_file", help_heading = RESULTS)]
    no_run_file: bool,
    /// Write the outcome as JSON: verdict, thresholds, numbers of each label
    #[arg(long, value_name = "FILE.json", help_heading = RESULTS)]
    summary_json: Option<PathBuf>,
    #[command(flatten)]
    ci: CiArguments,
    #[command(flatten)]
    outcome: OutcomeArguments,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire plan plan.jmx")]
struct ViewArguments {
    /// The plan (.jmx)
    plan: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Show how the load is divided among this many agents of equal weight
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    agents: Option<u32>,
    #[command(flatten)]
    properties: PropertyArguments,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire check plan.jmx")]
struct CheckArguments {
    /// The plan (.jmx)
    plan: PathBuf,
    /// The output format
    #[arg(long, value_enum, default_value_t)]
    format: CheckFormat,
    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
    /// List every element and every finding separately
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    properties: PropertyArguments,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire doctor plan.jmx")]
struct DoctorArguments {
    /// A plan (.jmx) to check against the limits
    plan: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    properties: PropertyArguments,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire demo")]
struct DemoArguments {
    /// The port for HTTP; 0 takes a free one
    #[arg(long, default_value_t = 8080)]
    port: u16,
    /// The port for HTTPS; 0 takes a free one
    #[arg(long, default_value_t = 8443)]
    https_port: u16,
}

#[derive(Debug, clap::Args)]
#[command(before_help = "  drumfire mirror")]
struct MirrorArguments {
    /// The port; 0 takes a free one
    #[arg(short = 'P', long, default_value_t = 8081)]
    port: u16,
    /// The address of this machine to listen on
    #[arg(long, default_value = "127.0.0.1")]
    address: IpAddr,
}

fn exit_code_help() -> String {
    format!("Exit codes:\n{}", exit_codes::describe())
}

/// The whole command line, its commands listed by task.
fn program() -> clap::Command {
    groups::listed(Arguments::command())
}

/// Reads the words of the command line (without the program's name).
///
/// # Errors
/// A [`Refusal`] with clap's text if the command line is wrong.
pub fn read(words: &[String]) -> Result<Command, Refusal> {
    let name = std::iter::once("drumfire".to_owned());
    let words = name.chain(with_joined_ui(words));
    let matches = program().try_get_matches_from(words);
    match matches.and_then(|matches| Arguments::from_arg_matches(&matches)) {
        Ok(arguments) => arguments
            .into_command()
            .map_err(|why| Refusal::new(Exit::Usage, why)),
        Err(error) if error.use_stderr() => Err(faults::refusal(&error)),
        Err(help) => Ok(Command::Print(help.render().to_string())),
    }
}

/// Joins `--ui` of `run` and its address into one word. The next word is taken as the address only if it looks like one, so
/// `--ui` may stand before the plan or the URL.
pub fn with_joined_ui(words: &[String]) -> Vec<String> {
    let is_run = words.first().is_some_and(|word| word == "run");
    let mut joined = Vec::with_capacity(words.len());
    let mut words = words.iter().peekable();
    while let Some(word) = words.next() {
        if !is_run || word != "--ui" {
            joined.push(word.clone());
            continue;
        }
        let address = words.next_if(|next| is_address(next));
        let address = address.map_or_else(|| ListenAddress::default().0.to_string(), String::clone);
        joined.push(format!("--ui={address}"));
    }
    joined
}

/// Whether a word is meant as an address to listen on, even if its port is too high.
fn is_address(word: &str) -> bool {
    let port = word.rsplit(':').next().unwrap_or(word);
    !port.is_empty() && port.bytes().all(|digit| digit.is_ascii_digit())
}

/// Whether an option of a command, as the user spelt it, takes the next word as its value.
pub fn takes_value(command: &str, option: &str) -> bool {
    let program = program();
    let Some(command) = program.find_subcommand(command) else {
        return false;
    };
    command.get_arguments().any(|argument| {
        let mut names = argument.get_long_and_visible_aliases().unwrap_or_default();
        names.extend(argument.get_all_aliases().unwrap_or_default());
        let long = option
            .strip_prefix("--")
            .is_some_and(|option| names.contains(&option));
        let short = argument
            .get_short()
            .is_some_and(|short| option.strip_prefix('-') == Some(short.to_string().as_str()));
        (long || short) && argument.get_action().takes_values()
    })
}

/// The text of `drumfire --help`.
pub fn help() -> String {
    program().render_long_help().to_string()
}

/// The text of `drumfire --version`.
pub fn version() -> String {
    let java = if cfg!(all(feature = "jvm", not(target_env = "musl"))) {
        ""
    } else {
        "; this build has no Java"
    };
    let build = if cfg!(debug_assertions) {
        "; unoptimized build, not for real loads"
    } else {
        ""
    };
    format!(
        "drumfire {} (runs plans of Apache JMeter up to 5.6.3{java}{build})\n",
        env!("CARGO_PKG_VERSION")
    )
}

/// The script with which a shell completes the command line.
fn completions(shell: clap_complete::Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut program(), "drumfire", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// Writes a man page for the program and one for each of its commands.
///
/// # Errors
/// If the folder or a page cannot be written.
pub fn write_man_pages(folder: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(program().disable_help_subcommand(true), folder)
}

impl Arguments {
    /// # Errors
    /// An option that would have no effect.
    fn into_command(self) -> Result<Command, String> {
        Ok(match self.command {
            Subcommands::Run(run) => Command::Run(run.into_options()?),
            Subcommands::Capacity(arguments) => Command::Capacity(arguments),
            Subcommands::Debug(arguments) => Command::Debug(arguments),
            Subcommands::Ctl(arguments) => Command::Ctl(arguments),
            Subcommands::Check(view) => Command::Check(view.into_options()),
            Subcommands::Plan(view) => Command::Plan(view.into_options()),
            Subcommands::Doctor(doctor) => Command::Doctor(DoctorOptions {
                plan: doctor.plan,
                properties: doctor.properties.into_options(),
                json: doctor.json,
            }),
            Subcommands::Jvm(jvm) => Command::Jvm(jvm.into_options()),
            Subcommands::Report(report) => Command::Report(report.into_options()),
            Subcommands::Compare(compare) => Command::Compare(compare.into_order()),
            Subcommands::Merge(merge) => Command::Merge(merge.into_order()),
            Subcommands::Fmt(order) => Command::Fmt(order),
            Subcommands::Show(order) => Command::Show(order),
            Subcommands::Rename(order) => Command::Rename(order),
            Subcommands::MergePlan(order) => Command::MergePlan(order),
            Subcommands::Matrix(order) => Command::Matrix(order),
            Subcommands::Runs(order) => Command::Runs(order),
            Subcommands::Lsp => Command::Lsp,
            Subcommands::Schema => Command::Print(project::SCHEMA.to_owned()),
            Subcommands::Set(order) => Command::Set(order),
            Subcommands::Diff(order) => Command::Diff(order),
            Subcommands::New(order) => Command::New(order),
            Subcommands::Import(order) => Command::Import(order),
            Subcommands::Record(order) => Command::Record(order),
            Subcommands::K8s(order) => Command::K8s(order),
            Subcommands::Fleet(keys) => Command::Fleet(keys),
            Subcommands::Attach(run) => Command::Attach(run.into_attached()?),
            Subcommands::Agent(agent) => Command::Agent(agent.into_order()),
            Subcommands::Agents(agents) => Command::Agents(agents.into_order()),
            Subcommands::Demo(demo) => Command::Demo(DemoOptions {
                port: demo.port,
                https_port: demo.https_port,
            }),
            Subcommands::Mirror(mirror) => Command::Mirror(MirrorOptions {
                address: mirror.address,
                port: mirror.port,
            }),
            Subcommands::Completions { shell } => Command::Print(completions(shell)),
            Subcommands::Man { folder } => Command::Man(folder),
            Subcommands::Version => Command::Print(version()),
        })
    }
}

impl RunArguments {
    /// Turns the options into those of `attach`: the plan's place holds the name of the run to continue.
    fn into_attached(mut self) -> Result<RunOptions, String> {
        let run = self.plan.as_ref().map(|run| run.to_string_lossy());
        let run = run.ok_or("the name of the run is missing")?.into_owned();
        let others = [
            ("--demo", self.demo),
            ("--skip-unsupported", self.skip_unsupported),
            ("--tls-verify", self.tls_verify),
        ];
        let other = others.into_iter().find(|(_, is_written)| *is_written);
        if let Some(name) = self.load.given().or(other.map(|(name, _)| name)) {
            return Err(settled(name));
        }
        let fleet = std::mem::take(&mut self.fleet);
        Ok(RunOptions {
            fleet: Some(fleet.into_attached(&run)?),
            ..self.into_options()?
        })
    }

    fn into_options(self) -> Result<RunOptions, String> {
        let level = |text: &String| match text.split_once('=') {
            Some((category, level)) => (category.to_owned(), level.to_owned()),
            None => (String::new(), text.clone()),
        };
        let mut properties = self.properties.into_options();
        properties.changes.extend(self.load.into_changes());
        let switches = [
            (self.skip_unsupported, "drumfire.skip_unsupported"),
            (self.tls_verify, "drumfire.tls_verify"),
            (self.offline, "drumfire.maven.offline"),
            (self.allow_unjudged, ALLOW_UNJUDGED),
        ];
        for (_, name) in switches.iter().filter(|(is_on, _)| *is_on) {
            properties.changes.push(Change::switched_on(name));
        }
        authorities::trust(&mut properties, self.tls_ca.as_deref());
        Ok(RunOptions {
            plan: chosen_plan(self.plan, self.demo)?,
            results: self.results.map(ResultsFile::File),
            delete_results: self.delete_results,
            properties,
            log: LogOptions {
                file: self.log,
                levels: self.level.iter().map(level).collect(),
            },
            progress: self.progress,
            verbose: self.verbose,
            demo: self.demo,
            fail_on: self.fail_on,
            abort_on: self.abort_on,
            strict: self.strict,
            report: ReportFiles {
                folder: None,
                pages: self.report.page.into_iter().collect(),
                runs: self.report.run_file.into_iter().collect(),
                summary: self.report.summary_json,
                junit: self.report.ci.junit,
                markdown: self.report.outcome.markdown,
                metrics: self.report.outcome.metrics,
                annotations: self.report.ci.annotations,
            },
            keeps_run: !self.report.no_run_file,
            exports: ExportOptions {
                out: self.exports.out,
                tags: self.exports.tag,
                required: self.exports.out_required,
            },
            watch: self.exports.watch,
            ui: UiOptions {
                address: self.ui,
                readonly: self.ui_readonly,
            },
            baseline: self.baseline,
            report_at_end: false,
            notes: Vec::new(),
            fleet: self.fleet.into_options()?,
            is_jmeter: false,
        })
    }
}

fn chosen_plan(plan: Option<PathBuf>, has_demo: bool) -> Result<PlanChoice, String> {
    match plan {
        Some(plan) => Ok(PlanChoice::File(plan)),
        None if has_demo => Ok(PlanChoice::Quickstart),
        None => Err(NO_PLAN.to_owned()),
    }
}

impl CheckArguments {
    fn into_options(self) -> CheckOptions {
        CheckOptions {
            plan: self.plan,
            properties: self.properties.into_options(),
            format: match self.json {
                true => CheckFormat::Json,
                false => self.format,
            },
            verbose: self.verbose,
        }
    }
}

impl ViewArguments {
    fn into_options(self) -> ViewOptions {
        ViewOptions {
            plan: self.plan,
            properties: self.properties.into_options(),
            json: self.json,
            agents: self.agents,
        }
    }
}

impl PropertyArguments {
    /// Puts files before definitions, so that a definition on the command line always wins.
    fn into_options(self) -> PropertyOptions {
        let system_files = self.system_file.into_iter().map(Change::SystemFile);
        let files = self.file.into_iter().map(Change::File);
        let system = self.system.iter().map(|text| split_definition(text));
        let system = system.map(|(name, value)| Change::System(name, value));
        let own = self.property.iter().map(|text| split_definition(text));
        let own = own.map(|(name, value)| Change::Property(name, value));
        PropertyOptions {
            main_file: self.main_file,
            home: self.home,
            changes: system_files.chain(files).chain(system).chain(own).collect(),
            profile: self.profile,
            target: self.target,
        }
    }
}

#[cfg(test)]
mod tests;
