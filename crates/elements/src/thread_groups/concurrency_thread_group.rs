//! bzm - Concurrency Thread Group.

use crate::form::{ElementFacts, Role};
use crate::shared::group;

pub const CLASS: &str = "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "bzm - Concurrency Thread Group",
    "com.blazemeter.jmeter.threads.concurrency.ConcurrencyThreadGroupGui",
)
.help("Keeps as many users running as its level says.")
.fields(&[
    group::ON_SAMPLE_ERROR,
    group::VIRTUAL_USER_LOOP,
    group::TARGET_LEVEL.label("Target Concurrency"),
    group::LEVEL_RAMP_UP.label("Ramp Up Time (min)"),
    group::STEPS,
    group::HOLD.label("Hold Target Rate Time (min)"),
    group::UNIT,
    group::ITERATIONS,
    group::LOG_FILE,
    group::LEVEL_SAME_USER,
]);
