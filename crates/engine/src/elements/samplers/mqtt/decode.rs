//! The plan's properties of the MQTT samplers.

use drumfire_elements::samplers::{
    mqtt_connect, mqtt_disconnect, mqtt_efficient_connect, mqtt_pub, mqtt_sub,
};
use drumfire_elements::shared::mqtt as facts;
use drumfire_expr::Template;
use drumfire_mqtt::Qos;

use super::connect::ManySettings;
use super::publish::PublishSettings;
use super::sampler::{MqttAction, MqttSampler};
use super::settings::{ConnectSettings, Identities, WillSettings};
use super::subscribe::SubscribeSettings;
use crate::decode::Decoder;
use crate::decode::setting::Flag;
use crate::elements::samplers::http::settings::{allowed_hosts, size_limit};
use crate::run::needs::Needs;

/// The bound of packets, which the plugin leaves to the protocol.
const MAX_PACKET_BYTES: &str = "drumfire.mqtt.max_packet_bytes";
/// The bound of messages that wait for a Sub Sampler.
const MAX_WAITING_BYTES: &str = "drumfire.mqtt.max_waiting_bytes";
/// Whether payloads have sequence numbers.
const SEQUENCE: &str = "drumfire.mqtt.sequence";
const WILL_TOPIC: &str = "drumfire.mqtt.will_topic";
const WILL_MESSAGE: &str = "drumfire.mqtt.will_message";
const WILL_QOS: &str = "drumfire.mqtt.will_qos";
const WILL_RETAIN: &str = "drumfire.mqtt.will_retain";

/// The sampler of an element of one of the plugin's classes.
///
/// Properties of the run: `drumfire.mqtt.will_topic`, `.will_message`, `.will_qos` and `.will_retain` (a will, whose texts may
/// have variables), `drumfire.mqtt.sequence`, `drumfire.mqtt.max_packet_bytes`, `drumfire.mqtt.max_waiting_bytes`, and those of
/// HTTPS for TLS.
pub fn decode(d: &mut Decoder, needs: Needs) -> MqttSampler {
    let action = match d.element.class.as_str() {
        mqtt_connect::CLASS => MqttAction::Connect(Box::new(connect(d))),
        mqtt_pub::CLASS => MqttAction::Publish(Box::new(publish(d))),
        mqtt_sub::CLASS => MqttAction::Subscribe(Box::new(subscribe(d))),
        mqtt_disconnect::CLASS => MqttAction::Disconnect,
        mqtt_efficient_connect::CLASS => MqttAction::ConnectMany(Box::new(connect_many(d))),
        _ => MqttAction::DisconnectMany,
    };
    let properties = d.settings().properties.clone();
    let bytes = |name, default| {
        usize::try_from(size_limit(&properties, name, default)).unwrap_or(usize::MAX)
    };
    MqttSampler {
        action,
        needs,
        user: d.shared_state("mqtt connections"),
        many_prefix: match properties.get_system("batchConLabelPrefix") {
            Some(prefix) => prefix.to_string(),
            None => "xmeter-mqtt-batch-con-mode-".to_owned(),
        },
        rename_children: !properties.get_bool("subresults.disable_renaming", false)
            && !d.decoding.save_config.functional_mode,
        allowed_hosts: allowed_hosts(
            &properties
                .get("drumfire.http.allowed_hosts")
                .unwrap_or_default(),
        ),
        max_packet_bytes: bytes(MAX_PACKET_BYTES, 256 << 20),
        max_waiting_bytes: bytes(MAX_WAITING_BYTES, 16 << 20),
    }
}

/// MQTT Connect (`net.xmeter.samplers.ConnectSampler`): opens the user's MQTT connection, which its other MQTT samplers use.
///
/// Properties: `mqtt.server`, `.port`, `.version` (`5`, or else 3.1.1), `.conn_timeout` in seconds, `.protocol` (`TCP`, `SSL`,
/// `WS`, `WSS`), `.ws_path`, `.dual_ssl_authentication`, `.clientcert_file_path`, `.clientcert_password`, `.user_name`,
/// `.password`, `.client_id_prefix`, `.client_id_suffix`, `.conn_keep_alive` in seconds, `.conn_clean_session`, and
/// `.client_name`, which only changes how messages show the connection. `.conn_attempt_max` and `.reconn_attempt_max` must be
/// numbers.
///
/// Differences: a lost connection is not opened again; a connection ends with its user. `drumfire.mqtt.will_topic` and its
/// siblings set a will.
fn connect(d: &mut Decoder) -> ConnectSettings {
    ConnectSettings {
        server: template(d, facts::SERVER.name, facts::SERVER.absent),
        port: template(d, facts::PORT.name, facts::PORT.absent),
        version: template(d, facts::VERSION.name, facts::VERSION.absent),
        timeout: template(d, facts::TIMEOUT.name, facts::TIMEOUT.absent),
        client_name: template(d, facts::CLIENT.name, facts::CLIENT.absent),
        protocol: template(d, facts::PROTOCOL.name, facts::PROTOCOL.absent),
        path: template(d, facts::WS_PATH.name, facts::WS_PATH.absent),
        dual_auth: flag(d, facts::DUAL_AUTH.name, facts::DUAL_AUTH.absent),
        certificate: template(d, facts::CERTIFICATE.name, facts::CERTIFICATE.absent),
        certificate_password: template(
            d,
            facts::CERTIFICATE_PASSWORD.name,
            facts::CERTIFICATE_PASSWORD.absent,
        ),
        user: template(d, facts::USER.name, facts::USER.absent),
        password: template(d, facts::PASSWORD.name, facts::PASSWORD.absent),
        client_id: template(d, facts::CLIENT_ID.name, facts::CLIENT_ID.absent),
        adds_suffix: flag(
            d,
            facts::CLIENT_ID_SUFFIX.name,
            facts::CLIENT_ID_SUFFIX.absent,
        ),
        keep_alive: template(d, facts::KEEP_ALIVE.name, facts::KEEP_ALIVE.absent),
        attempts: template(d, facts::ATTEMPTS.name, facts::ATTEMPTS.absent),
        reconnections: template(d, facts::RECONNECTIONS.name, facts::RECONNECTIONS.absent),
        clean: template(d, facts::CLEAN.name, facts::CLEAN.absent),
        will: will(d),
        base_dir: d.settings().base_dir.clone(),
        identities: Identities::default(),
    }
}

