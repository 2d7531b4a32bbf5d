//! tearDown Thread Group.

use crate::form::{ElementFacts, Role};
use crate::shared::group;

pub const CLASS: &str = "PostThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "tearDown Thread Group",
    "PostThreadGroupGui",
)
.help("Runs after all other thread groups.")
.fields(&[group::ON_SAMPLE_ERROR])
.sections(&[group::USERS_AND_LOOPS, group::LIFETIME]);
