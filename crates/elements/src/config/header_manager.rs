//! HTTP Header Manager.

use crate::form::{ElementFacts, Property, Role, items};
use crate::items;

pub const CLASS: &str = "HeaderManager";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Config, CLASS, "HTTP Header Manager", "HeaderPanel")
        .help("Adds header fields to the HTTP requests in its scope.")
        .fields(&[HEADERS]);

pub const HEADERS: Property = items("HeaderManager.headers", &items::HEADER)
    .label("Headers Stored in the Header Manager")
    .help("Lists the fields.");
