//! LDAP Request.

use crate::form::{ElementFacts, Role};
use crate::shared::{ldap, login};

pub const CLASS: &str = "LDAPSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "LDAP Request", "LdapTestSamplerGui")
        .help("Sends a simple request to an LDAP server.")
        .sections(&[login::LOGIN, ldap::SERVER_FIELDS, ldap::SIMPLE_TESTS]);
