//! WebSocket Ping/Pong Frame Filter.

use crate::form::{ElementFacts, Property, Role, choice, flag, is};

pub const CLASS: &str = "eu.luminis.jmeter.wssampler.PingFrameFilter";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "WebSocket Ping/Pong Frame Filter",
    "eu.luminis.jmeter.wssampler.PingFrameFilterGui",
)
.help("Discards pings and pongs.")
.fields(&[FILTER_TYPE, REPLY]);

pub const FILTER_TYPE: Property = choice(
    "filterType",
    &[
        is("FilterAll", "ping and pong"),
        is("FilterPingOnly", "ping"),
        is("FilterPongOnly", "pong"),
    ],
)
.label("Discard")
.default("FilterAll")
.help("Says which of them it discards.");

pub const REPLY: Property = flag("replyToPing")
    .label("Reply to ping")
    .default("false")
    .help("Answers pings.");
