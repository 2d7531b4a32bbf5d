//! bzm - HTTP Sampler.

use crate::form::{ElementFacts, Property, Role, flag, section, text};
use crate::shared::http;

pub const CLASS: &str = "com.blazemeter.jmeter.http2.sampler.HTTP2Sampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "bzm - HTTP Sampler",
    "com.blazemeter.jmeter.http2.sampler.gui.HTTP2SamplerGui",
)
.help("Sends an HTTP request with a chosen version of HTTP.")
.sections(&[
    section(
        "HTTP version",
        &[PROFILE, UPGRADE, HTTP1, HTTP2, ALPN, PRIOR_KNOWLEDGE],
    ),
    http::SERVER,
    http::REQUEST,
    http::TIMEOUTS,
    http::EMBEDDED,
    http::PROXY,
]);

pub const PROFILE: Property = text("HTTP2Sampler.profile")
    .label("Profile")
    .help("Names a choice of versions.");

pub const UPGRADE: Property = flag("HTTP2Sampler.http1_upgrade")
    .label("HTTP1 Upgrade")
    .help("Begins with HTTP/1.1 and asks for HTTP/2.");

pub const HTTP1: Property = flag("HTTP2Sampler.enableHttp1")
    .label("Enable HTTP/1.1")
    .help("Allows HTTP/1.1.");

pub const HTTP2: Property = flag("HTTP2Sampler.enableHttp2")
    .label("Enable HTTP/2")
    .help("Allows HTTP/2.");

pub const ALPN: Property = flag("HTTP2Sampler.alpnEnabled")
    .label("ALPN")
    .help("Chooses the version while TLS begins.");

pub const PRIOR_KNOWLEDGE: Property = flag("HTTP2Sampler.http2PriorKnowledge")
    .label("Prior knowledge")
    .help("Speaks HTTP/2 from the first byte.");
