//! jp@gc - SSHMon Samples Collector.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, rows};

pub use crate::shared::save_config::SAVE_CONFIG;

pub const CLASS: &str = "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - SSHMon Samples Collector",
    "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonGui",
)
.help("Runs commands on other machines that print a number.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, COMMANDS]);

pub const FILE: Property = file("filename", FileUse::Write)
    .label("Filename")
    .help("Names the result file.");

pub const ERRORS_ONLY: Property = flag("ResultCollector.error_logging")
    .label("Errors")
    .default("false")
    .help("Writes and shows failed samples only.");

pub const SUCCESSES_ONLY: Property = flag("ResultCollector.success_only_logging")
    .label("Successes")
    .help("Writes and shows successful samples only.");

pub const COMMANDS: Property = rows(
    "samplers",
    &[
        "Label",
        "Host",
        "Port",
        "Username",
        "Private Key (PEM)",
        "Password",
        "Command",
        "Delta",
    ],
)
.label("Commands to execute")
.help("Lists the machines and commands.");
