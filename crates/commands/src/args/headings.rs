//! Headings under which the help lists options.

pub const PROPERTIES: &str = "The plan and its properties";
pub const RESULTS: &str = "Results and reports";
pub const PASS: &str = "Pass or fail";
pub const METRICS: &str = "Live metrics";
pub const SHOWN: &str = "Terminal and log";
