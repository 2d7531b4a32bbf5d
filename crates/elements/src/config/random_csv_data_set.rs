//! bzm - Random CSV Data Set Config.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, text};
use crate::when::{FleetRule, Test, When};

pub const CLASS: &str = "com.blazemeter.jmeter.RandomCSVDataSetConfig";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Data,
    CLASS,
    "bzm - Random CSV Data Set Config",
    "com.blazemeter.jmeter.RandomCSVDataSetConfigGui",
)
.help("Reads a row of a file into variables in each iteration, in random order.")
.fields(&[
    FILE,
    ENCODING,
    DELIMITER,
    VARIABLE_NAMES,
    RANDOM_ORDER,
    IGNORE_FIRST_LINE,
    REWIND,
    LIST_PER_USER,
])
.fleet(&[FleetRule::same(
    &[],
    "each row once in each pass over all agents",
)])
.ends_run(When::If(Test::Off(REWIND.name)));

pub const FILE: Property = file("filename", FileUse::Data)
    .label("Filename")
    .help("Names the file.");

pub const ENCODING: Property = text("fileEncoding")
    .label("File encoding")
    .default("UTF-8")
    .help("Names the charset of the file.");

pub const DELIMITER: Property = text("delimiter")
    .label("Delimiter")
    .default(",")
    .help("Divides the columns; `\\t` is a tab.");

pub const VARIABLE_NAMES: Property = text("variableNames")
    .label("Variable Names")
    .sets_each(',')
    .help("Names the variables of the columns; if empty, the first line of the file does.");

pub const RANDOM_ORDER: Property = flag("randomOrder")
    .label("Random order")
    .default("true")
    .help("Takes the rows in random order, each once.");

pub const IGNORE_FIRST_LINE: Property = flag("ignoreFirstLine")
    .label("First line is CSV header")
    .default("false")
    .help("Leaves out the first line if the variables are named.");

pub const REWIND: Property = flag("rewindOnTheEndOfList")
    .label("Rewind on end of list")
    .default("true")
    .help("Begins anew after the last row; otherwise the user ends.");

pub const LIST_PER_USER: Property = flag("independentListPerThread")
    .label("Independent list per thread")
    .default("false")
    .help("Would give each user the whole list; the plugin does not do it.");
