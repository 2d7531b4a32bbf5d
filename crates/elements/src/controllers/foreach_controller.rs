//! ForEach Controller.

use crate::form::{ElementFacts, Property, Role, flag, text, whole};

pub const CLASS: &str = "ForeachController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "ForEach Controller",
    "ForeachControlPanel",
)
.help("Runs its children for each of the variables `name_1`, `name_2` and so on.")
.fields(&[INPUT, START_INDEX, END_INDEX, OUTPUT, USE_SEPARATOR]);

pub const INPUT: Property = text("ForeachController.inputVal")
    .label("Input variable prefix")
    .reads_parts()
    .help("Names the variables without their numbers.");

pub const START_INDEX: Property = whole("ForeachController.startIndex")
    .label("Start index for loop (exclusive)")
    .help("Leaves out the variables up to this number.");

pub const END_INDEX: Property = whole("ForeachController.endIndex")
    .label("End index for loop (inclusive)")
    .help("Ends after this number.");

pub const OUTPUT: Property = text("ForeachController.returnVal")
    .label("Output variable name")
    .sets()
    .help("Names the variable that holds the current value.");

pub const USE_SEPARATOR: Property = flag("ForeachController.useSeparator")
    .label("Add \"_\" before number ?")
    .default("true")
    .help("Says that an underscore stands before the number.");
