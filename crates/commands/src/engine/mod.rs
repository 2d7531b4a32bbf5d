//! The engine as the commands use it: reads, compiles and runs plans, with the Java that the program was built with.

mod agent;
mod load;
mod plan;

use std::path::Path;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use drumfire_engine::java::{Java, JavaFailure};
pub use drumfire_engine::{
    Advice, AdvicePlace, AgentPhase, AgentTick, BackendSpec, Control, Debugging, Effect, Event,
    Glance, GroupView, JavaRuns, LevelStretch, LevelUnit, MachineDemand, Mark, MonitorSpec,
    Outcome, PlanLabels, PlanView, PropertyRow, Rung, Share, SplitView, SshMonitorSpec, Started,
    Stopping, Subscriber, SummaryLines, Survey, SurveyRow, Tick, TreeRow, UserWindow,
};
use drumfire_engine::{EngineOptions, RunSettings, StartError};
use drumfire_expr::Properties;
use drumfire_jmx::{Diagnostic, Read, Tree};
use std::path::PathBuf;

use crate::settings::properties::RunProperties;
pub use agent::serve;
pub use plan::CompiledPlan;

/// The functions that run Java inside the process. The program links the virtual machine, so that it is compiled beside the
/// commands instead of before them.
#[derive(Debug, Clone, Copy)]
pub struct JavaBridge {
    /// The Java of a run, which starts when the plan first needs it. The log levels are `(category, level)` pairs.
    pub host: fn(&Properties, &[(String, String)], Network) -> Java,
    /// Describes the Java of this machine and JMeter's jars, after the order is carried out. Fails with what is missing and how
    /// to get it.
    pub report: fn(Properties, &JvmOrder) -> Result<String, JavaFailure>,
    /// The version of the Java that plans would run with, if there is one.
    pub version: fn() -> Option<String>,
    /// Asks the jars of the user's JMeter that have these classes for their forms; `None` if no jar has one. Starts a Java of its
    /// own, at most 30 s.
    pub forms: fn(&[&str]) -> Result<Option<String>, JavaFailure>,
    /// Whether a Java virtual machine runs in this process.
    pub is_running: fn() -> bool,
    /// Waits for non-daemon threads that scripts have started. Such threads also keep JMeter's JVM alive.
    pub await_threads: fn(),
}

impl JavaBridge {
    /// The bridge of a program that cannot load a Java virtual machine: a plan that needs Java is refused.
    pub const NONE: JavaBridge = JavaBridge {
        host: |_, _, _| Java::default(),
        report: |_, _| Err("this build has no Java bridge".into()),
        version: || None,
        forms: |_| Ok(None),
        is_running: || false,
        await_threads: || {},
    };
}

/// Whether missing jars may be fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Network {
    /// From Maven repositories, before the run.
    Allowed,
    /// Commands that only look at a plan fetch nothing.
    Never,
}

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

/// The engine of this program.
#[derive(Debug, Clone, Copy)]
pub struct Engine {
    /// The Java that plans run with.
    pub java: JavaBridge,
}

impl Engine {
    /// Reports how every element and function of a plan is run, with the findings of compiling it.
    ///
    /// # Errors
    /// The fault of the file, if it cannot be read as a plan.
    pub fn survey(&self, plan: &Path, settings: &RunProperties) -> Result<Survey, Vec<Diagnostic>> {
        let read = load::read(plan, settings)?;
        let mut survey =
            drumfire_engine::survey(&read.tree, &self.inspection_settings(plan, settings));
        survey.findings.splice(0..0, read.warnings);
        Ok(survey)
    }

    /// The findings and the advice on a plan, for an editor, and how each element runs if that is asked for. Starts no Java.
    pub fn glance(
        &self,
        plan: &Path,
        tree: &Tree,
        settings: &RunProperties,
        with_rungs: bool,
    ) -> Glance {
        /// Some hundred bytes to some hundred kilobytes each.
        const PATTERNS: usize = 20_000;
        drumfire_query::regex::keep_compiled(PATTERNS);
        drumfire_engine::glance(tree, &self.inspection_settings(plan, settings), with_rungs)
    }

    /// Compiles a plan. Returns it with the warnings.
    ///
    /// # Errors
    /// Everything that is wrong with the plan, at once.
    pub fn compile(
        &self,
        plan: &Path,
        settings: &RunProperties,
        order: &RunOrder,
    ) -> Result<(CompiledPlan, Vec<Diagnostic>), Vec<Diagnostic>> {
        self.compile_read(plan, drumfire_jmx::read_file(plan)?, settings, order)
    }

