//! Constant Throughput Timer.

use crate::form::{ElementFacts, Property, Role, Saved, choice, is, number};
use crate::when::{FleetRule, Test};

pub const CLASS: &str = "ConstantThroughputTimer";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Timer,
    CLASS,
    "Constant Throughput Timer",
    "TestBeanGUI",
)
.help("Delays samples so that a number of them run in a minute.")
.fields(&[THROUGHPUT, MODE])
.fleet(&[
    FleetRule::same(
        &[Test::Is(MODE.name, &["1", "2"])],
        "the rate is divided among the users of all agents, counted once a second",
    ),
    FleetRule::same(
        &[Test::Is(MODE.name, &["3", "4"])],
        "the rate is divided among the agents",
    ),
]);

pub const THROUGHPUT: Property = number("throughput")
    .saved(Saved::DoubleProp)
    .label("Target throughput (in samples per minute)")
    .default("0.0")
    .help("Sets the number of samples in a minute.");

pub const MODE: Property = choice(
    "calcMode",
    &[
        is("0", "this thread only"),
        is("1", "all active threads"),
        is("2", "all active threads in current thread group"),
        is("3", "all active threads (shared)"),
        is("4", "all active threads in current thread group (shared)"),
    ],
)
.saved(Saved::IntProp)
.label("Calculate Throughput based on")
.default("0")
.help("Says whose samples count.");
