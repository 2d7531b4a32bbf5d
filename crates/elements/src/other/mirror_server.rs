//! HTTP Mirror Server.

use crate::form::{ElementFacts, Property, Role, whole};

pub const CLASS: &str = "HttpMirrorControl";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::NonTest,
    CLASS,
    "HTTP Mirror Server",
    "HttpMirrorControlGui",
)
.help("Answers each request with the request itself, in JMeter's window.")
.fields(&[PORT, MAX_POOL_SIZE, MAX_QUEUE_SIZE]);

pub const PORT: Property = whole("HttpMirrorControlGui.port")
    .label("Port")
    .default("8081")
    .help("Sets the port.");

pub const MAX_POOL_SIZE: Property = whole("HttpMirrorControlGui.maxPoolSize")
    .label("Max number of Threads")
    .default("0")
    .help("Limits the number of threads; 0 is no limit.");

pub const MAX_QUEUE_SIZE: Property = whole("HttpMirrorControlGui.maxQueueSize")
    .label("Max queue size")
    .default("25")
    .help("Limits the number of requests that wait.");