    /// Compiles a plan that was read, from this file or from its text in an editor.
    ///
    /// # Errors
    /// Everything that is wrong with the plan, at once.
    pub fn compile_read(
        &self,
        plan: &Path,
        read: Read,
        settings: &RunProperties,
        order: &RunOrder,
    ) -> Result<(CompiledPlan, Vec<Diagnostic>), Vec<Diagnostic>> {
        let read = load::loaded(read, settings)?;
        let settings = self.run_settings(plan, settings, order, Network::Allowed);
        let compiled = drumfire_engine::compile(read.tree.clone(), settings)
            .map(|compiled| (compiled.plan, compiled.warnings));
        CompiledPlan::of(read, compiled)
    }

    /// Reads a plan and touches nothing but its files. The program may be shown but must not be run.
    ///
    /// # Errors
    /// Everything that is wrong with the plan, at once.
    pub fn draft(
        &self,
        plan: &Path,
        settings: &RunProperties,
    ) -> Result<(CompiledPlan, Vec<Diagnostic>), Vec<Diagnostic>> {
        let read = load::read(plan, settings)?;
        let settings = self.inspection_settings(plan, settings);
        let resolved =
            drumfire_engine::resolve(read.tree.clone(), &settings.properties, &settings.base_dir);
        let checked = drumfire_engine::draft(&resolved, &settings).checked();
        CompiledPlan::of(read, checked)
    }

    /// The classes that a plan needs and that no jar on this machine contains, by their full names. Does not start Java.
    ///
    /// # Errors
    /// The plan cannot be read.
    pub fn absent_classes(
        &self,
        plan: &Path,
        settings: &RunProperties,
    ) -> Result<Vec<String>, Vec<Diagnostic>> {
        let read = load::read(plan, settings)?;
        let settings = self.inspection_settings(plan, settings);
        let plan = drumfire_engine::resolve(read.tree, &settings.properties, &settings.base_dir);
        Ok(drumfire_engine::absent_classes(&plan, &settings))
    }

    /// Describes the Java for plans that need it, after it has carried out the order.
    ///
    /// # Errors
    /// Which part is missing, and how to get it.
    pub fn java_report(
        &self,
        settings: &RunProperties,
        order: &JvmOrder,
    ) -> Result<String, JavaFailure> {
        (self.java.report)(engine_properties(settings), order)
    }

    /// Runs a plan to its end on this thread. Subscribers receive its events.
    ///
    /// # Errors
    /// Why it could not start or go on.
    pub fn run(
        &self,
        plan: CompiledPlan,
        order: &RunOrder,
        control: &Control,
        subscribers: &mut [&mut dyn Subscriber],
    ) -> Result<Outcome, StartError> {
        let options = EngineOptions {
            delete_results: order.delete_results,
            ..EngineOptions::default()
        };
        drumfire_engine::run(Arc::new(plan.bound), &options, control, subscribers)
    }

    /// The settings of commands that look at a plan and send nothing.
    fn inspection_settings(&self, plan: &Path, settings: &RunProperties) -> Arc<RunSettings> {
        self.run_settings(plan, settings, &RunOrder::default(), Network::Never)
    }

    /// The properties, the plan's folder and this machine's data, in the engine's form.
    fn run_settings(
        &self,
        plan: &Path,
        settings: &RunProperties,
        order: &RunOrder,
        network: Network,
    ) -> Arc<RunSettings> {
        let properties = engine_properties(settings);
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        // JMeterContextService.startTest
        properties.set("TESTSTART.MS", now.as_millis().to_string());
        let plan = std::path::absolute(plan).unwrap_or_else(|_| plan.to_path_buf());
        Arc::new(RunSettings {
            java: (self.java.host)(&properties, &settings.log_levels, network),
            properties,
            base_dir: plan.parent().map(Path::to_path_buf).unwrap_or_default(),
            results: order.results.clone(),
            hostname: gethostname::gethostname().to_string_lossy().into_owned(),
            given: settings.given.clone(),
            debugging: order.debugging.clone(),
            share: order.share.clone(),
        })
    }
}

fn engine_properties(settings: &RunProperties) -> Properties {
    let properties = Properties::new();
    for (name, value) in settings.system.iter() {
        properties.set_system(name, value);
    }
    for (name, value) in settings.properties.iter() {
        properties.set(name, value);
    }
    properties
}
