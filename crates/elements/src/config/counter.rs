//! Counter.

use crate::form::{ElementFacts, Property, Role, flag, text, whole};
use crate::when::{FleetRule, Test};

pub const CLASS: &str = "CounterConfig";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Data, CLASS, "Counter", "CounterConfigGui")
        .help("Puts the next number into a variable in each iteration.")
        .fields(&[START, INCREMENT, MAXIMUM, FORMAT, NAME, PER_USER, RESET])
        .fleet(&[
            FleetRule::nothing(&[Test::On(PER_USER.name)]),
            FleetRule::same(&[], "each number once; agents take numbers in blocks"),
        ]);

pub const START: Property = whole("CounterConfig.start")
    .label("Starting value")
    .help("Sets the first number.");

pub const INCREMENT: Property = whole("CounterConfig.incr")
    .label("Increment")
    .help("Is added in each iteration.");

pub const MAXIMUM: Property = whole("CounterConfig.end")
    .label("Maximum value")
    .help("Begins anew after this number.");

pub const FORMAT: Property = text("CounterConfig.format")
    .label("Number format")
    .help("Formats the number, such as `000`.");

pub const NAME: Property = text("CounterConfig.name")
    .label("Exported Variable Name")
    .sets()
    .help("Names the variable.");

pub const PER_USER: Property = flag("CounterConfig.per_user")
    .label("Track counter independently for each user")
    .default("false")
    .help("Counts for each user separately.");

pub const RESET: Property = flag("CounterConfig.reset_on_tg_iteration")
    .label("Reset counter on each Thread Group Iteration")
    .help("Begins anew in each iteration of the thread group.");
