//! The fields of listeners that save results, and the parts of a sample that they save.

use crate::form::{FileUse, Property, file, flag, object};

pub const FILE: Property = file("filename", FileUse::Write)
    .label("Filename")
    .help("Names the result file.");

pub const ERRORS_ONLY: Property = flag("ResultCollector.error_logging")
    .label("Errors")
    .default("false")
    .help("Writes and shows failed samples only.");

pub const SUCCESSES_ONLY: Property = flag("ResultCollector.success_only_logging")
    .label("Successes")
    .help("Writes and shows successful samples only.");

pub const SAVE_CONFIG: Property = object("saveConfig")
    .label("Sample Result Save Configuration")
    .help("Says which columns the file has.");

/// The fields of the object that JMeter's form shows, in its order, with their labels.
const SHOWN: [(&str, &str); 28] = [
    ("xml", "Save As XML"),
    ("fieldNames", "Save Field Names (CSV)"),
    ("timestamp", "Save Time Stamp"),
    ("time", "Save Elapsed Time"),
    ("label", "Save Label"),
    ("code", "Save Response Code"),
    ("message", "Save Response Message"),
    ("threadName", "Save Thread Name"),
    ("dataType", "Save Data Type"),
    ("success", "Save Success"),
    (
        "saveAssertionResultsFailureMessage",
        "Save Assertion Failure Message",
    ),
    ("bytes", "Save received byte count"),
    ("sentBytes", "Save sent byte count"),
    ("threadCounts", "Save Active Thread Counts"),
    ("url", "Save URL"),
    ("fileName", "Save Response Filename"),
    ("latency", "Save Latency"),
    ("connectTime", "Save Connect Time"),
    ("encoding", "Save Encoding"),
    ("sampleCount", "Save Sample and Error Counts"),
    ("hostname", "Save Hostname"),
    ("idleTime", "Save Idle Time"),
    ("requestHeaders", "Save Request Headers (XML)"),
    ("samplerData", "Save Sampler Data (XML)"),
    ("responseHeaders", "Save Response Headers (XML)"),
    ("responseData", "Save Response Data (XML)"),
    ("subresults", "Save Sub Results"),
    ("assertions", "Save Assertion Results (XML)"),
];

/// The place in JMeter's form and the label of a field of the object; `None` if the form does not show it.
pub fn shown(field: &str) -> Option<(usize, &'static str)> {
    let at = SHOWN.iter().position(|(name, _)| *name == field)?;
    Some((at, SHOWN[at].1))
}
