//! WebSocket Open Connection.

use crate::form::{ElementFacts, Role};
use crate::shared::frame;

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.OpenWebSocketSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "WebSocket Open Connection",
    "eu.luminis.jmeter.wssampler.OpenWebSocketSamplerGui",
)
.help("Opens a WebSocket connection.")
.fields(&[frame::CONNECT_TIMEOUT, frame::READ_TIMEOUT])
.sections(&[frame::SERVER_FIELDS]);
