//! jp@gc - Composite Graph.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag};

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "kg.apc.jmeter.vizualizers.CompositeResultCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - Composite Graph",
    "kg.apc.jmeter.vizualizers.CompositeGraphGui",
)
.help("Writes results into a file, and draws other listeners' charts in one.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG]);

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
