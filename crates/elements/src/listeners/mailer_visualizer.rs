//! Mailer Visualizer.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, inner};
use crate::items;

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "MailerResultCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "Mailer Visualizer",
    "MailerVisualizer",
)
.help("Sends a mail when samples fail too often.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, MAILER]);

pub const FILE: Property = file("filename", FileUse::Write)
    .label("Filename")
    .help("Names the result file.");

pub const ERRORS_ONLY: Property = flag("ResultCollector.error_logging")
    .label("Errors")
    .default("false")
    .help("Writes and shows failed samples only.");

pub const SUCCESSES_ONLY: Property = flag("ResultCollector.success_only_logging")
    .label("Successes")
    .help("Writes and shows successful samples only.");

pub const MAILER: Property = inner("MailerResultCollector.mailer_model", &items::MAILER)
    .label("Mailer")
    .help("Says when and to whom mails are sent.");
