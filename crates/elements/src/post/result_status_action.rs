//! Result Status Action Handler.

use crate::form::{ElementFacts, Property, Role, Saved, choice, is};
use crate::when::{Test, When};

pub const CLASS: &str = "ResultAction";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::PostProcessor,
    CLASS,
    "Result Status Action Handler",
    "ResultActionGui",
)
.help("Stops users or the run, or changes the course of the loop, after a failed sample.")
.fields(&[ACTION])
.ends_run(When::If(Test::Is(ACTION.name, &["1", "2", "3"])))
.breaks_loop(When::If(Test::Is(ACTION.name, &["6"])));

pub const ACTION: Property = choice(
    "OnError.action",
    &[
        is("0", "Continue"),
        is("1", "Stop Thread"),
        is("2", "Stop Test"),
        is("3", "Stop Test Now"),
        is("4", "Start Next Thread Loop"),
        is("5", "Go to the next iteration of Current Loop"),
        is("6", "Break Current Loop"),
    ],
)
.saved(Saved::IntProp)
.label("Action to be taken after a Sampler error")
.default("0")
.help("Says what happens.");
