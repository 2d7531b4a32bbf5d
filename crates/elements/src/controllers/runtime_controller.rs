//! Runtime Controller.

use crate::form::{ElementFacts, Property, Role, whole};

pub const CLASS: &str = "RunTime";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Controller, CLASS, "Runtime Controller", "RunTimeGui")
        .help("Runs its children again and again until a time is over.")
        .fields(&[SECONDS]);

pub const SECONDS: Property = whole("RunTime.seconds")
    .label("Runtime (seconds)")
    .default("1")
    .help("Says for how many seconds.");
