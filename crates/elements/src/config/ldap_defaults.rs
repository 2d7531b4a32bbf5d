//! LDAP Request Defaults.

use crate::form::{ElementFacts, Role};
use crate::shared::ldap;

pub use crate::config::http_defaults::CLASS;

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "LDAP Request Defaults",
    "LdapConfigGui",
)
.help("Gives LDAP requests in its scope the settings that they leave empty.")
.sections(&[ldap::SERVER_FIELDS, ldap::SIMPLE_TESTS]);
