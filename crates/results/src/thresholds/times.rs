//! The times that a threshold's statistic is taken of: those of samples, or those within streamed responses.

use crate::distribution::Distribution;
use crate::histogram::Histogram;
use crate::increment::LabelIncrement;
use crate::statistics::LabelStatistics;
use crate::streams::{StreamIncrement, StreamStatistics};

/// The times that a percentile, a mean or an extreme is taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasuredTimes {
    /// Service times.
    Service,
    /// Times to the first event of streamed responses.
    FirstEvent,
    /// Times between consecutive events of streamed responses.
    Gap,
}

impl MeasuredTimes {
    /// Splits the word for the times off a metric: `ttft p95`.
    pub fn split(metric: &str) -> (MeasuredTimes, &str) {
        let (word, rest) = metric.split_once(char::is_whitespace).unwrap_or(("", ""));
        match word {
            "ttft" => (MeasuredTimes::FirstEvent, rest.trim()),
            "gap" => (MeasuredTimes::Gap, rest.trim()),
            _ => (MeasuredTimes::Service, metric),
        }
    }

    /// The word for them in a threshold; empty for service times.
    pub fn word(self) -> &'static str {
        match self {
            MeasuredTimes::Service => "",
            MeasuredTimes::FirstEvent => "ttft",
            MeasuredTimes::Gap => "gap",
        }
    }

    /// The end of a sentence about a statistic of them.
    pub fn described(self) -> &'static str {
        match self {
            MeasuredTimes::Service => "",
            MeasuredTimes::FirstEvent => " of the time to the first event",
            MeasuredTimes::Gap => " of the time between events",
        }
    }

    /// Why there are none among samples.
    pub fn missing(self) -> &'static str {
        match self {
            MeasuredTimes::Service => "no sample",
            MeasuredTimes::FirstEvent => "no streamed response with an event",
            MeasuredTimes::Gap => "no streamed response with two events",
        }
    }

    /// Adds the times of a label in an increment.
    pub fn merge(self, all: &mut Distribution, label: &LabelIncrement) {
        let stream =
            |times: fn(&StreamIncrement) -> &Distribution| label.stream.as_deref().map(times);
        let times = match self {
            MeasuredTimes::Service => {
                all.merge(&label.ok);
                Some(&label.failed)
            }
            MeasuredTimes::FirstEvent => stream(|stream| &stream.first_event),
            MeasuredTimes::Gap => stream(|stream| &stream.gaps),
        };
        if let Some(times) = times {
            all.merge(times);
        }
    }

    /// The times of a label; `None` without times.
    pub fn of(self, label: &LabelStatistics) -> Option<&Histogram> {
        let stream =
            |times: fn(&StreamStatistics) -> &Histogram| label.stream.as_deref().map(times);
        let times = match self {
            MeasuredTimes::Service => Some(&label.service),
            MeasuredTimes::FirstEvent => stream(|stream| &stream.first_event),
            MeasuredTimes::Gap => stream(|stream| &stream.gaps),
        };
        times.filter(|times| times.count() > 0)
    }
}
