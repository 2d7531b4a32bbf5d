//! jp@gc - DbMon Samples Collector.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, rows};

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "kg.apc.jmeter.dbmon.DbMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - DbMon Samples Collector",
    "kg.apc.jmeter.vizualizers.DbMonGui",
)
.help("Asks databases for numbers.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, QUERIES]);

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

pub const QUERIES: Property = rows(
    "metricSamplers",
    &["JDBC Connection", "Chart Label", "Delta", "SQL Query"],
)
.label("Sql to monitor")
.help("Lists the pools and statements.");
