//! HTTP Request Defaults.

use crate::form::{ElementFacts, Role};
use crate::shared::http;

pub const CLASS: &str = "ConfigTestElement";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "HTTP Request Defaults",
    "HttpDefaultsGui",
)
.help("Gives HTTP requests in its scope the settings that they leave empty.")
.sections(&[
    http::SERVER,
    http::DEFAULT_REQUEST,
    http::DEFAULT_CLIENT,
    http::TIMEOUTS,
    http::EMBEDDED,
    http::SOURCE,
    http::PROXY,
    http::OPTIONAL,
]);
