//! jp@gc - Stepping Thread Group.

use crate::form::{ElementFacts, Property, Role, whole};
use crate::shared::group;

pub const CLASS: &str = "kg.apc.jmeter.threads.SteppingThreadGroup";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::ThreadGroup,
    CLASS,
    "jp@gc - Stepping Thread Group",
    "kg.apc.jmeter.threads.SteppingThreadGroupGui",
)
.help("Starts users in steps, holds them, and stops them in steps.")
.fields(&[
    group::ON_SAMPLE_ERROR,
    group::MAIN_LOOP,
    USERS,
    INITIAL_DELAY,
    FIRST_USERS,
    USERS_PER_STEP,
    STEP_SECONDS,
    RAMP_UP,
    HOLD,
    STOPPED_PER_STEP,
    STOP_STEP_SECONDS,
]);

pub const USERS: Property = whole("ThreadGroup.num_threads")
    .label("This group will start")
    .default("100")
    .help("Says how many users run at most.");

pub const INITIAL_DELAY: Property = whole("Threads initial delay")
    .label("First, wait for")
    .default("0")
    .help("Waits this many seconds before the first user.");

pub const FIRST_USERS: Property = whole("Start users count burst")
    .label("Then start")
    .default("0")
    .help("Starts this many users at once.");

pub const USERS_PER_STEP: Property = whole("Start users count")
    .label("Next, add")
    .default("10")
    .help("Adds this many users with each step.");

pub const STEP_SECONDS: Property = whole("Start users period")
    .label("threads every")
    .default("30")
    .help("Sets the seconds between two steps.");

pub const RAMP_UP: Property = whole("rampUp")
    .label("using ramp-up")
    .default("5")
    .help("Spreads the users of a step over this many seconds.");

pub const HOLD: Property = whole("flighttime")
    .label("Then hold load for")
    .default("60")
    .help("Holds all users for this many seconds.");

pub const STOPPED_PER_STEP: Property = whole("Stop users count")
    .label("Finally, stop")
    .default("5")
    .help("Stops this many users with each step.");

pub const STOP_STEP_SECONDS: Property = whole("Stop users period")
    .label("threads every")
    .default("1")
    .help("Sets the seconds between two steps of the end.");
