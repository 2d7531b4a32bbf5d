//! jp@gc - SSHMon Samples Collector.

use crate::form::{ElementFacts, Property, Role, rows};

pub use crate::shared::save_config::{ERRORS_ONLY, FILE, SAVE_CONFIG, SUCCESSES_ONLY};

pub const CLASS: &str = "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonCollector";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "jp@gc - SSHMon Samples Collector",
    "nz.co.breakpoint.jmeter.vizualizers.sshmon.SSHMonGui",
)
.help("Runs commands on other machines that print a number.")
.fields(&[FILE, ERRORS_ONLY, SUCCESSES_ONLY, SAVE_CONFIG, COMMANDS]);

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
