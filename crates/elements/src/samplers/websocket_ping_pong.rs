//! WebSocket Ping/Pong.

use crate::form::{ElementFacts, Property, Role, choice, is};
use crate::shared::frame;

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.PingPongSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "WebSocket Ping/Pong",
    "eu.luminis.jmeter.wssampler.PingPongSamplerGui",
)
.help("Sends a ping over a WebSocket connection and waits for the pong.")
.fields(&[TYPE, frame::READ_TIMEOUT]);

pub const TYPE: Property = choice("type", &[is("PingPong", "ping/pong"), is("Pong", "pong")])
    .label("Type")
    .default("PingPong")
    .help("Says whether it sends a ping or a pong alone.");
