//! Precise Throughput Timer.

use crate::form::{ElementFacts, Property, Role, Saved, number, section, whole};
use crate::when::FleetRule;

pub const CLASS: &str = "PreciseThroughputTimer";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Timer,
    CLASS,
    "Precise Throughput Timer",
    "TestBeanGUI",
)
.help("Lets samples begin at random times, with an exact number of them in a period.")
.sections(&[
    section(
        "Delay threads to ensure target throughput",
        &[THROUGHPUT, PERIOD, DURATION],
    ),
    section("Batched departures", &[BATCH_SIZE, BATCH_DELAY]),
    section(
        "Settings to ensure repeatable sequence",
        &[SEED, EXACT_LIMIT, ALLOWED_THROUGHPUT_SURPLUS],
    ),
])
.since("4.0")
.fleet(&[FleetRule::same(
    &[],
    "all agents share one schedule; each takes its part of the arrivals",
)]);

pub const THROUGHPUT: Property = number("throughput")
    .saved(Saved::DoubleProp)
    .label("Target throughput (in samples per \"throughput period\")")
    .default("100.0")
    .help("Sets the number of samples in a period.");

pub const PERIOD: Property = whole("throughputPeriod")
    .saved(Saved::IntProp)
    .label("Throughput period (seconds)")
    .default("3600")
    .help("Sets the length of a period.");

pub const DURATION: Property = whole("duration")
    .saved(Saved::LongProp)
    .label("Test duration (seconds)")
    .default("3600")
    .help("Says how long the exact number is kept.");

pub const BATCH_SIZE: Property = whole("batchSize")
    .saved(Saved::IntProp)
    .label("Number of threads in the batch (threads)")
    .default("1")
    .help("Lets this many samples begin together.");

pub const BATCH_DELAY: Property = whole("batchThreadDelay")
    .saved(Saved::IntProp)
    .label("Delay between threads in the batch (ms)")
    .default("0")
    .help("Sets the delay between them.");

pub const SEED: Property = whole("randomSeed")
    .saved(Saved::LongProp)
    .label("Random seed (change from 0 to random)")
    .default("0")
    .help("Fixes the random times.");

pub const EXACT_LIMIT: Property = whole("exactLimit")
    .saved(Saved::IntProp)
    .default("10000")
    .help("Gives up the exact number beyond this many samples.");

pub const ALLOWED_THROUGHPUT_SURPLUS: Property = number("allowedThroughputSurplus")
    .saved(Saved::DoubleProp)
    .default("1.0")
    .help("Allows this many percent more samples than the number.");
