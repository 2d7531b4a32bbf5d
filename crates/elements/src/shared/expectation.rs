//! The fields of assertions that compare a value of a JSON text.

use crate::form::{Property, flag, text};

pub const COMPARES: Property = flag("JSONVALIDATION")
    .label("Additionally assert value")
    .default("false")
    .help("Compares the value with the expected one.");

pub const IS_REGEX: Property = flag("ISREGEX")
    .label("Match as regular expression")
    .default("true")
    .help("Takes the expected value as a pattern.");

pub const EXPECTED_VALUE: Property = text("EXPECTED_VALUE")
    .label("Expected Value")
    .help("Holds the expected value.");

pub const EXPECT_NULL: Property = flag("EXPECT_NULL")
    .label("Expect null")
    .default("false")
    .help("Expects null.");

pub const INVERT: Property = flag("INVERT")
    .label("Invert assertion (will fail if above conditions met)")
    .default("false")
    .help("Makes a failure a success, and a success a failure.");
