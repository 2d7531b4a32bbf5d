//! Simple Data Writer.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag};

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "ResultCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "Simple Data Writer",
    "SimpleDataWriter",
)
.also(&[
    ("ViewResultsFullVisualizer", "View Results Tree"),
    ("SummaryReport", "Summary Report"),
    ("StatVisualizer", "Aggregate Report"),
    ("StatGraphVisualizer", "Aggregate Graph"),
    ("TableVisualizer", "View Results in Table"),
    ("AssertionVisualizer", "Assertion Results"),
    ("ComparisonVisualizer", "Comparison Assertion Visualizer"),
    ("GraphVisualizer", "Graph Results"),
    ("RespTimeGraphVisualizer", "Response Time Graph"),
])
.help("Writes results into a file, and shows them in JMeter's window.")
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
