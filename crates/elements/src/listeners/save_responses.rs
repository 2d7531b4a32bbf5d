//! Save Responses to a file.

use crate::form::{ElementFacts, FileUse, Property, Role, file, flag, section, text, whole};
use crate::when::May;

pub const CLASS: &str = "ResultSaver";

pub static FACTS: ElementFacts = ElementFacts::new(
    Role::Listener,
    CLASS,
    "Save Responses to a file",
    "ResultSaverGui",
)
.help("Writes each response to a file of its own.")
.sections(&[
    section(
        "Save conditions",
        &[SUCCESSES_ONLY, ERRORS_ONLY, IGNORE_TRANSACTIONS],
    ),
    section(
        "Save details",
        &[
            PREFIX,
            VARIABLE,
            NO_NUMBER,
            NO_SUFFIX,
            TIMESTAMP,
            NUMBER_LENGTH,
        ],
    ),
])
.may(&[May::WriteFiles]);

pub const SUCCESSES_ONLY: Property = flag("FileSaver.successonly")
    .label("Save Successful Responses only")
    .default("false")
    .help("Writes responses of successful samples only.");

pub const ERRORS_ONLY: Property = flag("FileSaver.errorsonly")
    .label("Save Failed Responses only")
    .default("false")
    .help("Writes responses of failed samples only.");

pub const IGNORE_TRANSACTIONS: Property = flag("FileSaver.ignoreTC")
    .label("Don't save Transaction Controller SampleResult")
    .help("Leaves out the samples of Transaction Controllers.");

pub const PREFIX: Property = file("FileSaver.filename", FileUse::Write)
    .label("Filename prefix (can include folders)")
    .help("Begins the names of the files.");

pub const VARIABLE: Property = text("FileSaver.variablename")
    .label("Variable Name containing saved file name")
    .sets()
    .help("Names a variable that holds the name of the file.");

pub const NO_NUMBER: Property = flag("FileSaver.skipautonumber")
    .label("Don't add number to prefix")
    .default("false")
    .help("Leaves out the number in names.");

pub const NO_SUFFIX: Property = flag("FileSaver.skipsuffix")
    .label("Don't add content type suffix")
    .default("false")
    .help("Leaves out the suffix of the content type.");

pub const TIMESTAMP: Property = flag("FileSaver.addTimstamp")
    .label("Add timestamp")
    .help("Adds the time to names.");

pub const NUMBER_LENGTH: Property = whole("FileSaver.numberPadLen")
    .label("Minimum Length of sequence number")
    .help("Fills numbers up to this length.");
