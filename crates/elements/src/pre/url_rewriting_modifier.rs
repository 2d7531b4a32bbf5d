//! HTTP URL Re-writing Modifier.

use crate::form::{ElementFacts, Property, Role, flag, text};

pub const CLASS: &str = "URLRewritingModifier";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PreProcessor,
    CLASS,
    "HTTP URL Re-writing Modifier",
    "URLRewritingModifierGui",
)
.help("Takes a session id from the previous page into requests.")
.fields(&[
    ARGUMENT_NAME,
    PATH_EXTENSION,
    NO_EQUALS,
    NO_QUESTION_MARK,
    CACHE,
    ENCODE,
]);

pub const ARGUMENT_NAME: Property = text("argument_name")
    .label("Session Argument Name")
    .help("Names the argument that holds the id.");

pub const PATH_EXTENSION: Property = flag("path_extension")
    .label("Path Extension (use \";\" as separator)")
    .default("false")
    .help("Appends the id to the path after a semicolon.");

pub const NO_EQUALS: Property = flag("path_extension_no_equals")
    .label("Do not use equals in path extension (Intershop Enfinity compatibility)")
    .default("false")
    .help("Leaves out the equals sign there.");

pub const NO_QUESTION_MARK: Property = flag("path_extension_no_questionmark")
    .label("Do not use questionmark in path extension (Intershop Enfinity compatibility)")
    .default("false")
    .help("Leaves out the question mark there.");

pub const CACHE: Property = flag("cache_value")
    .label("Cache Session Id?")
    .default("false")
    .help("Keeps the id for pages that have none.");

pub const ENCODE: Property = flag("encode")
    .label("URL Encode")
    .default("false")
    .help("Encodes the id for URLs.");
