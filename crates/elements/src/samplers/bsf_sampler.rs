//! BSF Sampler.

use crate::form::{ElementFacts, FileUse, Property, Role, file, script, section, text};
use crate::shared::script;

pub const CLASS: &str = "BSFSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "BSF Sampler", "TestBeanGUI")
        .help("Runs a script through the Bean Scripting Framework as a sample.")
        .sections(&[
            script::BSF,
            section(
                "Before version 2.9",
                &[OLD_LANGUAGE, OLD_FILE, OLD_PARAMETERS, OLD_SCRIPT],
            ),
        ]);

pub const OLD_LANGUAGE: Property = text("BSFSampler.language")
    .label("Language")
    .help("Names the engine.");

pub const OLD_FILE: Property = file("BSFSampler.filename", FileUse::Script)
    .label("Script File")
    .help("Names a file that holds the script.");

pub const OLD_PARAMETERS: Property = text("BSFSampler.parameters")
    .label("Parameters")
    .help("Gives the script a text.");

pub const OLD_SCRIPT: Property = script("BSFSampler.query")
    .label("Script")
    .help("Holds the script itself.");
