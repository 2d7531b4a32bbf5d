//! bzm - Free-Form Arrivals Thread Group.

use crate::form::{ElementFacts, Property, Role, rows};
use crate::shared::group;

pub const CLASS: &str = "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "bzm - Free-Form Arrivals Thread Group",
    "com.blazemeter.jmeter.threads.arrivals.FreeFormArrivalsThreadGroupGui",
)
.help("Starts iterations at the rates of a table.")
.fields(&[
    group::ON_SAMPLE_ERROR,
    group::VIRTUAL_USER_LOOP,
    SCHEDULE,
    group::UNIT,
    group::ITERATIONS,
    group::LOG_FILE,
    group::CONCURRENCY_LIMIT,
    group::ARRIVALS_LIMIT,
    group::LEVEL_SAME_USER,
]);

pub const SCHEDULE: Property = rows("Schedule", &["Start Value", "End Value", "Duration"])
    .label("Threads Schedule")
    .help("Lists rates at the beginning and the end of a time, and its length.");
