//! Samples, their recording, and the result files and statistics made from them.
//!
//! A worker builds a [`Sample`] and passes it to its [`Recorder`]. On each tick the recorder passes rows to the
//! [`ResultWriter`] and numbers, as [`Increment`]s, to its [`Handover`], from which the run takes them. A [`Recording`] is the
//! sum of increments.

#![warn(missing_docs)]

mod balance;
mod bits;
mod buckets;
mod charset;
mod collect;
mod collectors;
mod columns;
mod connections;
mod counting_sort;
mod csv;
mod distribution;
mod error_curve;
mod failures;
mod files;
mod handover;
mod heard;
mod histogram;
mod increment;
mod phases;
mod precision;
mod properties;
mod record;
mod row;
mod sample;
mod sample_trace;
mod save_config;
mod since;
mod sparse;
mod statistics;
mod streams;
mod summariser;
mod text;
mod threshold_watch;
mod thresholds;
mod timeline;
mod trace;
mod trace_rate;
mod writer;
mod xml;

pub use balance::{HeldTurns, SampleBalance, TurnCounts};
pub use collect::{Collector, LabelCount};
pub use collectors::{CollectorKind, CollectorSet, CollectorSpec, Measure};
pub use columns::Columns;
pub use connections::Connections;
pub use distribution::Distribution;
pub use error_curve::ErrorCurve;
pub use failures::{ErrorKind, ErrorKinds, FailedSample};
pub use files::{ExistingFile, OpenError, ResultFolder};
pub use handover::{Delivery, Handover, RecentError};
pub use heard::{HeardDetail, HeardSample, SampleQueue};
pub use histogram::Histogram;
pub use increment::{
    ActiveUsers, GroupUsers, Increment, IncrementError, LabelIncrement, StartCount,
};
pub use phases::Phases;
pub use precision::{Interval, PERCENTS, Precision, suffices_for};
pub use record::{OutputSet, Recorder};
pub use row::{RowFormat, sample_variable_names};
pub use sample::{
    AssertionResult, DataType, ResponseBody, Sample, SampleKind, TRANSACTION_MESSAGE_PREFIX,
    Written,
};
pub use sample_trace::{SampleTrace, TraceId, TraceLimits};
pub use save_config::{SaveConfig, SaveConfigError, TimestampFormat};
pub use sparse::{Sparse, percentile_of};
pub use statistics::{LabelStatistics, MAX_LABELS, OTHER_LABELS, Recording, StatisticsRow};
pub use streams::{StreamIncrement, StreamSample, StreamStatistics};
pub use summariser::{Summariser, SummariserSettings, SummaryDelta, ThreadCounts};
pub use text::SharedText;
pub use threshold_watch::ThresholdWatch;
pub use thresholds::{Metric, Threshold, ThresholdError, ThresholdOutcome, Verdict};
pub use timeline::{Cell, Codes, Timeline, TimelineSample, TotalCell};
pub use trace::{LabelTrace, ServerMetric, SlowSample, SlowestSoFar, TailSplit, TimeParts};
pub use trace_rate::{TraceRate, TraceRateError};
pub use writer::{FileReport, Filter, Inlet, OutputSpec, ResultWriter, WriterGauge, WriterReport};
