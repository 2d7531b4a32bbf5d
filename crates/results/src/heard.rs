//! Samples one by one for whoever sends them on from a thread of its own: a bounded queue that no user waits for.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sample::Sample;

/// What is told of a sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardSample {
    /// Its label.
    pub label: String,
    /// Name of the virtual user's thread.
    pub thread_name: String,
    /// No part of it failed.
    pub success: bool,
    /// Elapsed time, in milliseconds.
    pub elapsed_ms: i64,
    /// Time to the first byte of the response, in milliseconds.
    pub latency_ms: i64,
    /// Time to the connection, in milliseconds.
    pub connect_ms: i64,
    /// Its time stamp, in milliseconds since the Unix epoch.
    pub at_ms: i64,
}

impl HeardSample {
    /// What is told of a sample; its stamp is its start, or its end.
    pub fn of(sample: &Sample, stamp_at_start: bool) -> HeardSample {
        HeardSample {
            label: sample.label.to_string(),
            thread_name: sample.thread_name.to_string(),
            success: sample.error_count() == 0,
            elapsed_ms: sample.elapsed_ms,
            latency_ms: sample.latency_ms,
            connect_ms: sample.connect_ms,
            at_ms: if stamp_at_start {
                sample.start_ms
            } else {
                sample.end_ms
            },
        }
    }
}

/// Samples that wait to be sent. Copies are of the same queue.
#[derive(Clone, Debug)]
pub struct SampleQueue(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    samples: VecDeque<HeardSample>,
    room: usize,
    dropped: u64,
}

impl PartialEq for SampleQueue {
    fn eq(&self, other: &SampleQueue) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for SampleQueue {}

impl SampleQueue {
    /// A queue for so many samples.
    pub fn new(room: usize) -> SampleQueue {
        SampleQueue(Arc::new(Mutex::new(State {
            samples: VecDeque::new(),
            room,
            dropped: 0,
        })))
    }

    /// Adds a sample; a full queue drops it and counts it.
    pub fn push(&self, sample: HeardSample) {
        let mut state = self.lock();
        if state.samples.len() >= state.room {
            state.dropped += 1;
            return;
        }
        state.samples.push_back(sample);
    }

    /// Takes all samples.
    pub fn take(&self) -> VecDeque<HeardSample> {
        std::mem::take(&mut self.lock().samples)
    }

    /// How many were dropped.
    pub fn dropped(&self) -> u64 {
        self.lock().dropped
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_counts_what_it_drops() {
        let queue = SampleQueue::new(2);
        let mut sample = Sample::new("a".into(), "t 1-1".into());
        (sample.start_ms, sample.end_ms) = (5, 9);
        for _ in 0..3 {
            queue.push(HeardSample::of(&sample, true));
        }
        assert_eq!(queue.dropped(), 1);
        let taken = queue.take();
        assert_eq!((taken.len(), taken[0].at_ms), (2, 5));
        queue.push(HeardSample::of(&sample, false));
        assert_eq!(queue.clone().take()[0].at_ms, 9);
        assert_eq!(queue.dropped(), 1);
    }
}
