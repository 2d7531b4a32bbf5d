//! jp@gc - PerfMon Metrics Collector.

use crate::form::{ElementFacts, Property, Role, rows};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "kg.apc.jmeter.perfmon.PerfMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(Role::Listener, CLASS, "jp@gc - PerfMon Metrics Collector", "kg.apc.jmeter.vizualizers.PerfMonGui").help("Asks ServerAgents for metrics of their machines.").fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, AGENTS]).differs("The run asks for processor, memory, network, disks and connections, whatever the rows name, and writes no file.");

pub const AGENTS: Property = rows(
    "metricConnections",
    &["Host", "Port", "Metric", "Metric parameter"],
)
.label("Servers to Monitor")
.help("Lists the agents and metrics.");
