//! bzm - Weighted Switch Controller.

use crate::form::{ElementFacts, Property, Role, flag, rows};

pub const CLASS: &str = "com.blazemeter.jmeter.control.WeightedSwitchController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "bzm - Weighted Switch Controller",
    "com.blazemeter.jmeter.control.WeightedSwitchControllerGui",
)
.help("Runs one of its children in each iteration, in proportion to weights.")
.fields(&[WEIGHTS, RANDOM]);

pub const WEIGHTS: Property = rows("Weights", &["Child Item", "Weight", "Enabled"])
    .label("Weights")
    .help("Lists the children with their weights.");

pub const RANDOM: Property = flag("IsRandomChoice")
    .label("Random choice")
    .default("false")
    .help("Chooses at random instead of in a fixed pattern.");
