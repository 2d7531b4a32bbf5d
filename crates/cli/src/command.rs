//! The command of a command line, whichever of the two spellings it had: the program's own (`args`) or JMeter's (`jmeter`).

use std::path::PathBuf;

use crate::capacity_arguments::CapacityArguments;
use crate::commands::fmt::FmtArguments;
use crate::commands::import::arguments::ImportArguments;
use crate::commands::new::NewArguments;
use crate::commands::record::arguments::RecordArguments;
use crate::commands::set::SetArguments;
use crate::commands::show::{DiffArguments, ShowArguments};
use crate::ctl_arguments::CtlArguments;
use crate::debug_arguments::DebugArguments;
use crate::fleet_arguments::FleetKeys;
use crate::fleet_options::{AgentOrder, AgentsOrder};
use crate::k8s_arguments::K8sArguments;
use crate::options::{
    CheckOptions, CompareOrder, DemoOptions, DoctorOptions, JvmOptions, MergeOrder, MirrorOptions,
    ReportOptions, RunOptions, ViewOptions,
};
use crate::plan_arguments::{MatrixArguments, MergePlanArguments, RenameArguments, RunsArguments};

/// The action.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    /// Send the load that the plan describes.
    Run(RunOptions),
    /// Go on with a run on several machines, whose coordinator is gone; the plan is the run's name.
    Attach(RunOptions),
    /// Say of every element and function of the plan how it will be run.
    Check(CheckOptions),
    /// Show the plan as it will be run, without sending anything.
    Plan(ViewOptions),
    /// Say where the machine's limits are.
    Doctor(DoctorOptions),
    /// Say which Java and which jars plans run with, or bring them.
    Jvm(JvmOptions),
    /// Make a report from what a run left behind.
    Report(ReportOptions),
    /// Find the highest rate that a target holds.
    Capacity(CapacityArguments),
    /// Follow one user step by step.
    Debug(DebugArguments),
    /// Ask or steer a run that is under way.
    Ctl(CtlArguments),
    /// Put runs side by side.
    Compare(CompareOrder),
    /// Add runs.
    Merge(MergeOrder),
    /// Serve an editor.
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
    /// Say what two plans do differently.
    Diff(DiffArguments),
    /// Write a small plan.
    New(NewArguments),
    /// Make a plan of something else.
    Import(ImportArguments),
    /// Make a plan of what a browser does.
    Record(RecordArguments),
    /// Wait for work and run parts of plans.
    Agent(AgentOrder),
    /// Print what Kubernetes needs to run a plan.
    K8s(K8sArguments),
    /// Write the keys of a fleet.
    Fleet(FleetKeys),
    /// List the agents that are there.
    Agents(AgentsOrder),
    /// Serve the demo site until interrupted.
    Demo(DemoOptions),
    /// Serve what is asked back until interrupted.
    Mirror(MirrorOptions),
    /// Write the man pages to this folder.
    Man(PathBuf),
    /// Print a text and end well.
    Print(String),
}
