//! Synchronizing Timer.

use crate::form::{ElementFacts, Property, Role, Saved, whole};
use crate::when::FleetRule;

pub const CLASS: &str = "SyncTimer";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Timer, CLASS, "Synchronizing Timer", "TestBeanGUI")
        .help("Holds users until a number of them have arrived.")
        .fields(&[GROUP_SIZE, TIMEOUT])
        .fleet(&[FleetRule::differs(
            &[],
            "each agent gathers its part of the group among its own users",
        )]);

pub const GROUP_SIZE: Property = whole("groupSize")
    .saved(Saved::IntProp)
    .label("Number of Simulated Users to Group by")
    .default("0")
    .help("Says how many users go on together; 0 is all of the thread group.");

pub const TIMEOUT: Property = whole("timeoutInMs")
    .saved(Saved::LongProp)
    .label("Timeout in milliseconds")
    .default("0")
    .help("Lets the users go on after this time.");
