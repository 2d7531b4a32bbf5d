//! Random Variable.

use crate::form::{ElementFacts, Property, Role, flag, section, text, whole};
use crate::when::{FleetRule, Test};

pub const CLASS: &str = "RandomVariableConfig";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Data, CLASS, "Random Variable", "TestBeanGUI")
        .help("Puts a random number into a variable in each iteration.")
        .sections(&[
            section("Output variable", &[VARIABLE_NAME, OUTPUT_FORMAT]),
            section(
                "Configure the Random generator",
                &[MINIMUM_VALUE, MAXIMUM_VALUE, SEED],
            ),
            section("Options", &[PER_USER]),
        ])
        .fleet(&[FleetRule::differs(
            &[Test::Off(PER_USER.name), Test::Filled(SEED.name)],
            "every agent has the same numbers",
        )]);

pub const VARIABLE_NAME: Property = text("variableName")
    .label("Variable Name")
    .sets()
    .help("Names the variable.");

pub const OUTPUT_FORMAT: Property = text("outputFormat")
    .label("Output Format")
    .help("Formats the number, such as `USER_000`.");

pub const MINIMUM_VALUE: Property = whole("minimumValue")
    .label("Minimum Value")
    .default("1")
    .help("Sets the least number.");

pub const MAXIMUM_VALUE: Property = whole("maximumValue")
    .label("Maximum Value")
    .help("Sets the greatest number.");

pub const SEED: Property = text("randomSeed")
    .label("Seed for Random function")
    .help("Fixes the sequence of numbers.");

pub const PER_USER: Property = flag("perThread")
    .label("Per Thread(User) ?")
    .default("false")
    .help("Gives each user a sequence of its own.");
