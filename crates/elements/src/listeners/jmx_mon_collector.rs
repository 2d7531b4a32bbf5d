//! jp@gc - JMXMon Samples Collector.

use crate::form::{ElementFacts, Property, Role, rows};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "kg.apc.jmeter.jmxmon.JMXMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - JMXMon Samples Collector",
    "kg.apc.jmeter.vizualizers.JMXMonGui",
)
.help("Asks Java programs for numbers over JMX.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, VALUES]);

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
