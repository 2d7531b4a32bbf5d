//! Open Model Thread Group.

use crate::form::{ElementFacts, Language, Property, Role, Saved, code, whole};
use crate::shared::group;

pub const CLASS: &str = "OpenModelThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "Open Model Thread Group",
    "OpenModelThreadGroupGui",
)
.help("Starts users at a rate, each for one iteration.")
.fields(&[
    group::ON_SAMPLE_ERROR,
    group::OPEN_MODEL_LOOP,
    SCHEDULE,
    RANDOM_SEED,
    group::SAME_USER,
])
.since("5.5");

pub const SCHEDULE: Property = code("OpenModelThreadGroup.schedule", Language::Schedule)
    .label("Schedule")
    .help("Describes rates and times, such as `rate(5/sec) random_arrivals(1 min)`.");

pub const RANDOM_SEED: Property = whole("OpenModelThreadGroup.random_seed")
    .saved(Saved::LongProp)
    .label("Random Seed")
    .help("Fixes the random arrivals; 0 gives others in each run.");
