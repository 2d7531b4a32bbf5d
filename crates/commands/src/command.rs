//! The command of a command line, in either spelling: the program's own (`args`) or JMeter's (`jmeter`).

use std::path::PathBuf;

use crate::agent::arguments::{AgentArguments, AgentsArguments};
use crate::calibrate::arguments::CalibrateArguments;
use crate::capacity::arguments::CapacityArguments;
use crate::check::arguments::{CheckArguments, CheckFormat};
use crate::compare::arguments::{CompareArguments, MergeArguments};
use crate::ctl::arguments::{CtlArguments, CtlVerb};
use crate::debug::arguments::DebugArguments;
use crate::demo::arguments::DemoArguments;
use crate::doctor::arguments::DoctorArguments;
use crate::edit::arguments::EditArguments;
use crate::fleet::arguments::FleetKeys;
use crate::fmt::FmtArguments;
use crate::import::arguments::ImportArguments;
use crate::jvm::arguments::JvmArguments;
use crate::k8s::arguments::K8sArguments;
use crate::matrix::arguments::MatrixArguments;
use crate::mcp::arguments::McpArguments;
use crate::merge_plan::arguments::MergePlanArguments;
use crate::mirror::arguments::MirrorArguments;
use crate::new::NewArguments;
use crate::plan::arguments::PlanArguments;
use crate::record::arguments::RecordArguments;
use crate::refusal::UsageError;
use crate::rename::arguments::RenameArguments;
use crate::report::arguments::ReportArguments;
use crate::run::arguments::RunArguments;
use crate::runs::arguments::RunsArguments;
use crate::set::SetArguments;
use crate::show::{DiffArguments, ShowArguments};

/// The action.
#[derive(Debug, Clone, PartialEq, clap::Subcommand)]
pub enum Command {
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
    /// Edit a plan in the browser, or answer a program that edits it
    Edit(EditArguments),
    /// Let an agent edit, check and run the plans of this folder (Model Context Protocol)
    Mcp(McpArguments),
    /// Query or control a run that was started with --ui
    Ctl(CtlArguments),
    /// Report how each element of a plan will run, without sending anything
    Check(CheckArguments),
    /// Show a plan as it will run: its tree, its properties, when each user starts and stops
    Plan(PlanArguments),
    /// Show the limits of this machine, and which of them a plan would reach
    Doctor(DoctorArguments),
    /// Show what the numbers of this machine are worth, against a target of known times
    Calibrate(CalibrateArguments),
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
    /// Print a text and exit with code 0.
    #[command(skip)]
    Print(String),
}

impl Command {
    /// Whether standard output is for another program, so that errors must not stand there.
    pub fn prints_data(&self) -> bool {
        match self {
            Command::Check(arguments) => arguments.format() != CheckFormat::Text,
            Command::Plan(arguments) => arguments.json,
            Command::Doctor(arguments) => arguments.json,
            Command::Calibrate(arguments) => arguments.json,
            Command::Agents(arguments) => arguments.json,
            Command::Runs(arguments) => arguments.list().is_some_and(|list| list.json),
            Command::Ctl(arguments) => matches!(arguments.verb, CtlVerb::Status { json: true }),
            _ => false,
        }
    }

    /// Completes the arguments of a command that clap has read.
    ///
    /// # Errors
    /// An option that would have no effect.
    pub fn settled(self) -> Result<Command, UsageError> {
        Ok(match self {
            Command::Run(arguments) => Command::Run(arguments.settled()?),
            Command::Attach(arguments) => Command::Attach(arguments.settled_for_attach()?),
            other => other,
        })
    }
}
