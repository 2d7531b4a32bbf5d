//! Java Request.

use crate::form::{ElementFacts, Property, Role, inner, suggested};
use crate::items;
use crate::when::May;

pub const CLASS: &str = "JavaSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "Java Request", "JavaTestSamplerGui")
        .help("Runs a Java class that was written for it.")
        .fields(&[CLASS_NAME, ARGUMENTS])
        .may(&[
            May::SetAnyVariable,
            May::ReadAnyVariable,
            May::ReadAnyProperty,
            May::WriteFiles,
        ]);

pub const CLASS_NAME: Property = suggested(
    "classname",
    &[
        "org.apache.jmeter.protocol.java.test.JavaTest",
        "org.apache.jmeter.protocol.java.test.SleepTest",
    ],
)
.label("Classname")
.default("org.apache.jmeter.protocol.java.test.JavaTest")
.help("Names the class.");

pub const ARGUMENTS: Property = inner("arguments", &items::ARGUMENTS)
    .label("Parameters")
    .help("Lists the parameters of the class.");
