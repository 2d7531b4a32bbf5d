//! MQTT samplers in a build without MQTT.

use drumfire_elements::samplers;

use crate::decode::Decoder;
use crate::run::sampler::Sampler;

/// The samplers' classes.
pub const CLASSES: [&str; 6] = [
    samplers::mqtt_connect::CLASS,
    samplers::mqtt_pub::CLASS,
    samplers::mqtt_sub::CLASS,
    samplers::mqtt_disconnect::CLASS,
    samplers::mqtt_efficient_connect::CLASS,
    samplers::mqtt_efficient_disconnect::CLASS,
];

/// Reports that this build cannot run the sampler.
pub fn refuse(d: &mut Decoder) -> Option<Box<dyn Sampler>> {
    let message = format!(
        "'{}' speaks MQTT, but this build has no MQTT",
        d.element.name
    );
    let help = "build the program with --features mqtt, or take a package, which has it";
    d.refuse("no-mqtt", message, help);
    None
}
