//! Faults of MQTT samplers that are known before the run: what would fail every sample, or do something else than it says.

use drumfire_elements::Property;
use drumfire_elements::samplers::{mqtt_connect, mqtt_efficient_connect, mqtt_pub, mqtt_sub};
use drumfire_elements::shared::mqtt as facts;
use drumfire_java::values::{parse_int, property_bool};
use drumfire_jmx::Diagnostic;
use drumfire_mqtt::{check_filter, check_topic};

use super::publish::from_hex;
use super::settings::MAX_CLIENT_ID;
use crate::resolve::Element;

/// Checks an element. `value` gives a property's value if it is known before the run; `remedy` is added to the help of errors.
pub fn faults(
    element: &Element,
    value: &mut dyn FnMut(&str) -> Option<String>,
    remedy: &str,
) -> Vec<Diagnostic> {
    let mut found = Findings {
        element,
        value,
        remedy,
        all: Vec::new(),
    };
    match element.class.as_str() {
        mqtt_pub::CLASS => found.of_publish(),
        mqtt_sub::CLASS => found.of_subscription(),
        mqtt_connect::CLASS => found.of_connect(),
        mqtt_efficient_connect::CLASS => {
            found.of_connect();
            let subscribes = found.value(&mqtt_efficient_connect::SUBSCRIBE);
            if subscribes.is_some_and(|subscribes| property_bool(&subscribes)) {
                found.of_subscription();
            }
        }
        _ => {}
    }
    found.all
}

struct Findings<'a> {
    element: &'a Element,
    value: &'a mut dyn FnMut(&str) -> Option<String>,
    remedy: &'a str,
    all: Vec<Diagnostic>,
}

impl Findings<'_> {
    /// The value of a property, or the one that it has when it is missing.
    fn value(&mut self, property: &Property) -> Option<String> {
        match self.element.props.has(property.name) {
            true => (self.value)(property.name),
            false => Some(property.absent.to_owned()),
        }
    }

    fn refuse(&mut self, code: &'static str, property: &Property, why: &str, help: &str) {
        let message = format!("{why}, in '{}'", self.element.name);
        let help = format!("{help}, {}", self.remedy);
        let finding = self.element.error(code, message);
        self.all.push(finding.about(property.name).help(help));
    }

    fn warn(&mut self, code: &'static str, property: &Property, why: &str) {
        let message = format!("{why}, in '{}'", self.element.name);
        let finding = self.element.warning(code, message);
        self.all.push(finding.about(property.name));
    }

    fn of_publish(&mut self) {
        if let Some(topic) = self.value(&facts::TOPIC)
            && let Err(error) = check_topic(&topic)
        {
            let why = format!("`{topic}` is no topic: {error}");
            let help = "write a topic without wildcards";
            self.refuse("mqtt-topic", &facts::TOPIC, &why, help);
        }
        if let Some(qos) = self.value(&facts::QOS)
            && parse_int(&qos).is_none()
        {
            let why = format!("the QoS `{qos}` is not a number");
            self.refuse("mqtt-qos", &facts::QOS, &why, "write 0, 1 or 2");
        } else {
            self.unknown_qos();
        }
        let kind = self.value(&mqtt_pub::MESSAGE_TYPE);
        match kind.as_deref() {
            Some("Hex string") => {
                if let Some(message) = self.value(&mqtt_pub::MESSAGE)
                    && let Err(error) = from_hex(&message)
                {
                    let help = "write two hexadecimal digits for each byte";
                    self.refuse("mqtt-message", &mqtt_pub::MESSAGE, error.as_ref(), help);
                }
            }
            None | Some("String" | "Random string with fixed length") => {}
            Some(kind) => {
                let why = format!("the message type `{kind}` is unknown, so messages are empty");
                self.warn("mqtt-message-type", &mqtt_pub::MESSAGE_TYPE, &why);
            }
        }
    }

    fn of_subscription(&mut self) {
        let wrong = |filter: &str| Some((filter.to_owned(), check_filter(filter).err()?));
        if let Some(topics) = self.value(&facts::TOPICS)
            && let Some((filter, error)) = topics.split(',').find_map(wrong)
        {
            let why = format!("`{filter}` is no topic filter: {error}");
            let help = "correct the filter";
            self.refuse("mqtt-filter", &facts::TOPICS, &why, help);
        }
        self.unknown_qos();
    }

    fn unknown_qos(&mut self) {
        if let Some(qos) = self.value(&facts::QOS)
            && !matches!(parse_int(&qos), Some(0..=2))
        {
            let why = format!("the QoS `{qos}` is unknown, so 0 is taken");
            self.warn("mqtt-qos", &facts::QOS, &why);
        }
    }

    fn of_connect(&mut self) {
        let suffix = self.value(&facts::CLIENT_ID_SUFFIX);
        if suffix.is_some_and(|suffix| property_bool(&suffix))
            && let Some(id) = self.value(&facts::CLIENT_ID)
            && id.encode_utf16().count() > MAX_CLIENT_ID
        {
            let why = format!("no suffix fits behind `{id}`, which has more than 23 characters");
            let help = "shorten the client ID, or add no suffix";
            self.refuse("mqtt-client-id", &facts::CLIENT_ID, &why, help);
        }
        for (property, known, taken) in [
            (&facts::PROTOCOL, &["TCP", "SSL", "WS", "WSS"][..], "TCP"),
            (&facts::VERSION, &["3.1", "3.1.1", "5", "5.0"], "3.1.1"),
            (&facts::CLIENT, &["hivemq"], "hivemq"),
        ] {
            if let Some(value) = self.value(property)
                && !known.contains(&value.as_str())
            {
                let label = property.label;
                let why = format!("`{value}` under {label} is not known, so {taken} is taken");
                self.warn("mqtt-choice", property, &why);
            }
        }
        if let Some(count) = self.value(&facts::RECONNECTIONS)
            && parse_int(&count).is_some_and(|count| count != 0)
        {
            let why = format!(
                "a lost connection stays lost although {count} reconnections are allowed; connect again in the plan"
            );
            self.warn("mqtt-no-reconnection", &facts::RECONNECTIONS, &why);
        }
    }
}
