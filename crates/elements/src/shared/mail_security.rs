//! How mail samplers secure their connections.

use crate::form::{FileUse, Property, Saved, Section, file, flag, section, text};

pub const SECURITY: Section = section(
    "Security settings",
    &[
        SSL,
        START_TLS,
        TRUST_ALL,
        ENFORCE_START_TLS,
        USE_TRUST_STORE,
        TRUST_STORE,
        TLS_PROTOCOLS,
    ],
);

pub const SSL: Property = flag("SMTPSampler.useSSL")
    .saved(Saved::StringProp)
    .label("Use SSL")
    .default("false")
    .help("Begins the connection with TLS.");

pub const START_TLS: Property = flag("SMTPSampler.useStartTLS")
    .saved(Saved::StringProp)
    .label("Use StartTLS")
    .default("false")
    .help("Turns the connection into TLS with STARTTLS.");

pub const TRUST_ALL: Property = flag("SMTPSampler.trustAllCerts")
    .saved(Saved::StringProp)
    .label("Trust all certificates")
    .default("false")
    .help("Accepts any certificate of the server.");

pub const ENFORCE_START_TLS: Property = flag("SMTPSampler.enforceStartTLS")
    .saved(Saved::StringProp)
    .label("Enforce StartTLS")
    .default("false")
    .help("Has no effect, as in JMeter 5.6.3.");

pub const USE_TRUST_STORE: Property = flag("SMTPSampler.useLocalTrustStore")
    .saved(Saved::StringProp)
    .label("Use local truststore")
    .default("false")
    .help("Trusts the certificates in a file.");

pub const TRUST_STORE: Property = file("SMTPSampler.trustStoreToUse", FileUse::Read)
    .label("Local truststore")
    .help("Names that file.");

pub const TLS_PROTOCOLS: Property = text("SMTPSampler.tlsProtocols")
    .label("Override System SSL/TLS Protocols")
    .help("Lists the versions of TLS that are offered, with spaces between them.");
