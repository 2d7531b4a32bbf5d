//! MQTT DisConnect.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "net.xmeter.samplers.DisConnectSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "MQTT DisConnect",
    "net.xmeter.gui.DisConnectSamplerUI",
)
.help("Ends the user's MQTT connection.");
