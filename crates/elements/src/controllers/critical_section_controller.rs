//! Critical Section Controller.

use crate::form::{ElementFacts, Property, Role, text};
use crate::when::FleetRule;

pub const CLASS: &str = "CriticalSectionController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Critical Section Controller",
    "CriticalSectionControllerGui",
)
.help("Runs its children for one user at a time.")
.fields(&[LOCK_NAME])
.fleet(&[FleetRule::differs(&[], "each agent has its own lock")]);

pub const LOCK_NAME: Property = text("CriticalSectionController.lockName")
    .label("Lock name")
    .default("global_lock")
    .help("Names the lock; controllers with the same name exclude each other.");
