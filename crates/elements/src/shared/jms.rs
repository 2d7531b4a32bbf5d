//! The fields of JMS Publisher and JMS Subscriber.

use crate::form::{
    Language, Property, Saved, Section, choice, code, flag, is, secret, section, text, whole,
};

pub const CONNECTION: Section = section(
    "Connection",
    &[
        JNDI_FILE,
        CONTEXT_FACTORY,
        PROVIDER_URL,
        AUTHENTICATE,
        USER,
        PASSWORD,
        CONNECTION_FACTORY,
        DESTINATION,
        DESTINATION_SETUP,
        RECONNECT,
        AGGREGATE,
    ],
);

pub const JNDI_FILE: Property = flag("jms.jndi_properties")
    .saved(Saved::StringProp)
    .label("Use jndi.properties file")
    .default("false")
    .help("Takes the connection's settings from the file jndi.properties.");

pub const CONTEXT_FACTORY: Property = text("jms.initial_context_factory")
    .label("Initial Context Factory")
    .help("Names the class that looks names up.");

pub const PROVIDER_URL: Property = text("jms.provider_url")
    .label("Provider URL")
    .help("Holds the address of the broker.");

pub const AUTHENTICATE: Property = flag("jms.authenticate")
    .label("Use Authorization?")
    .default("false")
    .help("Logs in with the user and the password.");

pub const USER: Property = text("jms.security_principle")
    .label("User")
    .help("Names the user.");

pub const PASSWORD: Property = secret("jms.security_credentials")
    .label("Password")
    .help("Holds the password.");

pub const CONNECTION_FACTORY: Property = text("jms.connection_factory")
    .label("Connection Factory")
    .help("Names the connection factory.");

pub const DESTINATION: Property = text("jms.topic")
    .label("Destination")
    .help("Names the queue or topic.");

pub const DESTINATION_SETUP: Property = choice(
    "jms.destination_static",
    &[is("", "At startup"), is("false", "Each sample")],
)
.saved(Saved::BoolProp)
.label("Setup")
.help("Says when the destination is looked up.");

pub const RECONNECT: Property = code("jms_error_reconnect_on_codes", Language::Regex)
    .label("Reconnect on error codes (regex)")
    .help("Connects again after errors whose code matches.");

pub const AGGREGATE: Property = whole("jms.iterations")
    .label("Number of samples to aggregate")
    .default("1")
    .help("Sends or receives this many messages in one sample.");
