//! The trait of encoders, and its input.

use std::time::Duration;

use drumfire_results::Increment;

/// The numbers of users at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// Users that are running.
    pub active: u64,
    /// Users started so far.
    pub started: u64,
    /// Users ended so far.
    pub ended: u64,
}

/// Identifies a run in every sink.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunInfo {
    /// The run's id.
    pub id: String,
    /// Tags that the user gave (`--tag`), in their order.
    pub tags: Vec<(String, String)>,
}

/// The events between two sends.
#[derive(Clone, Debug, Default)]
pub struct Interval {
    /// The end of the interval, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// The samples of the interval.
    pub increment: Increment,
    /// The users at its end.
    pub users: Users,
    /// The verdict: 0 VALID, 1 DEGRADED, 2 INVALID. `None` until it is known, at the end of the run.
    pub verdict: Option<u8>,
    /// Actions of users or elements in the interval: the time, in milliseconds since the Unix epoch, and the
    /// action.
    pub marks: Vec<(i64, String)>,
    /// Whether this is the last interval.
    pub is_last: bool,
}

/// Encodes intervals in one wire format.
pub trait Encoder: Send {
    /// The time between two sends.
    fn interval(&self) -> Duration;

    /// Encodes the start of the run; nothing by default.
    fn start(&mut self, at_ms: i64) -> Vec<Vec<u8>> {
        let _ = at_ms;
        Vec::new()
    }

    /// Encodes an interval as batches. Each batch is sent, retried and dropped as a whole.
    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>>;
}
