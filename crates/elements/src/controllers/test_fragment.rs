//! Test Fragment.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "TestFragmentController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Fragment,
    CLASS,
    "Test Fragment",
    "TestFragmentControllerGui",
)
.help("Holds elements that Module and Include Controllers run.");
