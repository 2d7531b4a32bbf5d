//! Simple Data Writer.

use crate::form::{ElementFacts, Role};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

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
