//! The fields of TCP requests and of their defaults.

use crate::form::{Property, Section, flag, section, suggested, text, whole};

pub const REQUEST: Section = section(
    "",
    &[
        CLASSNAME,
        SERVER,
        PORT,
        CONNECT_TIMEOUT,
        RESPONSE_TIMEOUT,
        REUSE,
        CLOSE,
        NO_DELAY,
        LINGER,
        EOL,
        TEXT,
    ],
);

pub const CLASSNAME: Property = suggested(
    "TCPSampler.classname",
    &[
        "TCPClientImpl",
        "BinaryTCPClientImpl",
        "LengthPrefixedBinaryTCPClientImpl",
    ],
)
.label("TCPClient classname")
.help("Names the class that reads and writes; the default is `TCPClientImpl`.");

pub const SERVER: Property = text("TCPSampler.server")
    .label("Server Name or IP")
    .help("Names the server.");

pub const PORT: Property = whole("TCPSampler.port")
    .label("Port Number")
    .help("Sets the port.");

pub const CONNECT_TIMEOUT: Property = whole("TCPSampler.ctimeout")
    .label("Connect")
    .help("Fails the sample if connecting takes more milliseconds.");

pub const RESPONSE_TIMEOUT: Property = whole("TCPSampler.timeout")
    .label("Response")
    .help("Fails the sample if the server is silent for more milliseconds.");

pub const REUSE: Property = flag("TCPSampler.reUseConnection")
    .label("Re-use connection")
    .default("true")
    .help("Keeps the connection for the user's next sample.");

pub const CLOSE: Property = flag("TCPSampler.closeConnection")
    .label("Close connection")
    .default("false")
    .help("Closes the connection after the sample.");

pub const NO_DELAY: Property = flag("TCPSampler.nodelay")
    .label("Set NoDelay")
    .default("false")
    .help("Sends small packets at once (`TCP_NODELAY`).");

pub const LINGER: Property = whole("TCPSampler.soLinger")
    .label("SO_LINGER")
    .help("Sets how many seconds closing waits for data that is not sent yet.");

pub const EOL: Property = whole("TCPSampler.EolByte")
    .label("End of line(EOL) byte value")
    .help("Ends a response at this byte.");

pub const TEXT: Property = text("TCPSampler.request")
    .label("Text to send")
    .help("Holds the text that is sent.");
