//! setUp Thread Group.

use crate::form::{ElementFacts, Role};
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
.sections(&[group::USERS_AND_LOOPS, group::LIFETIME]);
