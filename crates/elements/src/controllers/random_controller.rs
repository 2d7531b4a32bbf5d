//! Random Controller.

use crate::form::{ElementFacts, Property, Role, Saved, choice, is};

pub const CLASS: &str = "RandomController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Random Controller",
    "RandomControlGui",
)
.help("Runs one child in each iteration, chosen at random.")
.fields(&[STYLE]);

pub const STYLE: Property = choice("InterleaveControl.style", &[is("0", "off"), is("1", "on")])
    .saved(Saved::IntProp)
    .label("Ignore sub-controller blocks")
    .default("1")
    .help("Takes the samplers of controllers below it one by one.");
