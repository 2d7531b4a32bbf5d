//! Backend Listener.

use crate::form::{ElementFacts, Property, Role, inner, suggested, whole};
use crate::items;
use crate::when::May;

pub const CLASS: &str = "BackendListener";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "Backend Listener",
    "BackendListenerGui",
)
.help("Sends metrics of samples to another system.")
.fields(&[CLASS_NAME, QUEUE_SIZE, ARGUMENTS])
.may(&[May::ReadAnyProperty]);

pub const CLASS_NAME: Property = suggested(
    "classname",
    &[
        "org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient",
        "org.apache.jmeter.visualizers.backend.influxdb.InfluxDBRawBackendListenerClient",
        "org.apache.jmeter.visualizers.backend.influxdb.InfluxdbBackendListenerClient",
    ],
)
.label("Backend Listener implementation")
.default("org.apache.jmeter.visualizers.backend.graphite.GraphiteBackendListenerClient")
.help("Names the class that sends them.");

pub const QUEUE_SIZE: Property = whole("QUEUE_SIZE")
    .label("Async Queue size")
    .default("5000")
    .help("Holds this many samples that are not sent yet.");

pub const ARGUMENTS: Property = inner("arguments", &items::ARGUMENTS)
    .label("Parameters")
    .help("Lists the parameters of the class.");
