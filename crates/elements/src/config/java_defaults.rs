//! Java Request Defaults.

use crate::form::{ElementFacts, Property, Role, inner, suggested};
use crate::items;

pub const CLASS: &str = "JavaConfig";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Config,
    CLASS,
    "Java Request Defaults",
    "JavaConfigGui",
)
.help("Gives Java Requests in its scope parameters.")
.fields(&[CLASS_NAME, ARGUMENTS]);

pub const CLASS_NAME: Property = suggested(
    "classname",
    &[
        "org.apache.jmeter.protocol.java.test.JavaTest",
        "org.apache.jmeter.protocol.java.test.SleepTest",
    ],
)
.label("Classname")
.default("org.apache.jmeter.protocol.java.test.JavaTest")
.help("Names the class whose parameters these are.");

pub const ARGUMENTS: Property = inner("arguments", &items::ARGUMENTS)
    .label("Parameters")
    .help("Lists the parameters.");
