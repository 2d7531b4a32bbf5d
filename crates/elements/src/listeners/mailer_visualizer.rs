//! Mailer Visualizer.

use crate::form::{ElementFacts, Property, Role, inner};
use crate::items;

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "MailerResultCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "Mailer Visualizer",
    "MailerVisualizer",
)
.help("Sends a mail when samples fail too often.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, MAILER]);

pub const MAILER: Property = inner("MailerResultCollector.mailer_model", &items::MAILER)
    .label("Mailer")
    .help("Says when and to whom mails are sent.");
