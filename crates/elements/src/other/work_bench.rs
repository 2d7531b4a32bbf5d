//! WorkBench.

use crate::form::{ElementFacts, Property, Role, flag};

pub const CLASS: &str = "WorkBench";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::NonTest, CLASS, "WorkBench", "WorkBenchGui")
        .outside_menu(&["WorkBenchGui"])
        .help("Was the scratch pad of JMeter's window before version 4.0.")
        .fields(&[SAVE]);

pub const SAVE: Property = flag("WorkBench.save")
    .label("Save WorkBench")
    .default("true")
    .help("Saved the scratch pad with the plan.");
