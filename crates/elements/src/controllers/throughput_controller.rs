//! Throughput Controller.

use crate::form::{ElementFacts, Property, Role, Saved, choice, flag, is, number, whole};
use crate::when::{FleetRule, Test};

pub const CLASS: &str = "ThroughputController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "Throughput Controller",
    "ThroughputControllerGui",
)
.help("Runs its children a number of times, or in a percentage of the iterations.")
.fields(&[STYLE, EXECUTIONS, PERCENT, PER_USER])
.fleet(&[
    FleetRule::nothing(&[Test::On(PER_USER.name)]),
    FleetRule::same(
        &[Test::Is(STYLE.name, &["", "0"])],
        "the executions are divided among the agents",
    ),
    FleetRule::same(&[], "the percentage applies to each agent separately"),
]);

pub const STYLE: Property = choice(
    "ThroughputController.style",
    &[is("0", "Total Executions"), is("1", "Percent Executions")],
)
.saved(Saved::IntProp)
.label("Based on")
.default("1")
.help("Says whether the number or the percentage counts.");

pub const EXECUTIONS: Property = whole("ThroughputController.maxThroughput")
    .saved(Saved::IntProp)
    .label("Throughput")
    .default("1")
    .help("Says how often the children run.");

pub const PERCENT: Property = number("ThroughputController.percentThroughput")
    .saved(Saved::FloatProp)
    .label("Throughput")
    .default("1.0")
    .help("Says in how many percent of the iterations they run.");

pub const PER_USER: Property = flag("ThroughputController.perThread")
    .label("Per User")
    .default("false")
    .help("Counts for each user separately.");
