//! jp@gc - BlazeMeter Sense Uploader.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, secret, text};

pub use crate::shared::save_config::SAVE_CONFIG;

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

pub const FILE: Property = file("filename", FileUse::Write)
    .label("Filename")
    .help("Names the result file.");

pub const ERRORS_ONLY: Property = flag("ResultCollector.error_logging")
    .label("Errors")
    .default("false")
    .help("Writes and shows failed samples only.");

pub const SUCCESSES_ONLY: Property = flag("ResultCollector.success_only_logging")
    .label("Successes")
    .help("Writes and shows successful samples only.");

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
