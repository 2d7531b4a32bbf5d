//! The engine's side of an agent.

use std::sync::Arc;

use drumfire_commands::engine::{Engine as _, RunOrder};
use drumfire_commands::options::PropertyOptions;
use drumfire_commands::properties::{self, RunProperties, Surroundings};
use drumfire_engine::java::Java;
use drumfire_engine::{Control, EngineOptions, Outcome, StartError, Subscriber};
use drumfire_expr::Properties;
use drumfire_fleet::PlanOrder;
use drumfire_java::JvmDefaults;
use drumfire_jmx::{Diagnostic, Severity};
use jiff::Timestamp;

use super::{Ready, Wiring};

impl drumfire_fleet::Engine for Wiring {
    type Program = Ready;

    fn compile(&self, order: &PlanOrder) -> Result<(Ready, Vec<String>), Vec<String>> {
        drumfire_commands::log::set_queue_levels(&order.log_levels);
        let settings = settings(order).map_err(|fault| vec![line(&fault)])?;
        let run = RunOrder {
            results: order.results.clone(),
            delete_results: false,
            share: order.share.clone(),
            ..RunOrder::default()
        };
        let lines = |findings: Vec<Diagnostic>, least: Severity| {
            let of_weight = findings.iter().filter(|finding| finding.severity == least);
            of_weight.map(line).collect()
        };
        match drumfire_commands::engine::Engine::compile(self, &order.plan, &settings, &run) {
            Ok((ready, warnings)) => Ok((ready, lines(warnings, Severity::Warning))),
            Err(faults) => Err(lines(faults, Severity::Error)),
        }
    }

    fn properties<'p>(&self, ready: &'p Ready) -> &'p Properties {
        &ready.plan.program.settings.properties
    }

    fn run(
        &self,
        ready: Ready,
        options: &EngineOptions,
        control: &Control,
        subscribers: &mut [&mut dyn Subscriber],
    ) -> Result<Outcome, StartError> {
        let java = ready.plan.program.settings.java.clone();
        let outcome = drumfire_engine::run(Arc::new(ready.plan), options, control, subscribers)?;
        if let Java::Host(host) = java {
            host.run_ended();
        }
        self.await_threads();
        Ok(outcome)
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
    for name in &order.removed {
        settings.properties.remove(name);
    }
    for name in &order.removed_system {
        settings.system.remove(name);
    }
    settings.properties.merge(order.properties.iter().cloned());
    settings.system.merge(order.system.iter().cloned());
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
    settings.given = order.given.clone();
    settings.log_levels = order.log_levels.clone();
    Ok(settings)
}

/// A finding as one line.
fn line(finding: &Diagnostic) -> String {
    let place = finding.path.join(" > ");
    let help = finding.help.as_ref().map(|help| format!("; {help}"));
    let separator = if place.is_empty() { "" } else { ": " };
    format!(
        "{place}{separator}{}{}",
        finding.message,
        help.unwrap_or_default()
    )
}
