//! BeanShell Sampler.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, script, text};

pub const CLASS: &str = "BeanShellSampler";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Sampler,
    CLASS,
    "BeanShell Sampler",
    "BeanShellSamplerGui",
)
.help("Runs a BeanShell script as a sample.")
.fields(&[RESET_INTERPRETER, PARAMETERS, FILENAME, QUERY]);

pub const RESET_INTERPRETER: Property = flag("BeanShellSampler.resetInterpreter")
    .label("Reset bsh.Interpreter before each call")
    .help("Gives each call a new interpreter without the variables of earlier calls.");

pub const PARAMETERS: Property = text("BeanShellSampler.parameters")
    .label("Parameters (-> String Parameters and String []bsh.args)")
    .help("Gives the script one text as `Parameters` and its words as `bsh.args`.");

pub const FILENAME: Property = file("BeanShellSampler.filename", FileUse::Script)
    .label("Script file")
    .help("Names a file that holds the script; it is used instead of the text.");

pub const QUERY: Property = script("BeanShellSampler.query")
    .label("Script (see below for variables that are defined)")
    .help("Holds the script itself.");
