//! The fields of WebSocket samplers.

use crate::form::{FileUse, Property, Section, choice, file, flag, same, section, text, whole};

pub const SERVER_FIELDS: Section = section("Server URL", &[TLS, SERVER, PORT, PATH]);

pub const CONNECTION: Section = section("Connection", &[NEW_CONNECTION, CONNECT_TIMEOUT]);

pub const DATA: Section = section("Data", &[PAYLOAD_TYPE, REQUEST, FROM_FILE, DATA_FILE]);

pub const READ_TIMEOUT: Property = whole("readTimeout")
    .label("Response (read) timeout (ms)")
    .default("6000")
    .help("Fails the sample if no frame comes in this time.");

pub const TLS: Property = flag("TLS")
    .label("TLS")
    .default("false")
    .help("Connects with `wss` instead of `ws`.");

pub const SERVER: Property = text("server").label("Server").help("Names the server.");

pub const PORT: Property = whole("port")
    .label("Port")
    .default("80")
    .help("Sets the port.");

pub const PATH: Property = text("path")
    .label("Path")
    .help("Holds the path with the query.");

pub const NEW_CONNECTION: Property = flag("createNewConnection")
    .label("Setup new connection")
    .default("false")
    .help("Opens a connection for this sample instead of using the user's last one.");

pub const CONNECT_TIMEOUT: Property = whole("connectTimeout")
    .label("Connection timeout (ms)")
    .default("20000")
    .help("Fails the sample if connecting takes longer.");

pub const PAYLOAD_TYPE: Property = choice("payloadType", &[same("Text"), same("Binary")])
    .label("Data type")
    .default("Text")
    .help("Says whether a text or bytes are sent.");

pub const REQUEST: Property = text("requestData")
    .label("Request data")
    .help("Holds the text, or the bytes in hexadecimal.");

pub const FROM_FILE: Property = flag("loadDataFromFile")
    .label("Load data from file")
    .default("false")
    .help("Takes the data from a file.");

pub const DATA_FILE: Property = file("dataFile", FileUse::Upload)
    .label("Data file")
    .help("Names that file.");
