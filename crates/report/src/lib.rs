//! Reads the output of a run: result files of any JMeter ([`jtl`]) and run files ([`RunFile`]). From either, it
//! makes `statistics.json` in JMeter's format, the HTML report, comparisons, merged runs, and files for CI
//! systems.

#![warn(missing_docs)]

mod apdex;
mod ci;
mod compare;
mod counts;
mod escape;
mod findings;
mod gzip;
mod input;
pub mod jtl;
mod judged;
mod matrix;
mod outcome;
mod own_part;
mod page;
mod repeats;
mod run_file;
mod run_length;
mod run_stream;
mod settled;
mod statistics_json;
mod streams;
mod tables;
mod traces;
mod trend;

pub use apdex::{Apdex, ApdexLimits, LabelMatcher, apdex};
pub use ci::{Case, CaseState, CiSystem, annotations, junit};
pub use compare::{
    CompareOptions, ComparedError, ComparedLabel, ComparedRun, ComparedThreshold, Comparison,
    ContextDifference, Difference, Finding,
};
pub use counts::CheckedCount;
pub use findings::WarmUp;
pub use input::{InputError, read_input};
pub use judged::{RunOutcome, ThresholdResult};
pub use matrix::{MatrixRow, matrix_html};
pub use outcome::{outcome_markdown, outcome_metrics};
pub use own_part::own_part;
pub use page::{
    LiveSecond, PageOptions, live_errors, live_html, live_label, live_state, report_html,
    report_page, report_payload,
};
pub use repeats::{RepeatedNumber, Repeats};
pub use run_file::{
    BaselineChange, Capacity, CapacityLevel, DataFile, HealthGroup, HealthLine, Mark, PlanIdentity,
    RunAgent, RunFile, RunFileError, RunVerdict, TimeUse, TimedPart, VerdictReason,
};
pub use run_length::run_length;
pub use run_stream::{RunStream, begun};
pub use settled::{SettledPart, WITHOUT_WARM_UP};
pub use statistics_json::statistics_json;
pub use streams::{StreamNumbers, StreamTimes, stream_lines};
pub use tables::csv_tables;
pub use traces::{TraceLink, TraceLinkError, Traces};
pub use trend::{TrendPoint, trend_html};
