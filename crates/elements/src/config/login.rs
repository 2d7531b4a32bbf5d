//! Login Config Element.

use crate::form::{ElementFacts, Role};
use crate::shared::login;

pub use crate::config::http_defaults::CLASS;

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "Login Config Element",
    "LoginConfigGui",
)
.help("Gives samplers in its scope a user and a password.")
.sections(&[login::LOGIN]);
