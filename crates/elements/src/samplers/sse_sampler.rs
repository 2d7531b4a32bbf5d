//! SSE Sampler.

use crate::form::{ElementFacts, Property, Role, text, whole};

pub const CLASS: &str = "com.jmeter.sse.SSESampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "SSE Sampler",
    "com.jmeter.sse.SSESamplerGui",
)
.help("Listens to server-sent events for some seconds.")
.fields(&[URL, DURATION, HEADERS]);

pub const URL: Property = text("SSESampler.url")
    .label("SSE Endpoint URL")
    .help("Holds the whole URL.");

pub const DURATION: Property = whole("SSESampler.duration")
    .label("Listen Duration (seconds)")
    .default("10")
    .absent("10")
    .help("Ends the sample after this many seconds, unless the server ends the stream.");

pub const HEADERS: Property = text("SSESampler.headers")
    .label("Custom Request Headers")
    .help("Holds a header a line, as `Name: Value`.");
