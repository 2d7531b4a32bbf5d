//! jp@gc - Composite Graph.

use crate::form::{ElementFacts, Role};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "kg.apc.jmeter.vizualizers.CompositeResultCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - Composite Graph",
    "kg.apc.jmeter.vizualizers.CompositeGraphGui",
)
.help("Writes results into a file, and draws other listeners' charts in one.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG]);
