//! User Defined Variables.

use crate::form::{ElementFacts, Property, Role, items};
use crate::items;

pub const CLASS: &str = "Arguments";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "User Defined Variables",
    "ArgumentsPanel",
)
.also(&[("HTTPArgumentsPanel", "User Defined Variables")])
.outside_menu(&["HTTPArgumentsPanel"])
.help("Lists variables that all users have from the start.")
.fields(&[VARIABLES]);

pub const VARIABLES: Property = items("Arguments.arguments", &items::VARIABLE)
    .label("User Defined Variables")
    .help("Lists the variables.");
