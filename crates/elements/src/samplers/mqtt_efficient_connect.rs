//! Efficient MQTT Connect.

use crate::form::{ElementFacts, Property, Role, flag, section, whole};
use crate::shared::mqtt;

pub const CLASS: &str = "net.xmeter.samplers.EfficientConnectSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "Efficient MQTT Connect",
    "net.xmeter.gui.EfficientConnectSamplerUI",
)
.help("Opens several MQTT connections of one user.")
.fields(&[mqtt::CLIENT])
.sections(&[
    mqtt::CONNECTION,
    mqtt::PROTOCOLS,
    mqtt::AUTHENTICATION,
    mqtt::OPTIONS,
    section(
        "Subscription options",
        &[SUBSCRIBE, mqtt::QOS, mqtt::TOPICS],
    ),
    section("Connection capacity options", &[CAPACITY]),
]);

pub const SUBSCRIBE: Property = flag("mqtt.sub_when_connected")
    .label("Subscribe when connected")
    .default("false")
    .help("Subscribes each connection to the topics.");

pub const CAPACITY: Property = whole("mqtt.conn_capacity")
    .label("Connection capacity")
    .default("1")
    .absent("1")
    .help("Sets how many connections a user opens.");
