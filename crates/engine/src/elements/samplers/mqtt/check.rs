//! Faults of MQTT samplers that are known before the run: what would fail every sample, or do something else than it says.

use drumfire_elements::samplers::{mqtt_connect, mqtt_efficient_connect, mqtt_pub, mqtt_sub};
use drumfire_elements::shared::mqtt as facts;
use drumfire_java::values::{parse_int, property_bool};
use drumfire_jmx::Diagnostic;
use drumfire_mqtt::{check_filter, check_topic};

use super::publish::from_hex;
use super::settings::MAX_CLIENT_ID;
use crate::elements::samplers::findings::Findings;
use crate::resolve::Element;

/// Checks an element. `value` gives a property's value if it is known before the run; `remedy` is added to the help of errors.
pub fn faults(
    element: &Element,
    value: &mut dyn FnMut(&str) -> Option<String>,
    remedy: &str,
) -> Vec<Diagnostic> {
    let mut found = Findings::new(element, value, remedy);
    match element.class.as_str() {
        mqtt_pub::CLASS => of_publish(&mut found),
        mqtt_sub::CLASS => of_subscription(&mut found),
        mqtt_connect::CLASS => of_connect(&mut found),
        mqtt_efficient_connect::CLASS => {
            of_connect(&mut found);
            let subscribes = found.value(&mqtt_efficient_connect::SUBSCRIBE);
            if subscribes.is_some_and(|subscribes| property_bool(&subscribes)) {
                of_subscription(&mut found);
            }
        }
        _ => {}
    }
    found.all
}

fn of_publish(found: &mut Findings) {
    if let Some(topic) = found.value(&facts::TOPIC)
        && let Err(error) = check_topic(&topic)
    {
        let why = format!("`{topic}` is no topic: {error}");
        let help = "write a topic without wildcards";
        found.refuse("mqtt-topic", &facts::TOPIC, &why, help);
    }
    if let Some(qos) = found.value(&facts::QOS)
        && parse_int(&qos).is_none()
    {
        let why = format!("the QoS `{qos}` is not a number");
        found.refuse("mqtt-qos", &facts::QOS, &why, "write 0, 1 or 2");
    } else {
        unknown_qos(found);
    }
    let kind = found.value(&mqtt_pub::MESSAGE_TYPE);
    match kind.as_deref() {
        Some("Hex string") => {
            if let Some(message) = found.value(&mqtt_pub::MESSAGE)
                && let Err(error) = from_hex(&message)
            {
                let help = "write two hexadecimal digits for each byte";
                found.refuse("mqtt-message", &mqtt_pub::MESSAGE, error.as_ref(), help);
            }
        }
        None | Some("String" | "Random string with fixed length") => {}
        Some(kind) => {
            let why = format!("the message type `{kind}` is unknown, so messages are empty");
            found.warn("mqtt-message-type", &mqtt_pub::MESSAGE_TYPE, &why);
        }
    }
}

fn of_subscription(found: &mut Findings) {
    let wrong = |filter: &str| Some((filter.to_owned(), check_filter(filter).err()?));
    if let Some(topics) = found.value(&facts::TOPICS)
        && let Some((filter, error)) = topics.split(',').find_map(wrong)
    {
        let why = format!("`{filter}` is no topic filter: {error}");
        let help = "correct the filter";
        found.refuse("mqtt-filter", &facts::TOPICS, &why, help);
    }
    unknown_qos(found);
}

fn unknown_qos(found: &mut Findings) {
    if let Some(qos) = found.value(&facts::QOS)
        && !matches!(parse_int(&qos), Some(0..=2))
    {
        let why = format!("the QoS `{qos}` is unknown, so 0 is taken");
        found.warn("mqtt-qos", &facts::QOS, &why);
    }
}

fn of_connect(found: &mut Findings) {
    let suffix = found.value(&facts::CLIENT_ID_SUFFIX);
    if suffix.is_some_and(|suffix| property_bool(&suffix))
        && let Some(id) = found.value(&facts::CLIENT_ID)
        && id.encode_utf16().count() > MAX_CLIENT_ID
    {
        let why = format!("no suffix fits behind `{id}`, which has more than 23 characters");
        let help = "shorten the client ID, or add no suffix";
        found.refuse("mqtt-client-id", &facts::CLIENT_ID, &why, help);
    }
    for (property, known, taken) in [
        (&facts::PROTOCOL, &["TCP", "SSL", "WS", "WSS"][..], "TCP"),
        (&facts::VERSION, &["3.1", "3.1.1", "5", "5.0"], "3.1.1"),
        (&facts::CLIENT, &["hivemq"], "hivemq"),
    ] {
        if let Some(value) = found.value(property)
            && !known.contains(&value.as_str())
        {
            let label = property.label;
            let why = format!("`{value}` under {label} is not known, so {taken} is taken");
            found.warn("mqtt-choice", property, &why);
        }
    }
    if let Some(count) = found.value(&facts::RECONNECTIONS)
        && parse_int(&count).is_some_and(|count| count != 0)
    {
        let why = format!(
            "a lost connection stays lost although {count} reconnections are allowed; connect again in the plan"
        );
        found.warn("mqtt-no-reconnection", &facts::RECONNECTIONS, &why);
    }
}
