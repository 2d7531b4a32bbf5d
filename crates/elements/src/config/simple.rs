//! Simple Config Element.

use crate::form::{ElementFacts, Role};

pub use crate::config::http_defaults::CLASS;

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "Simple Config Element",
    "SimpleConfigGui",
)
.also(&[("ObsoleteGui", "This test element is obsolete")])
.outside_menu(&["ObsoleteGui"])
.help("Gives samplers in its scope properties by their names.");
