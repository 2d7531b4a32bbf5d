//! WebSocket request-response Sampler.

use crate::form::{ElementFacts, Role};
use crate::shared::frame;

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "WebSocket request-response Sampler",
    "eu.luminis.jmeter.wssampler.RequestResponseWebSocketSamplerGui",
)
.help("Sends a WebSocket message and waits for the answer.")
.fields(&[frame::READ_TIMEOUT])
.sections(&[frame::CONNECTION, frame::SERVER_FIELDS, frame::DATA]);
