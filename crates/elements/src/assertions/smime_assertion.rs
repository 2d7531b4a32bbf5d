//! SMIME Assertion.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, section, text, whole};

pub const CLASS: &str = "SMIMEAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "SMIME Assertion",
    "SMIMEAssertionGui",
)
.help("Checks the signature of a mail.")
.sections(&[
    section("Signature", &[VERIFY_SIGNATURE, NOT_SIGNED]),
    section(
        "Signer certificate",
        &[
            SIGNER_NO_CHECK,
            CHECK_VALUES,
            SIGNER_DN,
            SIGNER_EMAIL,
            ISSUER_DN,
            SIGNER_SERIAL,
            CHECK_FILE,
            CERTIFICATE,
        ],
    ),
    section("Message Position", &[MESSAGE_POSITION]),
]);

pub const VERIFY_SIGNATURE: Property = flag("SMIMEAssert.verifySignature")
    .label("Verify signature")
    .default("false")
    .help("Checks the signature.");

pub const NOT_SIGNED: Property = flag("SMIMEAssert.notSigned")
    .label("Message not signed")
    .default("false")
    .help("Expects no signature.");

pub const SIGNER_NO_CHECK: Property = flag("SMIMEAssert.signerNoCheck")
    .label("No check")
    .default("false")
    .help("Accepts any signer.");

pub const CHECK_VALUES: Property = flag("SMIMEAssert.signerCheckConstraints")
    .label("Check values")
    .default("false")
    .help("Compares the values below.");

pub const SIGNER_DN: Property = text("SMIMEAssert.signerDn")
    .label("Signer distinguished name")
    .help("Holds the signer's name.");

pub const SIGNER_EMAIL: Property = text("SMIMEAssert.signerEmail")
    .label("Signer email address")
    .help("Holds the signer's address.");

pub const ISSUER_DN: Property = text("SMIMEAssert.issuerDn")
    .label("Issuer distinguished name")
    .help("Holds the issuer's name.");

pub const SIGNER_SERIAL: Property = text("SMIMEAssert.signerSerial")
    .label("Serial Number")
    .help("Holds the certificate's number.");

pub const CHECK_FILE: Property = flag("SMIMEAssert.signerCheckByFile")
    .label("Certificate file")
    .default("false")
    .help("Compares the certificate with a file.");

pub const CERTIFICATE: Property = file("SMIMEAssert.signerCertFile", FileUse::Read)
    .label("Certificate file")
    .help("Names that file.");

pub const MESSAGE_POSITION: Property = whole("SMIMEAssert.messagePosition")
    .label("Execute assertion on message at position")
    .help("Says which mail of the sample is checked.");
