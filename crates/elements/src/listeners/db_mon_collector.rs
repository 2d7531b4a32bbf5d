//! jp@gc - DbMon Samples Collector.

use crate::form::{ElementFacts, Property, Role, rows};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "kg.apc.jmeter.dbmon.DbMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - DbMon Samples Collector",
    "kg.apc.jmeter.vizualizers.DbMonGui",
)
.help("Asks databases for numbers.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, QUERIES]);

pub const QUERIES: Property = rows(
    "metricSamplers",
    &["JDBC Connection", "Chart Label", "Delta", "SQL Query"],
)
.label("Sql to monitor")
.help("Lists the pools and statements.");
