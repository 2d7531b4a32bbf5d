//! LDAP Extended Request Defaults.

use crate::form::{ElementFacts, Role};
use crate::shared::ldap;

pub use crate::config::http_defaults::CLASS;

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "LDAP Extended Request Defaults",
    "LdapExtConfigGui",
)
.help("Gives LDAP extended requests in its scope the settings that they leave empty.")
.sections(&[
    ldap::EXTENDED_TEST,
    ldap::SERVER_FIELDS,
    ldap::EXTENDED_LOGIN,
    ldap::ENTRY,
    ldap::SEARCH,
    ldap::COMPARE,
]);
