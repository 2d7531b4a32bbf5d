//! The command of a command line, in either spelling: the program's own (`args`) or JMeter's (`jmeter`).

use std::path::PathBuf;

use crate::capacity_arguments::CapacityArguments;
use crate::commands::fmt::FmtArguments;
use crate::commands::import::arguments::ImportArguments;
use crate::commands::new::NewArguments;
use crate::commands::record::arguments::RecordArguments;
use crate::commands::set::SetArguments;
use crate::commands::show::{DiffArguments, ShowArguments};
use crate::ctl_arguments::{CtlArguments, CtlVerb};
use crate::debug_arguments::DebugArguments;
use crate::fleet_arguments::FleetKeys;
use crate::fleet_options::{AgentOrder, AgentsOrder};
use crate::k8s_arguments::K8sArguments;
use crate::options::{
    CheckFormat, CheckOptions, CompareOrder, DemoOptions, DoctorOptions, JvmOptions, MergeOrder,
    MirrorOptions, ReportOptions, RunOptions, ViewOptions,
};
use crate::plan_arguments::{MatrixArguments, MergePlanArguments, RenameArguments, RunsArguments};

/// The action.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Send the load that the plan describes.
    Run(RunOptions),
    /// Go on with a run on several machines whose coordinator is gone. The plan holds the run's name.
    Attach(RunOptions),
    /// Report how each element and function of the plan will be run.
    Check(CheckOptions),
    /// Show the plan as it will be run, without sending anything.
    Plan(ViewOptions),
    /// Report the machine's limits.
    Doctor(DoctorOptions),
    /// Report which Java and which jars plans run with, or install them.
    Jvm(JvmOptions),
    /// Make a report from the files of a run.
    Report(ReportOptions),
    /// Find the highest rate that a target holds.
    Capacity(CapacityArguments),
    /// Follow one user step by step.
    Debug(DebugArguments),
    /// Query or steer a run that is under way.
    Ctl(CtlArguments),
    /// Compare runs.
    Compare(CompareOrder),
    /// Merge runs into one run file.
    Merge(MergeOrder),
    /// Serve an editor as a language server.
    Lsp,
    /// Rewrite plans in canonical form.
    Fmt(FmtArguments),
    /// Print a plan as text.
    Show(ShowArguments),
    /// Give a variable or an element another name.
    Rename(RenameArguments),
    /// Merge two plans with their common ancestor.
    MergePlan(MergePlanArguments),
    /// Run a plan in all combinations of a matrix.
    Matrix(MatrixArguments),
    /// List, show, compare or prune the runs of a project.
    Runs(RunsArguments),
    /// Change settings of a plan.
    Set(SetArguments),
    /// Report what two plans do differently.
    Diff(DiffArguments),
    /// Write a small plan.
    New(NewArguments),
    /// Make a plan from a recording or another description of requests.
    Import(ImportArguments),
    /// Make a plan from what a browser does.
    Record(RecordArguments),
    /// Wait for work and run parts of plans.
    Agent(AgentOrder),
    /// Print the Kubernetes resources that run a plan.
    K8s(K8sArguments),
    /// Write the keys of a fleet.
    Fleet(FleetKeys),
    /// List the agents at a NATS server.
    Agents(AgentsOrder),
    /// Serve the demo site until interrupted.
    Demo(DemoOptions),
    /// Serve JMeter's HTTP Mirror Server until interrupted.
    Mirror(MirrorOptions),
    /// Write the man pages to this folder.
    Man(PathBuf),
    /// Print a text and exit with code 0.
    Print(String),
}

impl Command {
    /// Whether standard output is for another program, so that errors must not stand there.
    pub fn prints_data(&self) -> bool {
        match self {
            Command::Check(options) => options.format != CheckFormat::Text,
            Command::Plan(options) => options.json,
            Command::Doctor(options) => options.json,
            Command::Agents(order) => order.json,
            Command::Runs(arguments) => arguments.list().is_some_and(|list| list.json),
            Command::Ctl(arguments) => matches!(arguments.verb, CtlVerb::Status { json: true }),
            _ => false,
        }
    }
}
