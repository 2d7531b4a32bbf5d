//! MQTT samplers beyond what `compat/mqtt` records with the plugin: MQTT 5, wills, sequence numbers, pings, limits, and servers that
//! refuse or leave.

#![cfg(feature = "mqtt")]

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, TcpListener};

use drumfire_testkit::mosquitto::Mosquitto;

use crate::support::{Ran, group, refusals, run_group};

/// A sampler with these properties, without `mqtt.` in front.
fn sampler(class: &str, name: &str, properties: &[(&str, &str)]) -> String {
    let properties: String = properties
        .iter()
        .map(|(name, value)| format!(r#"<stringProp name="mqtt.{name}">{value}</stringProp>"#))
        .collect();
    format!(
        r#"<net.xmeter.samplers.{class} guiclass="g" testclass="net.xmeter.samplers.{class}" testname="{name}">{properties}</net.xmeter.samplers.{class}><hashTree/>"#
    )
}

fn connect(port: u16, id: &str, more: &[(&str, &str)]) -> String {
    let port = port.to_string();
    let mut properties = vec![
        ("port", port.as_str()),
        ("client_id_prefix", id),
        ("client_id_suffix", "false"),
    ];
    properties.extend(more);
    sampler("ConnectSampler", "connect", &properties)
}

fn publish(topic: &str, qos: &str, text: &str) -> String {
    let properties = [
        ("topic_name", topic),
        ("qos_level", qos),
        ("message_type", "String"),
        ("message_to_sent", text),
    ];
    sampler("PubSampler", "publish", &properties)
}

fn receive(topic: &str, condition: &str, value: &str) -> String {
    let properties = [
        ("topic_name", topic),
        ("qos_level", "2"),
        ("debug_response", "true"),
        ("sample_condition", condition),
        ("sample_condition_value", value),
    ];
    sampler("SubSampler", "receive", &properties)
}

const BY_TIME: &str = "specified elapsed time (ms)";
const BY_COUNT: &str = "number of received messages";

fn run(body: &str, loops: u32, properties: &[(&str, &str)]) -> Ran {
    run_group(&group(1, loops, true), body, properties)
}

/// The messages of the rows with this label.
fn messages<'r>(ran: &'r Ran, label: &str) -> Vec<&'r str> {
    let rows = ran.rows.iter().filter(|row| row["label"] == label);
    rows.map(|row| row["responseMessage"].as_str()).collect()
}

#[test]
fn mqtt_5_with_every_qos_and_sequence_numbers() {
    let Some(broker) = Mosquitto::start() else {
        return;
    };
    let body = [
        r#"<OnceOnlyController guiclass="g" testclass="OnceOnlyController" testname="once"/><hashTree>"#,
        &connect(broker.port, "five", &[("version", "5")]),
        "</hashTree>",
        &receive("five/+", BY_TIME, "300"),
        &publish("five/a", "0", "x"),
        &publish("five/b", "1", "x"),
        &publish("five/c", "2", "x"),
    ];
    let ran = run(&body.concat(), 2, &[("drumfire.mqtt.sequence", "true")]);
    assert!(
        ran.column("success")
            .iter()
            .all(|success| *success == "true")
    );
    let received = [
        "Received 0 of message. Lost: 0. Repeated: 0.",
        "Received 3 of message. Lost: 0. Repeated: 0.",
    ];
    assert_eq!(messages(&ran, "receive"), received);
}

/// The kernel begins to stamp a moment after it was asked to, so that some samples have no own part.
#[cfg(target_os = "linux")]
#[test]
fn the_generators_own_part_is_known() {
    let Some(broker) = Mosquitto::start() else {
        return;
    };
    for qos in ["0", "1", "2"] {
        let body = [
            r#"<OnceOnlyController guiclass="g" testclass="OnceOnlyController" testname="once"/><hashTree>"#,
            &connect(broker.port, "own", &[]),
            "</hashTree>",
            &publish("own", qos, "x"),
        ];
        let ran = run(&body.concat(), 30, &[]);
        assert!(ran.owned > 15, "{qos}: {}", ran.owned);
    }
}

/// The plugin's client opens no WebSocket connection with this version of JMeter, so no case of compat/ has one.
#[test]
fn connections_over_websocket_and_tls() {
    let Some(broker) = Mosquitto::start() else {
        return;
    };
    let long = "x".repeat(100_000);
    for (port, protocol) in [(broker.websocket_port, "WS"), (broker.tls_port, "SSL")] {
        let body = [
            connect(
                port,
                protocol,
                &[("protocol", protocol), ("ws_path", "mqtt")],
            ),
            publish("own", "2", &long),
            receive("own", BY_TIME, "50"),
            publish("own", "2", &long),
            receive("own", BY_TIME, "50"),
            sampler("DisConnectSampler", "leave", &[]),
        ];
        let ran = run(&body.concat(), 1, &[]);
        assert_eq!(ran.column("responseCode"), ["200"; 6], "{protocol}");
    }
    let secure = [("protocol", "WSS"), ("conn_timeout", "2")];
    let ran = run(&connect(broker.websocket_port, "wss", &secure), 1, &[]);
    assert_eq!(ran.column("responseCode"), ["502"]);
}

