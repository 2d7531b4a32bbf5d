//! The interface between the commands and the engine. The commands reach the engine through a trait, so that their tests can
//! follow a script instead of sending load.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

pub use drumfire_engine::{
    Advice, AdvicePlace, AgentPhase, AgentTick, BackendSpec, Control, Debugging, Effect, Event,
    GroupView, JavaRuns, LevelStretch, LevelUnit, MachineDemand, Mark, MonitorSpec, Outcome,
    PlanLabels, PlanView, PropertyRow, Rung, Share, SplitView, SshMonitorSpec, Started, Stopping,
    Subscriber, SummaryLines, Survey, SurveyRow, Tick, TreeRow, UserWindow,
};
use drumfire_fleet::{AgentOptions, FleetError, Served};
use drumfire_jmx::{Diagnostic, Tree};
use drumfire_results::CollectorSet;

use crate::properties::RunProperties;

/// What `drumfire jvm` does before it reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JvmOrder {
    /// Nothing.
    Report,
    /// Fetch what is missing, and install these Maven coordinates for all runs.
    Install(Vec<String>),
    /// Take these Maven projects (`group:artifact`) off the class path of all runs.
    Remove(Vec<String>),
}

/// Reads, compiles and runs plans.
pub trait Engine {
    /// A compiled plan.
    type Program;

    /// Reports how every element and function of a plan is run, with the findings of compiling it.
    ///
    /// # Errors
    /// The fault of the file, if it cannot be read as a plan.
    fn survey(&self, plan: &Path, settings: &RunProperties) -> Result<Survey, Vec<Diagnostic>>;

    /// The function that gives an editor the findings and the advice on a plan. It may run on any thread and starts
    /// no Java.
    fn glance(&self) -> Glance {
        |_, _, _| (Vec::new(), Vec::new())
    }

    /// Compiles a plan. Returns it with the warnings.
    ///
    /// # Errors
    /// Everything that is wrong with the plan, at once.
    fn compile(
        &self,
        plan: &Path,
        settings: &RunProperties,
        order: &RunOrder,
    ) -> Result<(Self::Program, Vec<Diagnostic>), Vec<Diagnostic>>;

    /// The result files that a run writes.
    fn result_files(&self, _program: &Self::Program) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Reads a plan and touches nothing but its files. The program may be shown but must not be run.
    ///
    /// # Errors
    /// Everything that is wrong with the plan, at once.
    fn draft(
        &self,
        plan: &Path,
        settings: &RunProperties,
    ) -> Result<(Self::Program, Vec<Diagnostic>), Vec<Diagnostic>>;

    /// The compiled plan as data.
    fn describe(&self, program: &Self::Program) -> PlanView;

    /// Whether the compiled plan has throughput timers.
    fn has_rates(&self, program: &Self::Program) -> bool;

    /// The thread groups of the compiled plan, without the rest.
    fn groups(&self, program: &Self::Program) -> Vec<GroupView> {
        self.describe(program).groups
    }

    /// Describes the Java for plans that need it, after it has carried out the order.
    ///
    /// # Errors
    /// Which part is missing, and how to get it.
    fn java(&self, settings: &RunProperties, order: &JvmOrder) -> Result<String, String>;

    /// The classes that a plan needs and that no jar on this machine contains, by their full names. Does not start Java.
    ///
    /// # Errors
    /// The plan cannot be read.
    fn absent_classes(
        &self,
        _plan: &Path,
        _settings: &RunProperties,
    ) -> Result<Vec<String>, Vec<Diagnostic>> {
        Ok(Vec::new())
    }

    /// The files that the plan names relative to its folder.
    fn plan_files(&self, _program: &Self::Program) -> Vec<PathBuf> {
        Vec::new()
    }

    /// How the plan divides among machines with these shares.
    fn split(&self, _program: &Self::Program, _shares: &[Share]) -> SplitView {
        SplitView::default()
    }

    /// The version of the Java that plans would run with, if there is one.
    fn java_version(&self) -> Option<String> {
        None
    }

    /// Waits for one run on several machines and takes part in it.
    ///
    /// # Errors
    /// Why it could not take part.
    fn serve(
        &self,
        _options: &AgentOptions,
        _told: &mut dyn FnMut(&str),
    ) -> Result<Served, FleetError> {
        Err(FleetError::Other("this engine has no agents".to_owned()))
    }

    /// The labels that samples of the plan may have; `None` if that is not known.
    fn labels(&self, _program: &Self::Program) -> Option<PlanLabels> {
        None
    }

    /// The plan's backend listeners, in the order of their numbers.
    fn backends(&self, _program: &Self::Program) -> Vec<BackendSpec> {
        Vec::new()
    }

    /// The collectors of the plan's Prometheus Listeners.
    fn collectors(&self, _program: &Self::Program) -> Vec<Arc<Mutex<CollectorSet>>> {
        Vec::new()
    }

    /// The target's metrics that the plan asks for.
    fn monitors(&self, _program: &Self::Program) -> Vec<MonitorSpec> {
        Vec::new()
    }

    /// The lines that the plan's summarisers print.
    fn summary_lines(&self, program: &Self::Program) -> SummaryLines;

    /// Runs a plan to its end on this thread. Subscribers receive its events.
    ///
    /// # Errors
    /// Why it could not start or go on.
    fn run(
        &self,
        program: Self::Program,
        order: &RunOrder,
        control: &Control,
        subscribers: &mut [&mut dyn Subscriber],
    ) -> anyhow::Result<Outcome>;

    /// Waits for non-daemon threads that scripts have started. Such threads also keep JMeter's JVM alive.
    fn await_threads(&self) {}
}

/// Checks a plan with these properties.
pub type Glance = fn(&Path, &Tree, &RunProperties) -> (Vec<Diagnostic>, Vec<Advice>);

/// How to run a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunOrder {
    /// Where samples go in addition to the plan's listeners (`-l`).
    pub results: Option<PathBuf>,
    /// Delete the files of all result listeners before the start (`-f`).
    pub delete_results: bool,
    /// The debugger that follows the users step by step.
    pub debugging: Debugging,
    /// The part of the plan that this machine runs.
    pub share: Share,
}
