//! Login Config Element.

use crate::form::{ElementFacts, Role};
use crate::shared::login;

pub const CLASS: &str = "LoginConfig";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "Login Config Element",
    "LoginConfigGui",
)
.outside_menu(&["LoginConfigGui"])
.help("Gave samplers in its scope a user and a password, in plans of JMeter 1.x.")
.sections(&[login::LOGIN]);
