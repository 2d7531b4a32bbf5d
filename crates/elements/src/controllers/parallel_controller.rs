//! bzm - Parallel Controller.

use crate::form::{ElementFacts, Property, Role, Saved, flag, whole};

pub const CLASS: &str = "com.blazemeter.jmeter.controller.ParallelSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "bzm - Parallel Controller",
    "com.blazemeter.jmeter.controller.ParallelControllerGui",
)
.help("Runs all its children at once and waits for the last.")
.fields(&[PARENT_SAMPLE, LIMITS, LIMIT]);

pub const PARENT_SAMPLE: Property = flag("PARENT_SAMPLE")
    .label("Generate parent sample")
    .default("false")
    .help("Makes one sample that contains those of the children.");

pub const LIMITS: Property = flag("LIMIT_MAX_THREAD_NUMBER")
    .label("Limit max thread number")
    .default("false")
    .help("Limits how many children run at once.");

pub const LIMIT: Property = whole("MAX_THREAD_NUMBER")
    .saved(Saved::IntProp)
    .label("Max threads")
    .default("6")
    .help("Says how many.");
