//! Counts the events of one response, and times them.

use std::time::Instant;

use drumfire_results::StreamSample;

/// The events so far.
#[derive(Default)]
pub(super) struct Tally {
    sample: StreamSample,
    /// How many of the events have no time yet.
    untimed: u64,
    /// When the last bytes arrived.
    seen: Option<Instant>,
    /// When the last event arrived.
    last: Option<Instant>,
}

impl Tally {
    /// Counts an event of the bytes that are arriving.
    pub fn count(&mut self) {
        self.sample.events += 1;
        self.untimed += 1;
    }

    /// The number of events.
    pub fn events(&self) -> u64 {
        self.sample.events
    }

    /// Times the events that have arrived at `at`, in a sample that began at `begin`.
    pub fn note_times(&mut self, begin: Instant, at: Instant) {
        self.seen = Some(at);
        for _ in 0..std::mem::take(&mut self.untimed) {
            match self.last.replace(at) {
                None => self.sample.first_event_us = Some(us(begin, at)),
                Some(last) => self.sample.gaps.record(us(last, at)),
            }
        }
    }

    /// When the last bytes arrived.
    pub fn seen(&self) -> Option<Instant> {
        self.seen
    }

    /// The measured numbers.
    pub fn finish(self) -> StreamSample {
        self.sample
    }
}

fn us(from: Instant, to: Instant) -> u64 {
    to.saturating_duration_since(from).as_micros() as u64
}
