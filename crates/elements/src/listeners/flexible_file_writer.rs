//! jp@gc - Flexible File Writer.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, text};

pub const CLASS: &str = "kg.apc.jmeter.reporters.FlexibleFileWriter";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - Flexible File Writer",
    "kg.apc.jmeter.reporters.FlexibleFileWriterGui",
)
.help("Writes a file with the columns that it lists.")
.fields(&[FILE, OVERWRITE, HEADER, COLUMNS, FOOTER]);

pub const FILE: Property = file("filename", FileUse::Write)
    .label("Filename")
    .help("Names the file.");

pub const OVERWRITE: Property = flag("overwrite")
    .label("Overwrite existing file")
    .default("false")
    .help("Replaces the file instead of appending to it.");

pub const HEADER: Property = text("header")
    .label("Write File Header")
    .help("Begins the file.");

pub const COLUMNS: Property = text("columns")
    .label("Record each sample as")
    .help("Lists fields and texts with bars between them.");

pub const FOOTER: Property = text("footer")
    .label("Write File Footer")
    .help("Ends the file.");
