//! The work of an agent: compiles and runs this machine's part of a plan.

use drumfire_engine::BoundPlan;
use drumfire_fleet::{AgentOptions, AgentWork, FleetError, PlanOrder, Served};
use drumfire_java::JvmDefaults;
use drumfire_jmx::{Diagnostic, Severity};
use jiff::Timestamp;

use super::{Engine, RunOrder};
use crate::log;
use crate::settings::options::PropertyOptions;
use crate::settings::properties::{self, RunProperties, Surroundings};

/// Waits for one run on several machines and takes part in it. Calls `told` with lines for the user.
///
/// # Errors
/// Why it could not take part.
pub fn serve(
    engine: &Engine,
    options: &AgentOptions,
    told: &mut dyn FnMut(&str),
) -> Result<Served, FleetError> {
    let work = AgentWork {
        compile: &|order| compile(engine, order),
        await_threads: engine.java.await_threads,
    };
    drumfire_fleet::serve(options, &work, told)
}

/// Compiles the plan with this machine's properties. The findings are lines for the user.
fn compile(engine: &Engine, order: &PlanOrder) -> Result<(BoundPlan, Vec<String>), Vec<String>> {
    log::set_queue_levels(&order.settings.log_levels);
    let settings = settings(order).map_err(|fault| vec![line(&fault)])?;
    let run = RunOrder {
        results: order.results.clone(),
        delete_results: false,
        share: order.share.clone(),
        ..RunOrder::default()
    };
    match engine.compile(&order.plan, &settings, &run) {
        Ok((plan, warnings)) => Ok((plan.bound, lines(&warnings, Severity::Warning))),
        Err(faults) => Err(lines(&faults, Severity::Error)),
    }
}

/// This machine's own properties, combined with those of the run.
fn settings(order: &PlanOrder) -> Result<RunProperties, Box<Diagnostic>> {
    let around = Surroundings {
        variable: &drumfire_platform::variable,
        now: Timestamp::now(),
        zone: &JvmDefaults::of_process().zone.rules().clone(),
        own: &[],
    };
    let mut settings = properties::resolve(&PropertyOptions::default(), &around)?;
    let run = &order.settings;
    for name in &run.removed {
        settings.properties.remove(name);
    }
    for name in &run.removed_system {
        settings.system.remove(name);
    }
    settings.properties.merge(run.properties.iter().cloned());
    settings.system.merge(run.system.iter().cloned());
    let share = &order.share;
    settings
        .properties
        .set("agent.index", share.index.to_string());
    settings
        .properties
        .set("agent.count", share.count.to_string());
    if share.is_each {
        // RemoteJMeterEngineImpl sets it, so that users on different servers have different names.
        settings.properties.set("__jm.D_TG", order.agent.as_str());
    }
    settings.given = run.given.clone();
    settings.log_levels = run.log_levels.clone();
    Ok(settings)
}

/// The findings of this severity.
fn lines(findings: &[Diagnostic], severity: Severity) -> Vec<String> {
    let wanted = findings
        .iter()
        .filter(|finding| finding.severity == severity);
    wanted.map(line).collect()
}

/// A finding as one line.
fn line(finding: &Diagnostic) -> String {
    let element = finding.path.join(" > ");
    let help = finding.help.as_ref().map(|help| format!("; {help}"));
    let separator = if element.is_empty() { "" } else { ": " };
    format!(
        "{element}{separator}{}{}",
        finding.message,
        help.unwrap_or_default()
    )
}
