//! Checks the addresses and the security of mail samplers.

use drumfire_jmx::Diagnostic;

use super::files::PROPERTY;
use super::is_as_jmeter;
use super::provenance::Definitions;
use crate::elements::samplers::mail::faults as of_sampler;
use crate::inspect::advice::AdvisedPlan;

/// Reports what would fail every sample of a mail sampler, or do something else than it says.
pub fn faults(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    let as_jmeter = is_as_jmeter(sight.settings, PROPERTY);
    let remedy = format!("or let the samples fail as in JMeter: `-J{PROPERTY}=jmeter`");
    let mut findings = Vec::new();
    for element in sight.all.iter().copied() {
        let mut value = |name: &str| {
            let text = element.props.str(name);
            definitions.value(&text).map(|(value, _)| value)
        };
        findings.extend(of_sampler(element, &mut value, &remedy));
    }
    findings.retain(|finding| !as_jmeter || !finding.is_error());
    findings
}
