//! Loop Controller.

use crate::form::{ElementFacts, Property, Role, flag, whole};

pub const CLASS: &str = "LoopController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Loop Controller",
    "LoopControlPanel",
)
.help("Runs its children a number of times.")
.fields(&[LOOPS, CONTINUE_FOREVER]);

pub const LOOPS: Property = whole("LoopController.loops")
    .label("Loop Count")
    .default("1")
    .help("Says how often the children run; -1 is forever.");

pub const CONTINUE_FOREVER: Property = flag("LoopController.continue_forever")
    .default("true")
    .help("Lets the loop begin anew after its last round.");
