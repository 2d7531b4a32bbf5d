//! jp@gc - HTTP Simple Table Server.

use crate::form::{ElementFacts, Property, Role, flag, text, whole};

pub const CLASS: &str = "org.jmeterplugins.protocol.http.control.HttpSimpleTableControl";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::NonTest,
    CLASS,
    "jp@gc - HTTP Simple Table Server",
    "org.jmeterplugins.protocol.http.control.gui.HttpSimpleTableControlGui",
)
.help("Serves rows of CSV files over HTTP, in JMeter's window.")
.fields(&[PORT, FOLDER, TIMESTAMP]);

pub const PORT: Property = whole("HttpSimpleTableControlGui.port")
    .label("Port")
    .default("9191")
    .help("Sets the port.");

pub const FOLDER: Property = text("HttpSimpleTableControlGui.dataset_directory")
    .label("Dataset directory")
    .help("Names the folder of the files.");

pub const TIMESTAMP: Property = flag("HttpSimpleTableControlGui.timestamp")
    .label("Timestamp")
    .help("Adds the time to answers.");
