//! jp@gc - BlazeMeter Sense Uploader.

use crate::form::{ElementFacts, Property, Role, secret, text};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "kg.apc.jmeter.reporters.LoadosophiaUploader";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - BlazeMeter Sense Uploader",
    "kg.apc.jmeter.reporters.LoadosophiaUploaderGui",
)
.help("Uploads results to BlazeMeter Sense.")
.fields(&[
    FILE,
    ERRORS_ONLY,
    SUCCESSES_ONLY,
    SAVE_CONFIG,
    PROJECT,
    UPLOAD_TOKEN,
    TEST_TITLE,
    PREFIX,
]);

pub const PROJECT: Property = text("loadosophia.project")
    .label("Upload to Project")
    .help("Names the project.");

pub const UPLOAD_TOKEN: Property = secret("uploadToken")
    .label("Upload Token")
    .help("Holds the token.");

pub const TEST_TITLE: Property = text("testTitle")
    .label("Test Title")
    .help("Names the test.");

pub const PREFIX: Property = text("fileName_prefix")
    .label("Directory to store data for upload")
    .help("Names the folder for data.");
