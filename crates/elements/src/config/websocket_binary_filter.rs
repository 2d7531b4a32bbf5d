//! WebSocket Binary Frame Filter.

use crate::form::{ElementFacts, Property, Role, choice, same, text, whole};

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.BinaryFrameFilter";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "WebSocket Binary Frame Filter",
    "eu.luminis.jmeter.wssampler.BinaryFrameFilterGui",
)
.help("Discards binary frames.")
.fields(&[COMPARISON_TYPE, MATCH_VALUE, MATCH_POSITION]);

pub const COMPARISON_TYPE: Property = choice(
    "comparisonType",
    &[
        same("IsPlain"),
        same("Contains"),
        same("Equals"),
        same("StartsWith"),
        same("EndsWith"),
        same("NotContains"),
        same("NotEquals"),
        same("NotStartsWith"),
        same("NotEndsWith"),
    ],
)
.label("Discard")
.default("IsPlain")
.help("Says how a frame is compared.");

pub const MATCH_VALUE: Property = text("matchValue")
    .label("Match")
    .help("Holds the bytes that it is compared with, in hexadecimal.");

pub const MATCH_POSITION: Property = whole("matchPosition")
    .label("Position")
    .help("Says where in the frame they stand.");
