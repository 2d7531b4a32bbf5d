//! Keystore Configuration.

use crate::form::{ElementFacts, Property, Role, choice, same, text, whole};

pub const CLASS: &str = "KeystoreConfig";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Config, CLASS, "Keystore Configuration", "TestBeanGUI")
        .help("Selects the client certificates of HTTPS requests.")
        .fields(&[PRELOAD, ALIAS_VARIABLE, START_INDEX, END_INDEX]);

pub const PRELOAD: Property = choice("preload", &[same("True"), same("False")])
    .label("Preload")
    .default("True")
    .help("Reads the key store before the run.");

pub const ALIAS_VARIABLE: Property = text("clientCertAliasVarName")
    .label("Variable name holding certificate alias")
    .default("certAlias")
    .reads()
    .help("Names the variable that holds the alias of the certificate.");

pub const START_INDEX: Property = whole("startIndex")
    .label("Alias Start index (0 based)")
    .default("0")
    .help("Leaves out the certificates before this one.");

pub const END_INDEX: Property = whole("endIndex")
    .label("Alias End index (0 based)")
    .default("-1")
    .help("Leaves out the certificates after this one; -1 is none.");
