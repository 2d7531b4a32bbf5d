//! FTP Request Defaults.

use crate::form::{ElementFacts, Role};
use crate::shared::ftp;

pub use crate::config::http_defaults::CLASS;

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Config, CLASS, "FTP Request Defaults", "FtpConfigGui")
        .help("Gives FTP requests in its scope the settings that they leave empty.")
        .sections(&[ftp::REQUEST]);
