//! WebSocket Single Write Sampler.

use crate::form::{ElementFacts, Property, Role, flag};
use crate::shared::frame;

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "WebSocket Single Write Sampler",
    "eu.luminis.jmeter.wssampler.SingleWriteWebSocketSamplerGui",
)
.help("Sends a WebSocket message.")
.fields(&[BINARY, frame::READ_TIMEOUT])
.sections(&[frame::CONNECTION, frame::SERVER_FIELDS, frame::DATA]);

pub const BINARY: Property = flag("binaryPayload")
    .label("Binary")
    .default("false")
    .help("Says in old plans that the data is bytes.");
