//! jp@gc - Throughput Shaping Timer.

use crate::form::{ElementFacts, Property, Role, rows};
use crate::when::FleetRule;

pub const CLASS: &str = "kg.apc.jmeter.timers.VariableThroughputTimer";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Timer,
    CLASS,
    "jp@gc - Throughput Shaping Timer",
    "kg.apc.jmeter.timers.VariableThroughputTimerGui",
)
.help("Delays samples so that their rate follows a schedule.")
.fields(&[LOAD_PROFILE])
.fleet(&[FleetRule::same(&[], "the rate is divided among the agents")]);

pub const LOAD_PROFILE: Property = rows("load_profile", &["Start RPS", "End RPS", "Duration, sec"])
    .label("Requests Per Second (RPS) Schedule")
    .help("Lists rates at the beginning and the end of a time, and its length.");