#[test]
fn a_will_is_sent_when_the_user_ends_without_leaving() {
    let Some(broker) = Mosquitto::start() else {
        return;
    };
    let will = [
        ("drumfire.mqtt.will_topic", "will/${__threadNum}"),
        ("drumfire.mqtt.will_message", "lost"),
        ("drumfire.mqtt.will_qos", "1"),
        ("drumfire.mqtt.will_retain", "true"),
    ];
    run(&connect(broker.port, "mortal", &[]), 1, &will);
    let leaves = sampler("DisConnectSampler", "leave", &[]);
    let polite = [("drumfire.mqtt.will_topic", "will/never")];
    let body = connect(broker.port, "polite", &[]) + &leaves;
    run(&body, 1, &polite);
    let heir = connect(broker.port, "heir", &[]) + &receive("will/+", BY_TIME, "500");
    let ran = run(&heir, 1, &[]);
    assert_eq!(messages(&ran, "receive"), ["Received 1 of message."]);
    let wrong = [
        ("drumfire.mqtt.will_topic", "t"),
        ("drumfire.mqtt.will_qos", "3"),
    ];
    let told = refusals(&group(1, 1, true), &heir, &wrong).concat();
    assert!(
        told.contains("`3` in drumfire.mqtt.will_qos is no QoS"),
        "{told}"
    );
}

#[test]
fn pings_keep_an_idle_connection_open() {
    let Some(broker) = Mosquitto::start() else {
        return;
    };
    let body = [
        connect(broker.port, "idle", &[("conn_keep_alive", "1")]),
        receive("idle", BY_TIME, "3500"),
        publish("idle", "1", "x"),
    ];
    let ran = run(&body.concat(), 1, &[]);
    assert_eq!(ran.column("responseCode"), ["200"; 3]);
}

#[test]
fn messages_beyond_the_memory_fail_the_sample() {
    let Some(broker) = Mosquitto::start() else {
        return;
    };
    let text = "x".repeat(300);
    let body = [
        r#"<OnceOnlyController guiclass="g" testclass="OnceOnlyController" testname="once"/><hashTree>"#,
        &connect(broker.port, "full", &[]),
        "</hashTree>",
        &receive("full", BY_TIME, "300"),
        &publish("full", "1", &text),
        &publish("full", "1", &text),
    ];
    let ran = run(
        &body.concat(),
        2,
        &[("drumfire.mqtt.max_waiting_bytes", "500")],
    );
    let last = ran.rows.iter().rfind(|row| row["label"] == "receive");
    let last = last.expect("it ran twice");
    assert_eq!(last["success"], "false");
    let said = format!("{}{}", last["responseMessage"], last["failureMessage"]);
    assert!(said.contains("drumfire.mqtt.max_waiting_bytes"), "{said}");
}

/// A broker that answers each read with the next of these bytes, and then leaves.
fn broker(answers: &'static [&'static [u8]]) -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    let port = listener.local_addr().expect("it is bound").port();
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept()?;
        for answer in answers {
            let mut request = [0; 1024];
            if stream.read(&mut request)? == 0 {
                break;
            }
            stream.write_all(answer)?;
        }
        std::io::Result::Ok(())
    });
    port
}

const CONNACK: &[u8] = &[0x20, 2, 0, 0];

#[test]
fn a_refused_subscription_and_a_lost_connection_fail_the_sample() {
    let refusing = connect(broker(&[CONNACK, &[0x90, 3, 0, 1, 0x80]]), "r", &[]);
    let ran = run(&(refusing + &receive("t", BY_COUNT, "1")), 1, &[]);
    let told = messages(&ran, "receive");
    assert_eq!(told, ["Failed to subscribe to topic(s):t"]);
    let leaving = connect(broker(&[CONNACK, &[0x90, 3, 0, 1, 0]]), "l", &[]);
    let ran = run(&(leaving + &receive("t", BY_COUNT, "1")), 1, &[]);
    let told = messages(&ran, "receive");
    assert_eq!(told, ["Connection lost: the server closed the connection"]);
}

#[test]
fn a_packet_above_the_limit_ends_the_connection() {
    let port = broker(&[CONNACK, &[0x90, 3, 0, 1, 0, 0x30, 0xff, 0x7f]]);
    let body = connect(port, "l", &[]) + &receive("t", BY_COUNT, "1");
    let ran = run(&body, 1, &[("drumfire.mqtt.max_packet_bytes", "1000")]);
    let told = messages(&ran, "receive").concat();
    assert!(
        told.contains("a packet has 16383 bytes; the limit is 1000"),
        "{told}"
    );
}
