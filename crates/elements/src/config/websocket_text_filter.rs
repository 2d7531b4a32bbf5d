//! WebSocket Text Frame Filter.

use crate::form::{ElementFacts, Property, Role, choice, same, text};

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.TextFrameFilter";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "WebSocket Text Frame Filter",
    "eu.luminis.jmeter.wssampler.TextFrameFilterGui",
)
.help("Discards text frames.")
.fields(&[COMPARISON_TYPE, MATCH_VALUE]);

pub const COMPARISON_TYPE: Property = choice(
    "comparisonType",
    &[
        same("IsPlain"),
        same("Contains"),
        same("ContainsRegex"),
        same("Equals"),
        same("EqualsRegex"),
        same("StartsWith"),
        same("EndsWith"),
        same("NotContains"),
        same("NotContainsRegex"),
        same("NotEquals"),
        same("NotEqualsRegex"),
        same("NotStartsWith"),
        same("NotEndsWith"),
    ],
)
.label("Discard")
.default("IsPlain")
.help("Says how a frame is compared.");

pub const MATCH_VALUE: Property = text("matchValue")
    .label("Match")
    .help("Holds the text that it is compared with.");
