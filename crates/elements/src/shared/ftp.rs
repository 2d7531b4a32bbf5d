//! The fields of FTP requests and of their defaults.

use crate::form::{FileUse, Property, Section, file, flag, section, text, whole};

pub const REQUEST: Section = section(
    "",
    &[
        SERVER,
        PORT,
        REMOTE_FILE,
        LOCAL_FILE,
        INPUTDATA,
        UPLOAD,
        BINARY,
        SAVE_RESPONSE,
    ],
);

pub const SERVER: Property = text("FTPSampler.server")
    .label("Server Name or IP")
    .help("Names the server.");

pub const PORT: Property = whole("FTPSampler.port")
    .label("Port Number")
    .help("Sets the port; empty is 21.");

pub const REMOTE_FILE: Property = text("FTPSampler.filename")
    .label("Remote File")
    .help("Names the file on the server.");

pub const LOCAL_FILE: Property = file("FTPSampler.localfilename", FileUse::Read)
    .label("Local File")
    .help("Names the file on this machine.");

pub const INPUTDATA: Property = text("FTPSampler.inputdata")
    .label("Local File Contents")
    .help("Holds the text that is sent instead of the local file.");

pub const UPLOAD: Property = flag("FTPSampler.upload")
    .label("put(STOR)")
    .default("false")
    .help("Sends the file instead of fetching it.");

pub const BINARY: Property = flag("FTPSampler.binarymode")
    .label("Use Binary mode ?")
    .default("false")
    .help("Transfers bytes as they are, without changing line ends.");

pub const SAVE_RESPONSE: Property = flag("FTPSampler.saveresponse")
    .label("Save File in Response ?")
    .default("false")
    .help("Keeps the file as the response.");
