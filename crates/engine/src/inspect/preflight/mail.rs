//! Checks the addresses and the security of mail samplers.

use drumfire_jmx::Diagnostic;

use super::provenance::Definitions;
use super::samplers;
use crate::elements::samplers::mail::faults as of_sampler;
use crate::inspect::advice::AdvisedPlan;

/// Reports what would fail every sample of a mail sampler, or do something else than it says.
pub fn faults(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    samplers::faults(sight, definitions, of_sampler)
}
