//! Recording Controller.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "RecordingController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Recording Controller",
    "RecordController",
)
.help("Groups its children; the recorder puts requests into it.");
