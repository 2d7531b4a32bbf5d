//! bzm - BlazeMeter Uploader.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, secret, text};

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "kg.apc.jmeter.reporters.bzm.BlazeMeterUploader";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "bzm - BlazeMeter Uploader",
    "kg.apc.jmeter.reporters.bzm.BlazeMeterUploaderGui",
)
.help("Uploads results to BlazeMeter.")
.fields(&[
    FILE,
    ERRORS_ONLY,
    SUCCESSES_ONLY,
    SAVE_CONFIG,
    SHARE_TEST,
    WORKSPACE,
    PROJECT,
    UPLOAD_TOKEN,
    TEST_TITLE,
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

pub const SHARE_TEST: Property = flag("shareTest")
    .label("Share test")
    .help("Makes the report public.");

pub const WORKSPACE: Property = text("workspace")
    .label("Workspace")
    .help("Names the workspace.");

pub const PROJECT: Property = text("project")
    .label("Upload to Project")
    .help("Names the project.");

pub const UPLOAD_TOKEN: Property = secret("uploadToken")
    .label("Upload Token")
    .help("Holds the token.");

pub const TEST_TITLE: Property = text("testTitle")
    .label("Test Title")
    .help("Names the test.");
