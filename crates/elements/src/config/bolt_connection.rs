//! Bolt Connection Configuration.

use crate::form::{ElementFacts, Property, Role, secret, text, whole};

pub const CLASS: &str = "BoltConnectionElement";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "Bolt Connection Configuration",
    "TestBeanGUI",
)
.help("Connects to a Neo4j server.")
.fields(&[URL, USERNAME, PASSWORD, SIZE])
.since("5.3");

pub const URL: Property = text("boltUri").label("Bolt URI").help("Holds the address.");

pub const USERNAME: Property = text("username").label("Username").help("Names the user.");

pub const PASSWORD: Property = secret("password")
    .label("Password")
    .help("Holds the password.");

pub const SIZE: Property = whole("connectionPoolMaxSize")
    .label("Connection Pool Max Size")
    .default("100")
    .help("Limits the number of connections.");
