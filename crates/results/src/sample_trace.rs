//! The trace of a sample: its id, and what the server said about its own time.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The id of a trace (W3C Trace Context). It is written as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TraceId(pub u128);

impl fmt::Display for TraceId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl FromStr for TraceId {
    type Err = std::num::ParseIntError;

    fn from_str(text: &str) -> Result<TraceId, Self::Err> {
        u128::from_str_radix(text, 16).map(TraceId)
    }
}

impl TryFrom<String> for TraceId {
    type Error = std::num::ParseIntError;

    fn try_from(text: String) -> Result<TraceId, Self::Error> {
        text.parse()
    }
}

impl From<TraceId> for String {
    fn from(id: TraceId) -> String {
        id.to_string()
    }
}

/// How much the statistics of a label store of its traces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceLimits {
    /// Distinct names of `Server-Timing` metrics (`drumfire.trace.names`); those beyond are counted together.
    pub names: u16,
    /// Slowest samples (`drumfire.trace.slowest`).
    pub slowest: u16,
}

impl TraceLimits {
    /// The limits without any property.
    pub const DEFAULT: TraceLimits = TraceLimits {
        names: 32,
        slowest: 10,
    };
}

/// The trace of a sample.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleTrace {
    /// Its id; `None` if the plan sends a malformed `traceparent` of its own.
    pub id: Option<TraceId>,
    /// Whether servers were asked to record the trace.
    pub is_sampled: bool,
    /// The server's own time in microseconds, if it named one.
    pub server_us: Option<u64>,
    /// The durations of the metrics that the server named, in microseconds.
    pub metrics: Vec<(Box<str>, u64)>,
    /// How much of it the statistics store.
    pub limits: TraceLimits,
}

impl SampleTrace {
    /// A trace without a response.
    pub fn new(id: Option<TraceId>, is_sampled: bool, limits: TraceLimits) -> SampleTrace {
        SampleTrace {
            id,
            is_sampled,
            server_us: None,
            metrics: Vec::new(),
            limits,
        }
    }

    /// Counts a metric; beyond the limit of names, a new one is left out.
    pub fn add_metric(&mut self, name: &str, us: u64) {
        if let Some((_, sum)) = self.metrics.iter_mut().find(|(known, _)| **known == *name) {
            *sum = sum.saturating_add(us);
        } else if self.metrics.len() < usize::from(self.limits.names) {
            self.metrics.push((name.into(), us));
        }
    }

    /// Adds the server's times of another request of the same sample.
    pub fn add(&mut self, other: &SampleTrace) {
        if let Some(us) = other.server_us {
            self.server_us = Some(self.server_us.unwrap_or(0).saturating_add(us));
        }
        for (name, us) in &other.metrics {
            self.add_metric(name, *us);
        }
    }
}
