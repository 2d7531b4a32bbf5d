//! jp@gc - AutoStop Listener.

use crate::form::{ElementFacts, Property, Role, number, whole};
use crate::when::{FleetRule, When};

pub const CLASS: &str = "kg.apc.jmeter.reporters.AutoStop";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - AutoStop Listener",
    "kg.apc.jmeter.reporters.AutoStopGui",
)
.help("Ends the run when averages of its samples stay above a limit.")
.fields(&[
    RESPONSE_TIME,
    RESPONSE_TIME_SECONDS,
    LATENCY,
    LATENCY_SECONDS,
    ERROR_RATE,
    ERROR_RATE_SECONDS,
])
.fleet(&[FleetRule::differs(
    &[],
    "watches each agent separately; if it stops one, it stops all",
)])
.ends_run(When::Always);

pub const RESPONSE_TIME: Property = number("avg_response_time")
    .label("Average Response Time is greater than")
    .default("10000")
    .help("Limits the average response time in milliseconds.");

pub const RESPONSE_TIME_SECONDS: Property = whole("avg_response_time_length")
    .label("for at least seconds")
    .default("10")
    .help("Says for how many seconds it must be exceeded.");

pub const LATENCY: Property = number("avg_response_latency")
    .label("Average Latency is greater than")
    .default("5000")
    .help("Limits the average latency in milliseconds.");

pub const LATENCY_SECONDS: Property = whole("avg_response_latency_length")
    .label("for at least seconds")
    .default("10")
    .help("Says for how many seconds it must be exceeded.");

pub const ERROR_RATE: Property = number("error_rate")
    .label("Error Rate is greater than")
    .default("50")
    .help("Limits the percentage of failed samples.");

pub const ERROR_RATE_SECONDS: Property = whole("error_rate_length")
    .label("for at least seconds")
    .default("10")
    .help("Says for how many seconds it must be exceeded.");
