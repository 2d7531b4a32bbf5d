//! Checks the topics, messages and connections of MQTT samplers.

use drumfire_jmx::Diagnostic;

use super::provenance::Definitions;
use super::samplers;
use crate::elements::samplers::mqtt::faults as of_sampler;
use crate::inspect::advice::AdvisedPlan;

/// Reports what would fail every sample of an MQTT sampler, or do something else than it says.
pub fn faults(sight: &AdvisedPlan, definitions: &mut Definitions) -> Vec<Diagnostic> {
    samplers::faults(sight, definitions, of_sampler)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::tests::{findings, group};

    /// The codes and messages for a sampler with these properties.
    fn found(class: &str, properties: &[(&str, &str)], given: &[(&str, &str)]) -> Vec<String> {
        let properties: String = properties
            .iter()
            .map(|(name, value)| format!(r#"<stringProp name="mqtt.{name}">{value}</stringProp>"#))
            .collect();
        let class = format!("net.xmeter.samplers.{class}");
        let sampler = format!(
            r#"<{class} guiclass="g" testclass="{class}" testname="s">{properties}</{class}><hashTree/>"#
        );
        let all = findings(&group("1", "1", &sampler), given, Path::new("."));
        let own = all.into_iter().filter(|one| one.code.starts_with("mqtt-"));
        own.map(|one| format!("{}: {}", one.code, one.message))
            .collect()
    }

    #[test]
    fn what_fails_every_sample_or_is_not_honoured_is_told_before_the_run() {
        let text = ("message_type", "String");
        for (class, properties, told) in [
            ("PubSampler", vec![text, ("topic_name", "a")], ""),
            ("PubSampler", vec![text, ("topic_name", "${topic}/#")], ""),
            (
                "PubSampler",
                vec![text, ("topic_name", "a/#")],
                "mqtt-topic: `a/#` is no topic: it has the wildcard `#` at the place 2, in 's'",
            ),
            (
                "PubSampler",
                vec![("message_type", "Hex string"), ("message_to_sent", "abc")],
                "mqtt-message: hexBinary needs to be even-length: abc, in 's'",
            ),
            (
                "PubSampler",
                vec![text, ("qos_level", "x")],
                "mqtt-qos: the QoS `x` is not a number, in 's'",
            ),
            (
                "SubSampler",
                vec![("qos_level", "3")],
                "mqtt-qos: the QoS `3` is unknown, so 0 is taken, in 's'",
            ),
            (
                "SubSampler",
                vec![("topic_name", "a,b/#/c")],
                "mqtt-filter: `b/#/c` is no topic filter: `#` at the place 2 is not its whole last level, in 's'",
            ),
            (
                "ConnectSampler",
                vec![("protocol", "UDP"), ("reconn_attempt_max", "3")],
                "mqtt-choice: `UDP` under Protocols is not known, so TCP is taken, in 's'; mqtt-no-reconnection: a lost connection stays lost \
                 although 3 reconnections are allowed; connect again in the plan, in 's'",
            ),
            (
                "ConnectSampler",
                vec![("client_id_prefix", "a23456789012345678901234")],
                "mqtt-client-id: no suffix fits behind `a23456789012345678901234`, which has more than 23 characters, in 's'",
            ),
        ] {
            assert_eq!(
                found(class, &properties, &[]).join("; "),
                told,
                "{properties:?}"
            );
        }
        let as_jmeter = [("drumfire.missing_files", "jmeter")];
        assert!(found("PubSampler", &[text, ("topic_name", "a/#")], &as_jmeter).is_empty());
    }
}
