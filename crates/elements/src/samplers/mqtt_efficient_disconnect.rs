//! Efficient MQTT DisConnect.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "net.xmeter.samplers.EfficientDisConnectSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "Efficient MQTT DisConnect",
    "net.xmeter.gui.EfficientDisConnectSamplerUI",
)
.help("Ends all MQTT connections that Efficient MQTT Connect opened.");