/// Efficient MQTT Connect (`net.xmeter.samplers.EfficientConnectSampler`): opens several MQTT connections, each of which is a
/// sub-result.
///
/// Properties: those of MQTT Connect, `mqtt.conn_capacity` (how many), and `mqtt.sub_when_connected`, with which each connection
/// subscribes to `.topic_name` with `.qos_level`.
fn connect_many(d: &mut Decoder) -> ManySettings {
    ManySettings {
        connect: connect(d),
        capacity: template(
            d,
            mqtt_efficient_connect::CAPACITY.name,
            mqtt_efficient_connect::CAPACITY.absent,
        ),
        subscribes: flag(
            d,
            mqtt_efficient_connect::SUBSCRIBE.name,
            mqtt_efficient_connect::SUBSCRIBE.absent,
        ),
        topics: template(d, facts::TOPICS.name, facts::TOPICS.absent),
        qos: template(d, facts::QOS.name, facts::QOS.absent),
    }
}

fn will(d: &mut Decoder) -> Option<WillSettings> {
    let properties = d.settings().properties.clone();
    let topic = properties.get_trimmed(WILL_TOPIC)?;
    let qos = properties.get_trimmed(WILL_QOS).unwrap_or_default();
    let number = if qos.is_empty() { Ok(0) } else { qos.parse() };
    let qos = number.ok().and_then(Qos::of).unwrap_or_else(|| {
        let message = format!("`{}` in {WILL_QOS} is no QoS", &*qos);
        d.refuse("mqtt-will", message, "write 0, 1 or 2");
        Qos::default()
    });
    let message = properties.get(WILL_MESSAGE).unwrap_or_default();
    Some(WillSettings {
        topic: d.compile(&topic),
        message: d.compile(&message),
        qos,
        retain: properties.get_bool(WILL_RETAIN, false),
    })
}

/// MQTT Pub Sampler (`net.xmeter.samplers.PubSampler`): publishes a message.
///
/// Properties: `mqtt.topic_name`, `.qos_level`, `.retained_message`, `.add_timestamp`, `.message_type` with `.message_to_sent`
/// and `.message_type_fixed_length`. A sample of QoS 1 or 2 lasts until the server has acknowledged. With
/// `drumfire.mqtt.sequence`, messages are numbered.
fn publish(d: &mut Decoder) -> PublishSettings {
    PublishSettings {
        topic: template(d, facts::TOPIC.name, facts::TOPIC.absent),
        qos: template(d, facts::QOS.name, facts::QOS.absent),
        stamped: flag(d, mqtt_pub::TIMESTAMP.name, mqtt_pub::TIMESTAMP.absent),
        retained: flag(d, mqtt_pub::RETAINED.name, mqtt_pub::RETAINED.absent),
        kind: template(
            d,
            mqtt_pub::MESSAGE_TYPE.name,
            mqtt_pub::MESSAGE_TYPE.absent,
        ),
        length: template(d, mqtt_pub::LENGTH.name, mqtt_pub::LENGTH.absent),
        message: template(d, mqtt_pub::MESSAGE.name, mqtt_pub::MESSAGE.absent),
        numbered: has_sequence(d),
        random: d.new_state(),
    }
}

/// MQTT Sub Sampler (`net.xmeter.samplers.SubSampler`): subscribes once, and waits for messages.
///
/// Properties: `mqtt.topic_name`, `.qos_level`, `.sample_condition` and `.sample_condition_value` (milliseconds, or messages),
/// `.add_timestamp`, with which the sample lasts as long as its messages took on average, and `.debug_response`, which shows
/// them. A message counts once for each subscription of the connection that matches it, and after a failed sample the user
/// pauses for a second, as in the plugin.
///
/// Differences: the sample fails at once if the server refuses the subscription, or if the connection is lost while it waits for
/// a number of messages, for which the plugin waits for ever.
fn subscribe(d: &mut Decoder) -> SubscribeSettings {
    SubscribeSettings {
        topics: template(d, facts::TOPICS.name, facts::TOPICS.absent),
        qos: template(d, facts::QOS.name, facts::QOS.absent),
        stamped: flag(d, mqtt_sub::TIMESTAMP.name, mqtt_sub::TIMESTAMP.absent),
        shows_texts: flag(
            d,
            mqtt_sub::DEBUG_RESPONSE.name,
            mqtt_sub::DEBUG_RESPONSE.absent,
        ),
        condition: template(d, mqtt_sub::CONDITION.name, mqtt_sub::CONDITION.absent),
        value: d.optional(mqtt_sub::CONDITION_VALUE.name),
        numbered: has_sequence(d),
        inbox: d.new_state(),
    }
}

fn has_sequence(d: &Decoder) -> bool {
    d.settings().properties.get_bool(SEQUENCE, false)
}

/// A property, or the value that it has when it is missing.
fn template(d: &mut Decoder, name: &str, absent: &str) -> Template {
    d.optional(name).unwrap_or_else(|| Template::raw(absent))
}

fn flag(d: &mut Decoder, name: &str, absent: &str) -> Flag {
    Flag::decode(d, name, absent == "true")
}
