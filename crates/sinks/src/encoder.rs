//! The input and the output of encoders.

use std::time::Duration;

use drumfire_results::Increment;

/// The users of a run at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Users {
    /// Users that run.
    pub active: u64,
    /// Users that have started, in all.
    pub started: u64,
    /// Users that have ended, in all.
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
    /// The verdict so far: 0 VALID, 1 DEGRADED, 2 INVALID.
    pub verdict: u8,
    /// The acts of users or elements in the interval: the time, in milliseconds since the Unix epoch, and the act.
    pub marks: Vec<(i64, String)>,
    /// Nothing follows.
    pub is_last: bool,
}

/// Turns intervals into the bytes of one wire form.
pub trait Encoder: Send {
    /// The time from one send to the next.
    fn interval(&self) -> Duration;

    /// The bytes for the start of the run; nothing by default.
    fn start(&mut self, at_ms: i64) -> Vec<Vec<u8>> {
        let _ = at_ms;
        Vec::new()
    }

    /// The batches for an interval. Each is sent, retried and dropped as a whole.
    fn encode(&mut self, interval: &Interval) -> Vec<Vec<u8>>;
}
