//! JUnit Request.

use crate::form::{ElementFacts, Property, Role, Saved, flag, text};
use crate::when::May;

pub const CLASS: &str = "JUnitSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "JUnit Request", "JUnitTestSamplerGui")
        .help("Runs a method of a JUnit test.")
        .fields(&[
            JUNIT4,
            PACKAGES,
            CLASS_NAME,
            CONSTRUCTOR_TEXT,
            METHOD,
            SUCCESS_MESSAGE,
            SUCCESS_CODE,
            FAILURE_MESSAGE,
            FAILURE_CODE,
            ERROR_MESSAGE,
            ERROR_CODE,
            NO_SETUP,
            ERROR,
            EXCEPTION,
            INSTANCE_PER_SAMPLE,
        ])
        .may(&[
            May::SetAnyVariable,
            May::ReadAnyVariable,
            May::ReadAnyProperty,
        ]);

pub const JUNIT4: Property = flag("junitsampler.junit4")
    .label("Search for JUnit 4 annotations (instead of JUnit 3)")
    .default("false")
    .help("Looks for JUnit 4 annotations instead of JUnit 3 test classes.");

pub const PACKAGES: Property = text("junitsampler.pkg.filter")
    .label("Package Filter")
    .help("Shows only classes of these packages in JMeter's window.");

pub const CLASS_NAME: Property = text("junitsampler.classname")
    .label("Classname")
    .help("Names the test class.");

pub const CONSTRUCTOR_TEXT: Property = text("junitsampler.constructorstring")
    .label("Constructor String Label")
    .help("Is handed to the constructor.");

pub const METHOD: Property = text("junitsampler.method")
    .label("Test Method")
    .help("Names the method.");

pub const SUCCESS_MESSAGE: Property = text("junitsampler.success")
    .label("Success Message")
    .default("Test successful")
    .help("Sets the message of a success.");

pub const SUCCESS_CODE: Property = text("junitsampler.success.code")
    .label("Success Code")
    .default("1000")
    .help("Sets the code of a success.");

pub const FAILURE_MESSAGE: Property = text("junitsampler.failure")
    .label("Failure Message")
    .default("Test failed")
    .help("Sets the message of a failure.");

pub const FAILURE_CODE: Property = text("junitsampler.failure.code")
    .label("Failure Code")
    .default("0001")
    .help("Sets the code of a failure.");

pub const ERROR_MESSAGE: Property = text("junitsampler.error")
    .label("Error Message")
    .default("An unexpected error occurred")
    .help("Sets the message of an error.");

pub const ERROR_CODE: Property = text("junitsampler.error.code")
    .label("Error Code")
    .default("9999")
    .help("Sets the code of an error.");

pub const NO_SETUP: Property = flag("junitsampler.exec.setup")
    .saved(Saved::StringProp)
    .label("Do not call setUp and tearDown")
    .default("false")
    .help("Leaves out setUp and tearDown.");

pub const ERROR: Property = flag("junitsampler.append.error")
    .saved(Saved::StringProp)
    .label("Append assertion errors")
    .default("false")
    .help("Adds the text of assertion errors to the response.");

pub const EXCEPTION: Property = flag("junitsampler.append.exception")
    .saved(Saved::StringProp)
    .label("Append runtime exceptions")
    .default("false")
    .help("Adds the text of exceptions to the response.");

pub const INSTANCE_PER_SAMPLE: Property = flag("junitsampler.createinstancepersample")
    .label("Create a new instance per sample")
    .help("Makes a new instance of the class for each sample.");
