//! WebSocket Close.

use crate::form::{ElementFacts, Property, Role, whole};
use crate::shared::frame;

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.CloseWebSocketSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "WebSocket Close",
    "eu.luminis.jmeter.wssampler.CloseWebSocketSamplerGui",
)
.help("Closes a WebSocket connection.")
.fields(&[STATUS_CODE, frame::READ_TIMEOUT]);

pub const STATUS_CODE: Property = whole("statusCode")
    .label("Close status")
    .default("1000")
    .help("Is sent with the close frame.");
