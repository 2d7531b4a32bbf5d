//! TCP Sampler Config.

use crate::form::{ElementFacts, Role};
use crate::shared::tcp;

pub use crate::config::http_defaults::CLASS;

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Config, CLASS, "TCP Sampler Config", "TCPConfigGui")
        .help("Gives TCP samplers in its scope the settings that they leave empty.")
        .sections(&[tcp::REQUEST]);
