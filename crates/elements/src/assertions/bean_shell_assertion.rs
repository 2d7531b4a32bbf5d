//! BeanShell Assertion.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, script, text};

pub const CLASS: &str = "BeanShellAssertion";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Assertion,
    CLASS,
    "BeanShell Assertion",
    "BeanShellAssertionGui",
)
.help("Lets a BeanShell script decide whether a sample is a success.")
.fields(&[RESET_INTERPRETER, PARAMETERS, FILE, SCRIPT]);

pub const RESET_INTERPRETER: Property = flag("BeanShellAssertion.resetInterpreter")
    .label("Reset bsh.Interpreter before each call")
    .default("false")
    .help("Gives each call a new interpreter without the variables of earlier calls.");

pub const PARAMETERS: Property = text("BeanShellAssertion.parameters")
    .label("Parameters (-> String Parameters and String []bsh.args)")
    .help("Gives the script one text as `Parameters` and its words as `bsh.args`.");

pub const FILE: Property = file("BeanShellAssertion.filename", FileUse::Script)
    .label("Script file")
    .help("Names a file that holds the script; it is used instead of the text.");

pub const SCRIPT: Property = script("BeanShellAssertion.query")
    .label("Script (see below for variables that are defined)")
    .help("Holds the script itself.");
