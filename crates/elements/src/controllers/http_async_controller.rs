//! bzm - HTTP Async Controller.

use crate::form::{ElementFacts, Role};

pub const CLASS: &str = "com.blazemeter.jmeter.http2.control.HTTP2Controller";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "bzm - HTTP Async Controller",
    "com.blazemeter.jmeter.http2.control.gui.HTTP2ControllerGui",
)
.help("Runs its children once in each iteration.")
.differs("The requests are sent one after the other, while the plugin sends them at once.");
