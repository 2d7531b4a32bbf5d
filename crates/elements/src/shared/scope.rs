//! Which samples an extractor or an assertion looks at.

use crate::form::{Property, choice, is, text};

pub const SAMPLE: Property = choice(
    "Sample.scope",
    &[
        is("", "Main sample only"),
        is("all", "Main sample and sub-samples"),
        is("children", "Sub-samples only"),
        is("variable", "JMeter Variable Name to use"),
    ],
)
.label("Apply to")
.help("Chooses the samples, or the variable, that the extractor searches.");

pub const ASSERTION: Property = choice(
    "Assertion.scope",
    &[
        is("", "Main sample only"),
        is("all", "Main sample and sub-samples"),
        is("children", "Sub-samples only"),
        is("variable", "JMeter Variable Name to use"),
    ],
)
.label("Apply to")
.help("Chooses the samples, or the variable, that the assertion checks.");

pub const VARIABLE: Property = text("Scope.variable")
    .label("JMeter Variable Name to use")
    .reads()
    .help("Names the variable whose text is used instead of a sample.");
