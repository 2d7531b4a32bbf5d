//! Access Log Sampler.

use crate::form::{
    ElementFacts, FileUse, Property, Role, file, flag, inner, section, suggested, text, whole,
};
use crate::items;

pub const CLASS: &str = "AccessLogSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "Access Log Sampler", "TestBeanGUI")
        .help("Sends the requests in the lines of a server's log file.")
        .sections(&[
            section(
                "Test Server",
                &[PROTOCOL, DOMAIN, PORT, EMBEDDED_RESOURCES, ARGUMENTS],
            ),
            section("Plugin Classes", &[PARSER, FILTER]),
            section("Log File Location", &[LOG_FILE]),
        ]);

pub const PROTOCOL: Property = text("protocol")
    .label("Protocol")
    .default("http")
    .help("Sets the scheme.");

pub const DOMAIN: Property = text("domain").label("Server").help("Names the host.");

pub const PORT: Property = whole("portString").label("Port").help("Sets the port.");

pub const EMBEDDED_RESOURCES: Property = flag("imageParsing")
    .label("Parse Images")
    .default("false")
    .help("Fetches the embedded resources of pages.");

pub const ARGUMENTS: Property =
    inner("HTTPsampler.Arguments", &items::HTTP_ARGUMENTS).help("Is always empty.");

pub const PARSER: Property = suggested(
    "parserClassName",
    &[
        "org.apache.jmeter.protocol.http.util.accesslog.OrderPreservingLogParser",
        "org.apache.jmeter.protocol.http.util.accesslog.SharedTCLogParser",
        "org.apache.jmeter.protocol.http.util.accesslog.TCLogParser",
    ],
)
.label("Parser")
.default("org.apache.jmeter.protocol.http.util.accesslog.TCLogParser")
.help("Names the class that reads the lines.");

pub const FILTER: Property = suggested(
    "filterClassName",
    &[
        "org.apache.jmeter.protocol.http.util.accesslog.LogFilter",
        "org.apache.jmeter.protocol.http.util.accesslog.SessionFilter",
    ],
)
.label("Filter (Optional)")
.help("Names the class that leaves out lines.");

pub const LOG_FILE: Property = file("logFile", FileUse::Read)
    .label("Log File")
    .help("Names the log file.");
