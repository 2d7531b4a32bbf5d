//! MQTT Sub Sampler.

use crate::form::{ElementFacts, Property, Role, choice, flag, same, section, text};
use crate::shared::mqtt;

pub const CLASS: &str = "net.xmeter.samplers.SubSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "MQTT Sub Sampler",
    "net.xmeter.gui.SubSamplerUI",
)
.help("Subscribes the user's MQTT connection and waits for messages.")
.sections(&[section(
    "Sub options",
    &[
        mqtt::QOS,
        mqtt::TOPICS,
        TIMESTAMP,
        CONDITION,
        CONDITION_VALUE,
        DEBUG_RESPONSE,
    ],
)]);

pub const TIMESTAMP: Property = flag("mqtt.add_timestamp")
    .label("Payload includes timestamp")
    .default("false")
    .help("Reads the time in front of payloads; the sample lasts as long as the messages took on average.");

pub const CONDITION: Property = choice(
    "mqtt.sample_condition",
    &[
        same("specified elapsed time (ms)"),
        same("number of received messages"),
    ],
)
.label("Sample on")
.default("specified elapsed time (ms)")
.absent("specified elapsed time (ms)")
.help("Says what ends the wait.");

pub const CONDITION_VALUE: Property = text("mqtt.sample_condition_value")
    .label("Value")
    .default("1000")
    .help("Holds the time in milliseconds, or the number of messages.");

pub const DEBUG_RESPONSE: Property = flag("mqtt.debug_response")
    .label("Debug response")
    .default("false")
    .help("Shows the payloads as the response.");
