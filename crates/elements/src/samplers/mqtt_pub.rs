//! MQTT Pub Sampler.

use crate::form::{ElementFacts, Property, Role, choice, flag, same, section, text, whole};
use crate::shared::mqtt;

pub const CLASS: &str = "net.xmeter.samplers.PubSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "MQTT Pub Sampler",
    "net.xmeter.gui.PubSamplerUI",
)
.help("Publishes a message on the user's MQTT connection.")
.sections(&[
    section(
        "Pub options",
        &[RETAINED, mqtt::QOS, mqtt::TOPIC, TIMESTAMP],
    ),
    section("Payloads", &[MESSAGE_TYPE, LENGTH, MESSAGE]),
]);

pub const RETAINED: Property = flag("mqtt.retained_message")
    .label("Retained messages")
    .default("false")
    .help("Lets the server keep the message for later subscribers.");

pub const TIMESTAMP: Property = flag("mqtt.add_timestamp")
    .label("Add timestamp in payload")
    .default("false")
    .help(
        "Puts the time in front of the payload, from which MQTT Sub Samplers compute the latency.",
    );

pub const MESSAGE_TYPE: Property = choice(
    "mqtt.message_type",
    &[
        same("String"),
        same("Hex string"),
        same("Random string with fixed length"),
    ],
)
.label("Message type")
.default("String")
.absent("Random string with fixed length")
.help("Says where the payload comes from.");

pub const LENGTH: Property = whole("mqtt.message_type_fixed_length")
    .label("Length")
    .default("1024")
    .absent("1024")
    .help("Sets the length of random strings.");

pub const MESSAGE: Property = text("mqtt.message_to_sent")
    .label("Message")
    .help("Holds the text, or the bytes in hexadecimal.");
