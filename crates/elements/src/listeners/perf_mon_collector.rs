//! jp@gc - PerfMon Metrics Collector.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, rows};

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "kg.apc.jmeter.perfmon.PerfMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(Role::Listener, CLASS, "jp@gc - PerfMon Metrics Collector", "kg.apc.jmeter.vizualizers.PerfMonGui").help("Asks ServerAgents for metrics of their machines.").fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, AGENTS]).differs("The run asks for processor, memory, network, disks and connections, whatever the rows name, and writes no file.");

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

pub const AGENTS: Property = rows(
    "metricConnections",
    &["Host", "Port", "Metric", "Metric parameter"],
)
.label("Servers to Monitor")
.help("Lists the agents and metrics.");
