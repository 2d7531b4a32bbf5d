//! jp@gc - Ultimate Thread Group.

use crate::form::{ElementFacts, Property, Role, rows};
use crate::shared::group;

pub const CLASS: &str = "kg.apc.jmeter.threads.UltimateThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "jp@gc - Ultimate Thread Group",
    "kg.apc.jmeter.threads.UltimateThreadGroupGui",
)
.help("Adds up the users of the rows of a schedule.")
.fields(&[group::ON_SAMPLE_ERROR, group::MAIN_LOOP, SCHEDULE]);

pub const SCHEDULE: Property = rows(
    "ultimatethreadgroupdata",
    &[
        "Start Threads Count",
        "Initial Delay, sec",
        "Startup Time, sec",
        "Hold Load For, sec",
        "Shutdown Time",
    ],
)
.label("Threads Schedule")
.help("Lists users with the times of their start, hold and end.");
