//! jp@gc - JMXMon Samples Collector.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, rows};

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "kg.apc.jmeter.jmxmon.JMXMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - JMXMon Samples Collector",
    "kg.apc.jmeter.vizualizers.JMXMonGui",
)
.help("Asks Java programs for numbers over JMX.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, VALUES]);

pub const FILE: Property = file("filename", FileUse::Write)
    .label("Filename")
    .help("Names the result file.");

pub const ERRORS_ONLY: Property = flag("ResultCollector.error_logging")
    .label("Errors")
    .default("false")
    .help("Writes and shows failed samples only.");

pub const SUCCESSES_ONLY: Property = flag("ResultCollector.success_only_logging")
    .label("Successes")
    .help("Writes and shows successful samples only.");

pub const VALUES: Property = rows(
    "metricSamplers",
    &[
        "Label",
        "URL",
        "Username",
        "Password",
        "Object Name",
        "Attribute",
        "Key",
        "Delta",
        "Retry On Failure",
    ],
)
.label("JMX to monitor")
.help("Lists the programs and values.");
