//! jp@gc - Add Dummy Subresult.

use crate::form::{ElementFacts, Role};
use crate::shared::dummy;

pub const CLASS: &str = "kg.apc.jmeter.modifiers.DummySubPostProcessor";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "jp@gc - Add Dummy Subresult",
    "kg.apc.jmeter.modifiers.DummySubPostProcessorGui",
)
.help("Adds a sub-sample that is made from its properties.")
.fields(dummy::FIELDS);
