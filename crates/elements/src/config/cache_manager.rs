//! HTTP Cache Manager.

use crate::form::{ElementFacts, Property, Role, Saved, flag, whole};

pub const CLASS: &str = "CacheManager";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Config, CLASS, "HTTP Cache Manager", "CacheManagerGui")
        .help("Gives each user a cache of responses.")
        .fields(&[
            CLEAR_EACH_ITERATION,
            CONTROLLED_BY_THREAD_GROUP,
            USE_EXPIRES,
            MAX_SIZE,
        ]);

pub const CLEAR_EACH_ITERATION: Property = flag("clearEachIteration")
    .label("Clear cache each iteration?")
    .default("false")
    .help("Empties the cache before each iteration.");

pub const CONTROLLED_BY_THREAD_GROUP: Property = flag("CacheManager.controlledByThread")
    .label("Use Thread Group configuration to control cache clearing")
    .default("false")
    .help("Lets the thread group's setting of the same user decide that.");

pub const USE_EXPIRES: Property = flag("useExpires")
    .label("Use Cache-Control/Expires header when processing GET requests")
    .default("true")
    .help("Sends no request while a cached response is fresh.");

pub const MAX_SIZE: Property = whole("maxSize")
    .saved(Saved::IntProp)
    .label("Max Number of elements in cache")
    .help("Limits the number of responses in the cache; the default is 5000.");
