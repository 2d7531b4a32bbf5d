//! Bolt Request.

use crate::form::{ElementFacts, Language, Property, Role, choice, code, flag, same, text, whole};

pub const CLASS: &str = "BoltSampler";

pub static FACTS: ElementFacts =
    ElementFacts::new(Role::Sampler, CLASS, "Bolt Request", "TestBeanGUI")
        .help("Sends a Cypher statement to a Neo4j server.")
        .fields(&[
            CYPHER,
            PARAMS,
            DATABASE,
            ACCESS_MODE,
            RECORD_RESULTS,
            TIMEOUT,
        ])
        .since("5.3");

pub const CYPHER: Property = text("cypher")
    .label("Cypher Statement")
    .help("Holds the statement.");

pub const PARAMS: Property = code("params", Language::Json)
    .label("Params")
    .help("Holds the parameters as JSON.");

pub const DATABASE: Property = text("database")
    .label("Database")
    .help("Names the database.");

pub const ACCESS_MODE: Property = choice("accessMode", &[same("WRITE"), same("READ")])
    .label("Access Mode")
    .default("WRITE")
    .help("Says whether the transaction writes.");

pub const RECORD_RESULTS: Property = flag("recordQueryResults")
    .label("Record Query Results")
    .default("false")
    .help("Writes the rows into the response.");

pub const TIMEOUT: Property = whole("txTimeout")
    .label("Transaction Timeout")
    .default("60")
    .help("Ends the transaction after this many seconds.");
