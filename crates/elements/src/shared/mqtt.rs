//! The fields of MQTT samplers.

use crate::form::{
    FileUse, Property, Section, choice, file, flag, same, secret, section, text, whole,
};

pub const CONNECTION: Section = section("MQTT connection", &[SERVER, PORT, VERSION, TIMEOUT]);

pub const PROTOCOLS: Section = section(
    "Protocols",
    &[
        PROTOCOL,
        WS_PATH,
        DUAL_AUTH,
        CERTIFICATE,
        CERTIFICATE_PASSWORD,
    ],
);

pub const AUTHENTICATION: Section = section("User authentication", &[USER, PASSWORD]);

pub const OPTIONS: Section = section(
    "Connection options",
    &[
        CLIENT_ID,
        CLIENT_ID_SUFFIX,
        KEEP_ALIVE,
        ATTEMPTS,
        RECONNECTIONS,
        CLEAN,
    ],
);

pub const SERVER: Property = text("mqtt.server")
    .label("Server name or IP")
    .default("127.0.0.1")
    .absent("127.0.0.1")
    .help("Names the server.");

pub const PORT: Property = whole("mqtt.port")
    .label("Port number")
    .default("1883")
    .absent("1883")
    .help("Sets the port.");

pub const VERSION: Property = choice("mqtt.version", &[same("3.1"), same("3.1.1"), same("5")])
    .label("MQTT version")
    .default("3.1")
    .absent("3.1")
    .help("Sets the version of the protocol; `3.1` is sent as 3.1.1.")
    .differs("The plugin does not know `5`.");

pub const TIMEOUT: Property = whole("mqtt.conn_timeout")
    .label("Timeout(s)")
    .default("10")
    .absent("10")
    .help("Fails the sample if connecting takes longer, in seconds.");

pub const CLIENT: Property = text("mqtt.client_name")
    .label("Client")
    .absent("hivemq")
    .help("Names the client library of the plugin, which messages show.");

pub const PROTOCOL: Property = choice(
    "mqtt.protocol",
    &[same("TCP"), same("SSL"), same("WS"), same("WSS")],
)
.label("Protocols")
.default("TCP")
.absent("TCP")
.help("Connects with plain TCP, TLS, WebSocket, or WebSocket over TLS.");

pub const WS_PATH: Property = text("mqtt.ws_path")
    .label("WS Path")
    .help("Holds the path of a WebSocket connection.");

pub const DUAL_AUTH: Property = flag("mqtt.dual_ssl_authentication")
    .label("Dual SSL authentication")
    .default("false")
    .help("Presents the client certificate.");

pub const CERTIFICATE: Property = file("mqtt.clientcert_file_path", FileUse::Read)
    .label("Client Certification(*.p12)")
    .help("Names the PKCS#12 file of the client certificate.");

pub const CERTIFICATE_PASSWORD: Property = secret("mqtt.clientcert_password")
    .label("Secret")
    .help("Opens that file.");

pub const USER: Property = text("mqtt.user_name")
    .label("User name")
    .help("Names the user; no account is sent if it is blank.");

pub const PASSWORD: Property = secret("mqtt.password")
    .label("Password")
    .help("Holds the user's password.");

pub const CLIENT_ID: Property = text("mqtt.client_id_prefix")
    .label("ClientId")
    .default("conn_")
    .absent("conn_")
    .help("Holds the client identifier, or its beginning.");

pub const CLIENT_ID_SUFFIX: Property = flag("mqtt.client_id_suffix")
    .label("Add random suffix for ClientId")
    .default("true")
    .absent("true")
    .help("Adds random letters up to 23.");

pub const KEEP_ALIVE: Property = whole("mqtt.conn_keep_alive")
    .label("Keep alive(s)")
    .default("300")
    .absent("300")
    .help("Sends a ping after this many seconds without another packet; 0 sends none.");

pub const ATTEMPTS: Property = whole("mqtt.conn_attempt_max")
    .label("Connect attempt max")
    .default("0")
    .absent("0")
    .help("Has no effect, as in the plugin with its client `hivemq`.");

pub const RECONNECTIONS: Property = whole("mqtt.reconn_attempt_max")
    .label("Reconnect attempt max")
    .default("0")
    .absent("0")
    .help("Connects again after a loss, as often as it says.")
    .differs("A lost connection stays lost, so that the plan sees it.");

pub const CLEAN: Property = text("mqtt.conn_clean_session")
    .label("Clean session")
    .default("true")
    .absent("true")
    .help("Lets the server forget earlier sessions of the client.");

pub const TOPIC: Property = text("mqtt.topic_name")
    .label("Topic name")
    .default("test_topic")
    .absent("test_topic")
    .help("Names the topic.");

pub const TOPICS: Property = text("mqtt.topic_name")
    .label("Topic name(s)")
    .default("test_topic")
    .absent("test_topic")
    .help(
        "Lists topic filters, separated by commas; `$share/GROUP/FILTER` is a shared subscription.",
    );

pub const QOS: Property = choice("mqtt.qos_level", &[same("0"), same("1"), same("2")])
    .label("QoS Level")
    .default("0")
    .absent("0")
    .help("Sets how surely messages are delivered.");
