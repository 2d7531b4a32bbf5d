//! SMTP Sampler.

use crate::form::{
    ElementFacts, FileUse, Property, Role, Saved, file, flag, items, secret, section, text, whole,
};
use crate::items;
use crate::shared::mail_security;

pub const CLASS: &str = "SmtpSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "SMTP Sampler", "SmtpSamplerGui")
        .help("Sends a mail.")
        .sections(&[
            section(
                "Server settings",
                &[SERVER, PORT, CONNECT_TIMEOUT, READ_TIMEOUT],
            ),
            section("Mail settings", &[FROM, TO, CC, BCC, REPLY_TO]),
            section("Auth settings", &[USE_AUTH, USERNAME, PASSWORD]),
            mail_security::SECURITY,
            section(
                "Message settings",
                &[
                    SUBJECT,
                    SUPPRESS_SUBJECT,
                    INCLUDE_TIMESTAMP,
                    HEADER_FIELDS,
                    MESSAGE,
                    PLAIN_BODY,
                    ATTACHMENTS,
                    USE_EML,
                    EML_FILE,
                ],
            ),
            section("Additional settings", &[MESSAGE_SIZE, DEBUG]),
        ]);

pub const SERVER: Property = text("SMTPSampler.server")
    .label("Server")
    .help("Names the server.");

pub const PORT: Property = whole("SMTPSampler.serverPort")
    .label("Port")
    .help("Sets the port.");

pub const CONNECT_TIMEOUT: Property = whole("SMTPSampler.serverConnectionTimeout")
    .label("Connection timeout")
    .help("Fails if connecting takes more milliseconds.");

pub const READ_TIMEOUT: Property = whole("SMTPSampler.serverTimeout")
    .label("Read timeout")
    .help("Fails if the server is silent for more milliseconds.");

pub const FROM: Property = text("SMTPSampler.mailFrom")
    .label("Address From")
    .help("Holds the sender.");

pub const TO: Property = text("SMTPSampler.receiverTo")
    .label("Address To")
    .help("Lists the receivers, with semicolons between them.");

pub const CC: Property = text("SMTPSampler.receiverCC")
    .label("Address To CC")
    .help("Lists the receivers of a copy.");

pub const BCC: Property = text("SMTPSampler.receiverBCC")
    .label("Address To BCC")
    .help("Lists the receivers of a blind copy.");

pub const REPLY_TO: Property = text("SMTPSampler.replyTo")
    .label("Address Reply-To")
    .help("Lists the addresses for replies.");

pub const USE_AUTH: Property = flag("SMTPSampler.useAuth")
    .saved(Saved::StringProp)
    .label("Use Auth")
    .default("false")
    .help("Logs in.");

pub const USERNAME: Property = text("SMTPSampler.username")
    .label("Username")
    .help("Names the user.");

pub const PASSWORD: Property = secret("SMTPSampler.password")
    .label("Password")
    .help("Holds the password.");

pub const SUBJECT: Property = text("SMTPSampler.subject")
    .label("Subject")
    .help("Holds the subject.");

pub const SUPPRESS_SUBJECT: Property = flag("SMTPSampler.suppressSubject")
    .saved(Saved::StringProp)
    .label("Suppress Subject Header")
    .default("false")
    .help("Sends no subject.");

pub const INCLUDE_TIMESTAMP: Property = flag("SMTPSampler.include_timestamp")
    .saved(Saved::StringProp)
    .label("Include timestamp in subject")
    .default("false")
    .help("Adds the time to the subject.");

pub const HEADER_FIELDS: Property = items("SMTPSampler.headerFields", &items::ARGUMENT)
    .label("Headers")
    .help("Lists more header fields.");

pub const MESSAGE: Property = text("SMTPSampler.message")
    .label("Message")
    .help("Holds the text of the mail.");

pub const PLAIN_BODY: Property = flag("SMTPSampler.plainBody")
    .saved(Saved::StringProp)
    .label("Send plain body (i.e. not multipart/mixed)")
    .default("false")
    .help("Sends the text as the body instead of as a part.");

pub const ATTACHMENTS: Property = file("SMTPSampler.attachFile", FileUse::Read)
    .label("Attach file(s)")
    .help("Names files that are attached, with semicolons between them.");

pub const USE_EML: Property = flag("SMTPSampler.use_eml")
    .label("Send .eml")
    .default("false")
    .help("Sends a mail that is stored in a file.");

pub const EML_FILE: Property = file("SMTPSampler.emlMessageToSend", FileUse::Read)
    .label("Send .eml")
    .help("Names that file.");

pub const MESSAGE_SIZE: Property = flag("SMTPSampler.messageSizeStatistics")
    .saved(Saved::StringProp)
    .label("Calculate message size")
    .default("false")
    .help("Stores the size of the mail in the sample.");

pub const DEBUG: Property = flag("SMTPSampler.enableDebug")
    .saved(Saved::StringProp)
    .label("Enable debug logging?")
    .default("false")
    .help("Writes the conversation into the log.");
