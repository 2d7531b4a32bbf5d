//! WebSocket Text Frame Filter.

use crate::form::{ElementFacts, Property, Role, choice, is, text};

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
        is("IsPlain", "IsPlain"),
        is("Contains", "Contains"),
        is("ContainsRegex", "ContainsRegex"),
        is("Equals", "Equals"),
        is("EqualsRegex", "EqualsRegex"),
        is("StartsWith", "StartsWith"),
        is("EndsWith", "EndsWith"),
        is("NotContains", "NotContains"),
        is("NotContainsRegex", "NotContainsRegex"),
        is("NotEquals", "NotEquals"),
        is("NotEqualsRegex", "NotEqualsRegex"),
        is("NotStartsWith", "NotStartsWith"),
        is("NotEndsWith", "NotEndsWith"),
    ],
)
.label("Discard")
.default("IsPlain")
.help("Says how a frame is compared.");

pub const MATCH_VALUE: Property = text("matchValue")
    .label("Match")
    .help("Holds the text that it is compared with.");
