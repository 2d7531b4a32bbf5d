//! OS Process Sampler.

use crate::form::{
    ElementFacts, FileUse, Property, Role, Saved, file, flag, inner, section, text, whole,
};
use crate::items;
use crate::when::May;

pub const CLASS: &str = "SystemSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "OS Process Sampler",
    "SystemSamplerGui",
)
.help("Runs a program on this machine and takes its output as the response.")
.sections(&[
    section(
        "Command to Execute",
        &[COMMAND, FOLDER, ARGUMENTS, ENVIRONMENT],
    ),
    section("Standard streams (files)", &[STDIN, STDOUT, STDERR]),
    section(
        "Return Code Configuration",
        &[CHECK_RETURN_CODE, EXPECTED_RETURN_CODE],
    ),
    section("Timeout Configuration", &[TIMEOUT]),
])
.may(&[May::WriteFiles]);

pub const COMMAND: Property = text("SystemSampler.command")
    .label("Command")
    .help("Names the program.");

pub const FOLDER: Property = text("SystemSampler.directory")
    .label("Working directory")
    .help("Names the folder in which it runs.");

pub const ARGUMENTS: Property = inner("SystemSampler.arguments", &items::ARGUMENTS)
    .label("Command parameters")
    .help("Lists the program's arguments.");

pub const ENVIRONMENT: Property = inner("SystemSampler.environment", &items::ARGUMENTS)
    .label("Environment Variables")
    .help("Lists environment variables for it.");

pub const STDIN: Property = file("SystemSampler.stdin", FileUse::Read)
    .label("Standard input (stdin)")
    .help("Names a file that the program reads.");

pub const STDOUT: Property = file("SystemSampler.stdout", FileUse::Write)
    .label("Standard output (stdout)")
    .help("Names a file for its output.");

pub const STDERR: Property = file("SystemSampler.stderr", FileUse::Write)
    .label("Standard error (stderr)")
    .help("Names a file for its error output.");

pub const CHECK_RETURN_CODE: Property = flag("SystemSampler.checkReturnCode")
    .label("Check Return Code")
    .default("false")
    .help("Compares the exit code.");

pub const EXPECTED_RETURN_CODE: Property = whole("SystemSampler.expectedReturnCode")
    .label("Expected Return Code")
    .default("0")
    .help("Says which exit code is a success.");

pub const TIMEOUT: Property = whole("SystemSampler.timeout")
    .saved(Saved::LongProp)
    .label("Timeout (ms)")
    .help("Ends the program after this many milliseconds.");
