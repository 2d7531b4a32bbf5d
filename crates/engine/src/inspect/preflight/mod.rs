//! Finds faults with which a run would pass without doing what the user asked: missing files, values from the command line
//! that are not numbers, properties that nothing reads, more users than memory holds.
//!
//! Each rule inspects the tree that is run, before the first request. A rule that is not certain reports nothing.

mod class_path;
mod files;
mod ftp;
#[cfg(feature = "grpc")]
mod grpc;
#[cfg(feature = "mail")]
mod mail;
#[cfg(feature = "mqtt")]
mod mqtt;
mod numbers;
mod ports;
mod provenance;
mod samplers;
mod unread;

use std::sync::Arc;

use drumfire_jmx::{Diagnostic, Tree};

use crate::bind;
use crate::bind::{Compiled, Draft};
use crate::decode::NEEDS_JAVA;
use crate::inspect::advice::AdvisedPlan;
use crate::resolve::{Element, Plan, resolve};
use crate::run::java::host::Java;
use crate::run::settings::RunSettings;
use provenance::Definitions;

/// The value with which a property asks for JMeter's behaviour.
const AS_JMETER: &str = "jmeter";

/// Compiles a plan and inspects it.
///
/// # Errors
/// Everything that keeps the plan from running, or from doing what its user asked.
pub fn compile(tree: Tree, settings: Arc<RunSettings>) -> Result<Compiled, Vec<Diagnostic>> {
    let plan = resolve(tree, &settings.properties, &settings.base_dir);
    let root = plan.root.as_ref();
    let found = root.map_or_else(Vec::new, |root| inspect(root, &settings));
    let bound = bind(plan, &settings);
    match bound {
        Ok(mut compiled) => {
            compiled.warnings.extend(found);
            let users = numbers::too_many_users(&settings, &compiled.plan.program.groups);
            compiled.warnings.extend(users);
            compiled.warnings.extend(unprovided(&compiled, &settings));
            if compiled.warnings.iter().any(Diagnostic::is_error) {
                Err(compiled.warnings)
            } else {
                Ok(compiled)
            }
        }
        Err(mut findings) => {
            findings.extend(found);
            Err(findings)
        }
    }
}

/// Fetches the jars of a plan that Java runs in part, so that a plan without them is refused before its run begins.
fn unprovided(compiled: &Compiled, settings: &RunSettings) -> Option<Diagnostic> {
    let Java::Host(host) = &settings.java else {
        return None;
    };
    if compiled.plan.program.java.is_empty() {
        return None;
    }
    let why = host.provide().err()?;
    let message = format!("the plan needs Java: {why}");
    Some(Diagnostic::error(NEEDS_JAVA, message).help("correct what the message names"))
}

/// Drafts a plan and inspects it.
pub fn draft(plan: &Plan, settings: &Arc<RunSettings>) -> Draft {
    inspected(bind::draft(plan, settings), plan, settings)
}

/// Drafts and inspects a plan after asking Java about the classes and functions that it would run.
pub fn draft_asking_java(plan: &Plan, settings: &Arc<RunSettings>) -> Draft {
    inspected(bind::draft_asking_java(plan, settings), plan, settings)
}

fn inspected(mut draft: Draft, plan: &Plan, settings: &RunSettings) -> Draft {
    let root = plan.root.as_ref();
    draft
        .findings
        .extend(root.map(|root| inspect(root, settings)).unwrap_or_default());
    let groups = draft.plan.as_ref().map(|plan| &plan.program.groups);
    let users = groups.and_then(|groups| numbers::too_many_users(settings, groups));
    draft.findings.extend(users);
    if draft.findings.iter().any(Diagnostic::is_error) {
        draft.plan = None;
    }
    draft
}

/// Errors that keep the plan from doing what its user asked, and warnings.
fn inspect(plan: &Element, settings: &RunSettings) -> Vec<Diagnostic> {
    let sight = AdvisedPlan::new(plan, settings);
    let mut definitions = Definitions::of(&sight);
    let mut findings = files::missing(&sight, &mut definitions);
    #[cfg(feature = "grpc")]
    findings.extend(grpc::faults(&sight, &mut definitions));
    #[cfg(feature = "mail")]
    findings.extend(mail::faults(&sight, &mut definitions));
    #[cfg(feature = "mqtt")]
    findings.extend(mqtt::faults(&sight, &mut definitions));
    findings.extend(ftp::faults(&sight, &mut definitions));
    findings.extend(class_path::missing_entries(settings));
    findings.extend(numbers::bad(&sight, &mut definitions));
    findings.extend(ports::too_high(&sight, &mut definitions));
    findings.extend(unread::properties(&sight));
    findings
}

/// Whether a property asks for JMeter's own behaviour.
fn is_as_jmeter(settings: &RunSettings, property: &str) -> bool {
    let value = settings.properties.get(property);
    value.is_some_and(|value| value.trim().eq_ignore_ascii_case(AS_JMETER))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use drumfire_expr::Properties;

    use super::*;

    /// Compiles a plan with these elements beside each other below the Test Plan.
    pub fn findings(elements: &str, given: &[(&str, &str)], base_dir: &Path) -> Vec<Diagnostic> {
        let text = drumfire_testkit::plans::plan(elements);
        let read = drumfire_jmx::read(text.as_bytes(), Path::new("p.jmx")).expect("a plan");
        let properties = Properties::new();
        for (name, value) in given {
            properties.set(name, *value);
        }
        let settings = RunSettings {
            properties,
            base_dir: base_dir.to_path_buf(),
            given: given.iter().map(|(name, _)| (*name).to_owned()).collect(),
            ..RunSettings::default()
        };
        match compile(read.tree, Arc::new(settings)) {
            Ok(compiled) => compiled.warnings,
            Err(findings) => findings,
        }
    }

    /// The codes of the findings.
    pub fn codes(findings: &[Diagnostic]) -> Vec<&'static str> {
        findings.iter().map(|finding| finding.code).collect()
    }

    /// A thread group with this number of users, given as a text, and these elements in it.
    pub fn group(users: &str, loops: &str, inside: &str) -> String {
        format!(
            r#"<ThreadGroup guiclass="g" testclass="ThreadGroup" testname="G"><stringProp name="ThreadGroup.num_threads">{users}</stringProp>
            <elementProp name="ThreadGroup.main_controller" elementType="LoopController"><stringProp name="LoopController.loops">{loops}</stringProp></elementProp>
            </ThreadGroup><hashTree>{inside}</hashTree>"#
        )
    }
}
