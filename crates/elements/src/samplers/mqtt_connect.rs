//! MQTT Connect.

use crate::form::{ElementFacts, Role};
use crate::shared::mqtt;

pub const CLASS: &str = "net.xmeter.samplers.ConnectSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "MQTT Connect",
    "net.xmeter.gui.ConnectSamplerUI",
)
.help("Opens the user's MQTT connection.")
.fields(&[mqtt::CLIENT])
.sections(&[
    mqtt::CONNECTION,
    mqtt::PROTOCOLS,
    mqtt::AUTHENTICATION,
    mqtt::OPTIONS,
]);
