//! WebSocket Sampler of Maciej Zaleski.

use crate::form::{
    ElementFacts, Language, Property, Role, Section, code, flag, inner, secret, section, suggested,
    text, whole,
};
use crate::items;

pub const CLASS: &str = "JMeter.plugins.functional.samplers.websocket.WebSocketSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "WebSocket Sampler",
    "JMeter.plugins.functional.samplers.websocket.WebSocketSamplerGui",
)
.help("Sends a WebSocket message and waits until a message matches a pattern.")
.sections(&[SERVER_FIELDS, TIMEOUTS, REQUEST, RESPONSE, PROXY]);

const SERVER_FIELDS: Section = section("Web Server", &[SERVER, PORT]);

const TIMEOUTS: Section = section(
    "Timeout (milliseconds)",
    &[CONNECT_TIMEOUT, RESPONSE_TIMEOUT],
);

const REQUEST: Section = section(
    "WebSocket Request",
    &[
        IMPLEMENTATION,
        PROTOCOL,
        STREAMING,
        PATH,
        ENCODING,
        CONNECTION_ID,
        ARGUMENTS,
        PAYLOAD,
        IGNORE_TLS_ERRORS,
    ],
);

const RESPONSE: Section = section(
    "WebSocket Response",
    &[RESPONSE_PATTERN, CLOSE_PATTERN, BACKLOG],
);

const PROXY: Section = section(
    "Proxy Server (currently not supported by Jetty)",
    &[PROXY_ADDRESS, PROXY_PORT, PROXY_USER, PROXY_PASSWORD],
);

pub const SERVER: Property = text("serverAddress")
    .label("Server Name or IP:")
    .help("Names the server.");

pub const PORT: Property = whole("serverPort")
    .label("Port Number:")
    .help("Sets the port: 80 if it is empty, or 443 for `wss`.");

pub const CONNECT_TIMEOUT: Property = whole("connectionTimeout")
    .label("Connection:")
    .absent("5000")
    .help("Limits the time to connect: a text that is no number means 20000.");

pub const RESPONSE_TIMEOUT: Property = whole("responseTimeout")
    .label("Response:")
    .absent("20000")
    .help("Ends the wait for messages; the sample succeeds without one.");

pub const IMPLEMENTATION: Property = text("implementation")
    .label("Implementation:")
    .default("RFC6455 (v13)")
    .help("Names the version of the protocol, of which there is one.");

pub const PROTOCOL: Property = suggested("protocol", &["ws", "wss"])
    .label("Protocol [ws/wss]:")
    .absent("ws")
    .help("Connects by TLS if it is `wss`.");

pub const STREAMING: Property = flag("streamingConnection")
    .label("Streaming connection")
    .default("false")
    .help("Keeps the connection for the user's next samplers with the same connection id.");

pub const PATH: Property = text("contextPath")
    .label("Path:")
    .help("Holds the path, or a whole address that begins with `ws://` or `wss://`.");

pub const ENCODING: Property = text("contentEncoding")
    .label("Content encoding:")
    .absent("UTF-8")
    .help("Names the character set of the query and of the response.");

pub const CONNECTION_ID: Property = text("connectionId")
    .label("Connection Id:")
    .help("Tells the connections of a user apart.");

pub const ARGUMENTS: Property = inner("queryStringParameters", &items::ARGUMENTS)
    .label("Parameters")
    .help("Holds the parameters of the query.");

pub const PAYLOAD: Property = text("requestPayload")
    .label("Request data")
    .help("Holds the message, of which an empty one is not sent.");

pub const IGNORE_TLS_ERRORS: Property = flag("ignoreSslErrors")
    .label("Ignore SSL certificate errors")
    .default("false")
    .differs("Whether certificates are verified depends on `--tls-verify` alone.")
    .help("Trusts any certificate.");

pub const RESPONSE_PATTERN: Property = code("responsePattern", Language::Regex)
    .label("Response pattern:")
    .help("Ends the wait with the first message in which it is found.");

pub const CLOSE_PATTERN: Property = code("closeConncectionPattern", Language::Regex)
    .label("Close connection pattern:")
    .help("Ends the wait and the connection with the first message in which it is found.");

pub const BACKLOG: Property = whole("messageBacklog")
    .label("Message backlog:")
    .absent("3")
    .help("Sets how many of the latest messages the response holds.");

pub const PROXY_ADDRESS: Property = text("proxyAddress")
    .label("Server Name or IP:")
    .help("Has no effect: the plugin uses no proxy.");

pub const PROXY_PORT: Property = whole("proxyPort")
    .label("Port Number:")
    .help("Has no effect: the plugin uses no proxy.");

pub const PROXY_USER: Property = text("proxyUsername")
    .label("Username:")
    .help("Has no effect: the plugin uses no proxy.");

pub const PROXY_PASSWORD: Property = secret("proxyPassword")
    .label("Password:")
    .help("Has no effect: the plugin uses no proxy.");
