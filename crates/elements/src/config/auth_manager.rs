//! HTTP Authorization Manager.

use crate::form::{ElementFacts, Property, Role, flag, items, section};
use crate::items;

pub const CLASS: &str = "AuthManager";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "HTTP Authorization Manager",
    "AuthPanel",
)
.help("Holds credentials by address.")
.sections(&[
    section(
        "Options",
        &[CLEAR_EACH_ITERATION, CONTROLLED_BY_THREAD_GROUP],
    ),
    section(
        "Authorizations Stored in the Authorization Manager",
        &[AUTHORIZATIONS],
    ),
]);

pub const CLEAR_EACH_ITERATION: Property = flag("AuthManager.clearEachIteration")
    .label("Clear auth on each iteration?")
    .help("Forgets log-ins before each iteration.");

pub const CONTROLLED_BY_THREAD_GROUP: Property = flag("AuthManager.controlledByThreadGroup")
    .label("Use Thread Group configuration to control clearing")
    .default("false")
    .help("Lets the thread group's setting of the same user decide that.");

pub const AUTHORIZATIONS: Property = items("AuthManager.auth_list", &items::AUTHORIZATION)
    .label("Authorizations")
    .help("Lists the credentials.");
