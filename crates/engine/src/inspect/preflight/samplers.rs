//! Asks a protocol's own check about each element.

use drumfire_jmx::Diagnostic;

use super::files::PROPERTY;
use super::is_as_jmeter;
use super::provenance::Definitions;
use crate::inspect::advice::AdvisedPlan;
use crate::resolve::Element;

/// Asks `check` about each element and returns its findings. `check` gets an element, the values that its properties have before the run,
/// and a remedy for the help of errors. Errors are left out if samples are to fail as in JMeter.
pub fn faults(
    sight: &AdvisedPlan,
    definitions: &mut Definitions,
    check: impl Fn(&Element, &mut dyn FnMut(&str) -> Option<String>, &str) -> Vec<Diagnostic>,
) -> Vec<Diagnostic> {
    let as_jmeter = is_as_jmeter(sight.settings, PROPERTY);
    let remedy = format!("or let the samples fail as in JMeter: `-J{PROPERTY}=jmeter`");
    let mut findings = Vec::new();
    for element in sight.all.iter().copied() {
        let mut value = |name: &str| {
            let text = element.props.str(name);
            definitions.value(&text).map(|(value, _)| value)
        };
        findings.extend(check(element, &mut value, &remedy));
    }
    findings.retain(|finding| !as_jmeter || !finding.is_error());
    findings
}
