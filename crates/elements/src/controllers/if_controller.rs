//! If Controller.

use crate::form::{ElementFacts, Language, Property, Role, code, flag};

pub const CLASS: &str = "IfController";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Controller,
    CLASS,
    "If Controller",
    "IfControllerPanel",
)
.help("Runs its children if its condition holds.")
.fields(&[CONDITION, USE_EXPRESSION, EVALUATE_ALL]);

pub const CONDITION: Property = code("IfController.condition", Language::Condition)
    .label("Expression (must evaluate to true or false)")
    .help("Decides whether the children run.");

pub const USE_EXPRESSION: Property = flag("IfController.useExpression")
    .label("Interpret Condition as Variable Expression?")
    .default("true")
    .help("Takes the condition as it evaluates instead of as JavaScript.");

pub const EVALUATE_ALL: Property = flag("IfController.evaluateAll")
    .label("Evaluate for all children?")
    .default("false")
    .help("Asks the condition before each child.");
