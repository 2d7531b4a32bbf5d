//! jp@gc - Graphs Generator.

use crate::form::{ElementFacts, FileUse, Property, Role, file, text};

pub const CLASS: &str = "kg.apc.jmeter.listener.GraphsGeneratorListener";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - Graphs Generator",
    "TestBeanGUI",
)
.help("Draws charts of a result file after the run.")
.fields(&[FOLDER, RESULTS]);

pub const FOLDER: Property = text("outputBaseFolder")
    .label("Output Folder")
    .help("Names the folder of the charts.");

pub const RESULTS: Property = file("resultsFileName", FileUse::Read)
    .label("JMeter results file")
    .help("Names the result file.");
