//! The fields of script elements.

use crate::form::{
    FileUse, Property, Saved, Section, file, flag, script, section, suggested, text,
};

pub const JSR223: Section = section(
    "Script",
    &[JSR223_LANGUAGE, PARAMETERS, FILE, CACHE, SCRIPT],
);

pub const BEANSHELL: Section = section("Script", &[RESET, PARAMETERS, FILE, SCRIPT]);

pub const BSF: Section = section("Script", &[BSF_LANGUAGE, PARAMETERS, FILE, SCRIPT]);

pub const JSR223_LANGUAGE: Property = suggested(
    "scriptLanguage",
    &[
        "groovy",
        "beanshell",
        "bsh",
        "java",
        "jexl",
        "jexl2",
        "jexl3",
    ],
)
.label("Language")
.default("groovy")
.help("Names the engine that runs the script.");

pub const BSF_LANGUAGE: Property = suggested(
    "scriptLanguage",
    &[
        "beanshell",
        "groovy",
        "java",
        "javascript",
        "jexl",
        "jython",
        "xslt",
    ],
)
.label("Language")
.help("Names the engine that runs the script.");

pub const PARAMETERS: Property = text("parameters")
    .label("Parameters")
    .help("Gives the script one text as `Parameters` and its words as `args`.");

pub const FILE: Property = file("filename", FileUse::Script)
    .label("File Name")
    .help("Names a file that holds the script; it is used instead of the text.");

pub const CACHE: Property = flag("cacheKey")
    .saved(Saved::StringProp)
    .label("Cache compiled script if available")
    .default("true")
    .help("Compiles the script once instead of for each sample.");

pub const SCRIPT: Property = script("script")
    .label("Script")
    .help("Holds the script itself.");

pub const RESET: Property = flag("resetInterpreter")
    .label("Reset Interpreter")
    .default("false")
    .help("Gives each call a new interpreter without the variables of earlier calls.");
