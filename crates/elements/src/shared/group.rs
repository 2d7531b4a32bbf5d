//! The fields that thread groups share.

use crate::form::{
    FileUse, Property, Saved, Section, choice, file, flag, inner, is, number, section, whole,
};
use crate::items;

pub const USERS_AND_LOOPS: Section = section(
    "Thread Properties",
    &[USERS, RAMP_TIME, MAIN_LOOP, SAME_USER],
);

pub const LIFETIME: Section = section(
    "Thread lifetime",
    &[SCHEDULER, DURATION, DELAY, START_TIME, END_TIME],
);

pub const ON_SAMPLE_ERROR: Property = choice(
    "ThreadGroup.on_sample_error",
    &[
        is("continue", "Continue"),
        is("startnextloop", "Start Next Thread Loop"),
        is("stoptest", "Stop Test"),
        is("stoptestnow", "Stop Test Now"),
        is("stopthread", "Stop Thread"),
    ],
)
.label("Action to be taken after a Sampler error")
.default("continue")
.help("Says what a user does after a failed sample.");

pub const MAIN_LOOP: Property = inner("ThreadGroup.main_controller", &items::LOOP)
    .label("Loop Count")
    .help("Holds the loop that repeats the group for each user.");

pub const OPEN_MODEL_LOOP: Property = inner("ThreadGroup.main_controller", &items::OPEN_MODEL)
    .help("Holds the controller of an open model, which has no settings.");

pub const VIRTUAL_USER_LOOP: Property = inner("ThreadGroup.main_controller", &items::VIRTUAL_USER)
    .help("Holds the controller of the plugin, which has no settings.");

pub const USERS: Property = whole("ThreadGroup.num_threads")
    .saved(Saved::IntProp)
    .label("Number of Threads (users)")
    .default("1")
    .help("Says how many users run at the same time.");

pub const RAMP_TIME: Property = whole("ThreadGroup.ramp_time")
    .saved(Saved::IntProp)
    .label("Ramp-up period (seconds)")
    .default("1")
    .help("Says in how many seconds all users start.");

pub const SAME_USER: Property = flag("ThreadGroup.same_user_on_next_iteration")
    .label("Same user on each iteration")
    .default("true")
    .help("Keeps cookies and connections from one iteration to the next.");

pub const SCHEDULER: Property = flag("ThreadGroup.scheduler")
    .label("Specify Thread lifetime")
    .help("Limits the lifetime of users to the duration.");

pub const DURATION: Property = whole("ThreadGroup.duration")
    .saved(Saved::LongProp)
    .label("Duration (seconds)")
    .help("Ends the users after this many seconds.");

pub const DELAY: Property = whole("ThreadGroup.delay")
    .saved(Saved::LongProp)
    .label("Startup delay (seconds)")
    .help("Waits this many seconds before the first user starts.");

pub const DELAYED_START: Property = flag("ThreadGroup.delayedStart")
    .label("Delay Thread creation until needed")
    .help("Makes a user only when its start is due, instead of all at the beginning.");

pub const START_TIME: Property = whole("ThreadGroup.start_time")
    .saved(Saved::LongProp)
    .help("Held the start of the schedule before JMeter 4.0.");

pub const END_TIME: Property = whole("ThreadGroup.end_time")
    .saved(Saved::LongProp)
    .help("Held the end of the schedule before JMeter 4.0.");

pub const TARGET_LEVEL: Property = number("TargetLevel")
    .label("Target")
    .help("Sets the level that the group reaches.");

pub const LEVEL_RAMP_UP: Property = number("RampUp")
    .label("Ramp Up Time")
    .help("Says how long the level rises.");

pub const STEPS: Property = whole("Steps")
    .label("Ramp-Up Steps Count")
    .help("Lets the level rise in this many steps.");

pub const HOLD: Property = number("Hold")
    .label("Hold Target Rate Time")
    .help("Says how long the level is held.");

pub const UNIT: Property = choice("Unit", &[is("M", "minutes"), is("S", "seconds")])
    .label("Time Unit")
    .default("M")
    .help("Sets the unit of times and rates.");

pub const ITERATIONS: Property = whole("Iterations")
    .label("Thread Iterations Limit")
    .help("Ends each user after this many iterations; empty is no limit.");

pub const LOG_FILE: Property = file("LogFilename", FileUse::Write)
    .label("Log Threads Status into File")
    .help("Names a file for the number of users over time.");

pub const CONCURRENCY_LIMIT: Property = whole("ConcurrencyLimit")
    .label("Concurrency Limit")
    .help("Drops arrivals while this many users are busy.");

pub const ARRIVALS_LIMIT: Property =
    whole("ArrivalsLimit").help("Ends the group after this many arrivals.");

pub const LEVEL_SAME_USER: Property = flag("same_user_on_next_iteration")
    .help("Keeps cookies and connections from one iteration to the next.");
