//! Prometheus Listener.

use crate::form::{ElementFacts, Property, Role, flag, items};
use crate::items;

pub const CLASS: &str = "com.github.johrstrom.listener.PrometheusListener";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "Prometheus Listener",
    "com.github.johrstrom.listener.gui.PrometheusListenerGui",
)
.help("Counts samples for Prometheus.")
.fields(&[COLLECTORS, SAVE_JVM])
.differs("There are no metrics of a Java virtual machine.");

pub const COLLECTORS: Property = items("prometheus.collector_definitions", &items::COLLECTOR)
    .label("Metrics")
    .help("Lists the metrics.");

pub const SAVE_JVM: Property =
    flag("prometheus.save.jvm").help("Would add metrics of the Java virtual machine.");
