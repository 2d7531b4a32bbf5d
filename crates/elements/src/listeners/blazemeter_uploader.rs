//! bzm - BlazeMeter Uploader.

use crate::form::{ElementFacts, Property, Role, flag, secret, text};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

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
