//! CSV Data Set Config.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, suggested, text};
use crate::when::{FleetRule, Test, When};

pub const CLASS: &str = "CSVDataSet";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Data, CLASS, "CSV Data Set Config", "TestBeanGUI")
        .help("Reads a row of a file into variables in each iteration.")
        .fields(&[
            FILE,
            ENCODING,
            VARIABLE_NAMES,
            IGNORE_FIRST_LINE,
            DELIMITER,
            QUOTED,
            RECYCLE,
            STOP_AT_END,
            SHARE_MODE,
        ])
        .fleet(&[
            FleetRule::same(
                &[Test::Is(
                    SHARE_MODE.name,
                    &["shareMode.thread", "Current thread"],
                )],
                "each user reads the file from its first row",
            ),
            FleetRule::same(&[], "each row once in each pass over all agents"),
        ])
        .ends_run(When::If(Test::On(STOP_AT_END.name)));

pub const FILE: Property = file("filename", FileUse::Data)
    .label("Filename")
    .help("Names the file.");

pub const ENCODING: Property = suggested(
    "fileEncoding",
    &["UTF-8", "UTF-16", "ISO-8859-15", "US-ASCII"],
)
.label("File encoding")
.help("Names the charset of the file; empty is the platform's.");

pub const VARIABLE_NAMES: Property = text("variableNames")
    .label("Variable Names (comma-delimited)")
    .sets_each(',')
    .help("Names the variables of the columns; if empty, the first line of the file does.");

pub const IGNORE_FIRST_LINE: Property = flag("ignoreFirstLine")
    .label("Ignore first line (only used if Variable Names is not empty)")
    .default("false")
    .help("Leaves out the first line if the variables are named.");

pub const DELIMITER: Property = text("delimiter")
    .label("Delimiter (use '\\t' for tab)")
    .default(",")
    .help("Divides the columns; `\\t` is a tab.");

pub const QUOTED: Property = flag("quotedData")
    .label("Allow quoted data?")
    .default("false")
    .help("Reads quoted values, which may contain delimiters and line ends.");

pub const RECYCLE: Property = flag("recycle")
    .label("Recycle on EOF ?")
    .default("true")
    .help("Begins anew after the last row.");

pub const STOP_AT_END: Property = flag("stopThread")
    .label("Stop thread on EOF ?")
    .default("false")
    .help("Ends the user after the last row.");

pub const SHARE_MODE: Property = suggested(
    "shareMode",
    &["shareMode.all", "shareMode.group", "shareMode.thread"],
)
.label("Sharing mode")
.default("shareMode.all")
.help("Says which users take rows from one list.");
