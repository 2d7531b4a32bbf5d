//! Interleave Controller.

use crate::form::{ElementFacts, Property, Role, Saved, choice, flag, is};

pub const CLASS: &str = "InterleaveControl";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Interleave Controller",
    "InterleaveControlGui",
)
.help("Runs one child in each iteration, in turn.")
.fields(&[STYLE, ACROSS_USERS]);

pub const STYLE: Property = choice("InterleaveControl.style", &[is("0", "off"), is("1", "on")])
    .saved(Saved::IntProp)
    .label("Ignore sub-controller blocks")
    .default("1")
    .help("Takes the samplers of controllers below it one by one.");

pub const ACROSS_USERS: Property = flag("InterleaveControl.accrossThreads")
    .label("Interleave across threads")
    .default("false")
    .help("Takes turns among all users together.");
