//! Flow Control Action.

use crate::form::{ElementFacts, Property, Role, Saved, choice, is, whole};
use crate::when::{Test, When};

pub const CLASS: &str = "TestAction";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "Flow Control Action", "TestActionGui")
        .help("Pauses, stops users or the run, or changes the course of the loop.")
        .fields(&[ACTION, TARGET, DURATION])
        .ends_run(When::If(Test::Is(ACTION.name, &["", "0", "2"])))
        .breaks_loop(When::If(Test::Is(ACTION.name, &["5"])));

pub const ACTION: Property = choice(
    "ActionProcessor.action",
    &[
        is("0", "Stop"),
        is("1", "Pause"),
        is("2", "Stop Now"),
        is("3", "Start Next Thread Loop"),
        is("4", "Go to next iteration of Current Loop"),
        is("5", "Break Current Loop"),
    ],
)
.saved(Saved::IntProp)
.label("Logical Action on Thread/Test")
.default("1")
.help("Says what happens.");

pub const TARGET: Property = choice(
    "ActionProcessor.target",
    &[is("0", "Current Thread"), is("2", "All Threads")],
)
.saved(Saved::IntProp)
.label("Target")
.default("0")
.help("Says whether this user or all users stop.");

pub const DURATION: Property = whole("ActionProcessor.duration")
    .label("Duration (milliseconds)")
    .default("0")
    .help("Pauses for this many milliseconds.");
