//! Mail Reader Sampler.

use crate::form::{ElementFacts, Property, Role, Saved, flag, secret, text, whole};
use crate::shared::mail_security;

pub const CLASS: &str = "MailReaderSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "Mail Reader Sampler",
    "MailReaderSamplerGui",
)
.help("Reads mails from a server.")
.fields(&[
    PROTOCOL,
    HOST,
    PORT,
    USERNAME,
    PASSWORD,
    FOLDER,
    MESSAGES,
    HEADER_ONLY,
    DELETE,
    RAW,
])
.sections(&[mail_security::SECURITY]);

pub const PROTOCOL: Property = text("host_type")
    .label("Protocol (e.g. pop3, imaps)")
    .default("pop3")
    .help("Names the protocol: `pop3`, `pop3s`, `imap`, `imaps`, `file`.");

pub const HOST: Property = text("host").label("Server Host").help("Names the server.");

pub const PORT: Property = whole("port")
    .label("Server Port (optional)")
    .help("Sets the port.");

pub const USERNAME: Property = text("username").label("Username").help("Names the user.");

pub const PASSWORD: Property = secret("password")
    .label("Password")
    .help("Holds the password.");

pub const FOLDER: Property = text("folder")
    .label("Folder")
    .default("INBOX")
    .help("Names the folder of an IMAP server.");

pub const MESSAGES: Property = whole("num_messages")
    .saved(Saved::IntProp)
    .label("Number of messages to retrieve")
    .default("-1")
    .help("Says how many mails are read; -1 is all.");

pub const HEADER_ONLY: Property = flag("headerOnly")
    .label("Fetch headers only")
    .help("Reads only the header of each mail.");

pub const DELETE: Property = flag("delete")
    .label("Delete messages from the server")
    .default("false")
    .help("Deletes the mails from the server.");

pub const RAW: Property = flag("storeMimeMessage")
    .label("Store the message using MIME (raw)")
    .help("Stores the mails as they were sent.");
