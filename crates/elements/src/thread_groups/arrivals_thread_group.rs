//! bzm - Arrivals Thread Group.

use crate::form::{ElementFacts, Role};
use crate::shared::group;

pub const CLASS: &str = "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "bzm - Arrivals Thread Group",
    "com.blazemeter.jmeter.threads.arrivals.ArrivalsThreadGroupGui",
)
.help("Starts iterations at a rate, with as many users as that takes.")
.fields(&[
    group::ON_SAMPLE_ERROR,
    group::VIRTUAL_USER_LOOP,
    group::TARGET_LEVEL.label("Target Rate (arrivals/min)"),
    group::LEVEL_RAMP_UP.label("Ramp Up Time (min)"),
    group::STEPS,
    group::HOLD.label("Hold Target Rate Time (min)"),
    group::UNIT,
    group::ITERATIONS,
    group::LOG_FILE,
    group::CONCURRENCY_LIMIT,
    group::ARRIVALS_LIMIT,
    group::LEVEL_SAME_USER,
]);
