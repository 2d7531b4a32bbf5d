//! TCP Sampler.

use crate::form::{ElementFacts, Role};
use crate::shared::{login, tcp};

pub const CLASS: &str = "TCPSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "TCP Sampler", "TCPSamplerGui")
        .help("Sends a text over a TCP connection and reads the response.")
        .sections(&[tcp::REQUEST, login::LOGIN]);
