//! LDAP Extended Request.

use crate::form::{ElementFacts, Role};
use crate::shared::ldap;

pub const CLASS: &str = "LDAPExtSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "LDAP Extended Request",
    "LdapExtTestSamplerGui",
)
.help("Sends any request to an LDAP server.")
.sections(&[
    ldap::EXTENDED_TEST,
    ldap::SERVER_FIELDS,
    ldap::EXTENDED_LOGIN,
    ldap::ENTRY,
    ldap::SEARCH,
    ldap::COMPARE,
]);
