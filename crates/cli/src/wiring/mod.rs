//! Connects the command line to the engine.

mod fleet;
// A statically linked program cannot load a library.
#[cfg(all(feature = "jvm", not(target_env = "musl")))]
mod java;
mod load;
#[cfg(not(all(feature = "jvm", not(target_env = "musl"))))]
mod no_java;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use drumfire_commands::engine::{
    Control, Engine, Glance, GroupView, JvmOrder, Outcome, PlanLabels, PlanView, RunOrder, Share,
    SplitView, Subscriber, SummaryLines, Survey,
};
use drumfire_commands::properties::RunProperties;
use drumfire_engine::java::Java;
use drumfire_engine::{BoundPlan, EngineOptions};
use drumfire_expr::Properties;
use drumfire_fleet::{AgentOptions, FleetError, Served};
use drumfire_jmx::{Diagnostic, Tree};
use drumfire_results::CollectorSet;
#[cfg(not(all(feature = "jvm", not(target_env = "musl"))))]
use no_java as java;

/// The engine of this program.
pub struct Wiring;

/// A compiled plan and what it was compiled from.
pub struct Ready {
    tree: Tree,
    plan: BoundPlan,
}

impl Engine for Wiring {
    type Program = Ready;

    fn survey(&self, plan: &Path, settings: &RunProperties) -> Result<Survey, Vec<Diagnostic>> {
        let read = load::read(plan, settings)?;
        let mut survey = drumfire_engine::survey(&read.tree, &inspection_settings(plan, settings));
        survey.findings.splice(0..0, read.warnings);
        Ok(survey)
    }

    fn glance(&self) -> Glance {
        |plan, tree, settings| {
            /// Some hundred bytes to some hundred kilobytes each.
            const PATTERNS: usize = 20_000;
            drumfire_query::regex::keep_compiled(PATTERNS);
            drumfire_engine::glance(tree, &inspection_settings(plan, settings))
        }
    }

    fn compile(
        &self,
        plan: &Path,
        settings: &RunProperties,
        order: &RunOrder,
    ) -> Result<(Ready, Vec<Diagnostic>), Vec<Diagnostic>> {
        let read = load::read(plan, settings)?;
        let mut warnings = read.warnings;
        let settings = engine_settings(plan, settings, order, java::Network::Allowed);
        match drumfire_engine::compile(read.tree.clone(), settings) {
            Ok(compiled) => {
                warnings.extend(compiled.warnings);
                Ok((
                    Ready {
                        tree: read.tree,
                        plan: compiled.plan,
                    },
                    warnings,
                ))
            }
            Err(faults) => {
                warnings.extend(faults);
                Err(warnings)
            }
        }
    }

    fn java(&self, settings: &RunProperties, order: &JvmOrder) -> Result<String, String> {
        java::report(engine_properties(settings), order)
    }

    fn absent_classes(
        &self,
        plan: &Path,
        settings: &RunProperties,
    ) -> Result<Vec<String>, Vec<Diagnostic>> {
        let read = load::read(plan, settings)?;
        let settings = inspection_settings(plan, settings);
        let plan = drumfire_engine::resolve(read.tree, &settings.properties, &settings.base_dir);
        Ok(drumfire_engine::absent_classes(&plan, &settings))
    }

    fn plan_files(&self, ready: &Ready) -> Vec<PathBuf> {
        drumfire_engine::plan_files(&ready.tree, &ready.plan.program)
    }

    fn split(&self, ready: &Ready, shares: &[Share]) -> SplitView {
        drumfire_engine::split(&ready.tree, &ready.plan.program, shares)
    }

    fn serve(
        &self,
        options: &AgentOptions,
        told: &mut dyn FnMut(&str),
    ) -> Result<Served, FleetError> {
        drumfire_fleet::serve(options, self, told)
    }

    fn java_version(&self) -> Option<String> {
        java::version()
    }

    fn result_files(&self, ready: &Ready) -> Vec<PathBuf> {
        drumfire_engine::result_files(&ready.plan.program)
    }

    fn labels(&self, ready: &Ready) -> Option<PlanLabels> {
        Some(drumfire_engine::labels(&ready.plan))
    }

    fn backends(&self, ready: &Ready) -> Vec<drumfire_engine::BackendSpec> {
        ready.plan.program.backends.clone()
    }

    fn collectors(&self, ready: &Ready) -> Vec<Arc<Mutex<CollectorSet>>> {
        ready.plan.program.collectors.clone()
    }

    fn monitors(&self, ready: &Ready) -> Vec<drumfire_engine::MonitorSpec> {
        ready.plan.program.monitors.clone()
    }

    fn draft(
        &self,
        plan: &Path,
        settings: &RunProperties,
    ) -> Result<(Ready, Vec<Diagnostic>), Vec<Diagnostic>> {
        let read = load::read(plan, settings)?;
        let mut warnings = read.warnings;
        let settings = inspection_settings(plan, settings);
        let plan =
            drumfire_engine::resolve(read.tree.clone(), &settings.properties, &settings.base_dir);
        match drumfire_engine::draft(&plan, &settings).checked() {
            Ok((plan, more)) => {
                warnings.extend(more);
                let tree = read.tree;
                Ok((Ready { tree, plan }, warnings))
            }
            Err(faults) => {
                warnings.extend(faults);
                Err(warnings)
            }
        }
    }

    fn describe(&self, ready: &Ready) -> PlanView {
        drumfire_engine::describe(&ready.tree, &ready.plan.program)
    }

    fn has_rates(&self, ready: &Ready) -> bool {
        ready.plan.program.has_rates
    }

    fn groups(&self, ready: &Ready) -> Vec<GroupView> {
        drumfire_engine::groups(&ready.plan.program)
    }

    fn summary_lines(&self, ready: &Ready) -> SummaryLines {
        SummaryLines::of(&ready.plan.program)
    }

    fn run(
        &self,
        ready: Ready,
        order: &RunOrder,
        control: &Control,
        subscribers: &mut [&mut dyn Subscriber],
    ) -> anyhow::Result<Outcome> {
        let options = EngineOptions {
            delete_results: order.delete_results,
            ..EngineOptions::default()
        };
        let java = ready.plan.program.settings.java.clone();
        let outcome = drumfire_engine::run(Arc::new(ready.plan), &options, control, subscribers)?;
        if let Java::Host(host) = java {
            host.run_ended();
        }
        Ok(outcome)
    }

    fn await_threads(&self) {
        java::await_threads();
    }
}

/// The settings of commands that look at a plan and send nothing.
fn inspection_settings(plan: &Path, settings: &RunProperties) -> Arc<drumfire_engine::RunSettings> {
    engine_settings(plan, settings, &RunOrder::default(), java::Network::Never)
}

/// The properties, the plan's folder and this machine's data, in the engine's form.
fn engine_settings(
    plan: &Path,
    settings: &RunProperties,
    order: &RunOrder,
    network: java::Network,
) -> Arc<drumfire_engine::RunSettings> {
    let properties = engine_properties(settings);
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    // JMeterContextService.startTest
    properties.set("TESTSTART.MS", now.as_millis().to_string());
    let plan = std::path::absolute(plan).unwrap_or_else(|_| plan.to_path_buf());
    Arc::new(drumfire_engine::RunSettings {
        java: java::host(&properties, &settings.log_levels, network),
        properties,
        base_dir: plan.parent().map(Path::to_path_buf).unwrap_or_default(),
        results: order.results.clone(),
        hostname: gethostname::gethostname().to_string_lossy().into_owned(),
        given: settings.given.clone(),
        debugging: order.debugging.clone(),
        share: order.share.clone(),
    })
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
