//! jp@gc - Dummy Sampler.

use crate::form::{ElementFacts, Role};
use crate::shared::dummy;

pub const CLASS: &str = "kg.apc.jmeter.samplers.DummySampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "jp@gc - Dummy Sampler",
    "kg.apc.jmeter.samplers.DummySamplerGui",
)
.help("Makes a sample from its properties.")
.fields(dummy::FIELDS);
