//! setUp Thread Group.

use crate::form::{ElementFacts, Role, section};
use crate::shared::group;

pub const CLASS: &str = "SetupThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "setUp Thread Group",
    "SetupThreadGroupGui",
)
.help("Runs before all other thread groups.")
.fields(&[group::ON_SAMPLE_ERROR])
.sections(&[
    section(
        "Thread Properties",
        &[
            group::USERS,
            group::RAMP_TIME,
            group::MAIN_LOOP,
            group::SAME_USER,
        ],
    ),
    section(
        "Thread lifetime",
        &[
            group::SCHEDULER,
            group::DURATION,
            group::DELAY,
            group::START_TIME,
            group::END_TIME,
        ],
    ),
]);
