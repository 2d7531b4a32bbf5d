//! WebSocket Single Read Sampler.

use crate::form::{ElementFacts, Property, Role, choice, flag, same};
use crate::shared::frame;

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.SingleReadWebSocketSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "WebSocket Single Read Sampler",
    "eu.luminis.jmeter.wssampler.SingleReadWebSocketSamplerGui",
)
.help("Takes the next WebSocket message.")
.fields(&[DATA_TYPE, OPTIONAL, frame::READ_TIMEOUT])
.sections(&[frame::CONNECTION, frame::SERVER_FIELDS]);

pub const DATA_TYPE: Property = choice("dataType", &[same("Text"), same("Binary"), same("Any")])
    .label("Data type")
    .default("Text")
    .help("Says which messages it takes.");

pub const OPTIONAL: Property = flag("optional")
    .label("Optional")
    .default("false")
    .help("Makes a sample without a message a success.");
