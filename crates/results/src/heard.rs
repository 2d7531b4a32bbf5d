//! A bounded queue of single samples for a backend that sends them from its own thread; users never wait for it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::sample::{Sample, SampleKind};

/// The values of a sample that backends send.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeardSample {
    /// Its label.
    pub label: String,
    /// Name of the virtual user's thread.
    pub thread_name: String,
    /// Whether no part of it failed.
    pub success: bool,
    /// Elapsed time, in milliseconds.
    pub elapsed_ms: i64,
    /// Time to the first byte of the response, in milliseconds.
    pub latency_ms: i64,
    /// Time to establish the connection, in milliseconds.
    pub connect_ms: i64,
    /// Its time stamp, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// Number of active users.
    pub active_users: u32,
    /// Further values, for backends that need them.
    pub detail: Option<Box<HeardDetail>>,
}

/// Further values of a sample.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeardDetail {
    /// Response code.
    pub code: String,
    /// Whether it is the result of an HTTP request.
    pub is_http: bool,
    /// Number of samples that it represents.
    pub count: u32,
    /// Bytes received.
    pub received_bytes: u64,
    /// Bytes sent.
    pub sent_bytes: u64,
    /// The message of the first assertion that has one.
    pub assertion_message: Option<String>,
    /// The body of a failed response, if requested and not empty.
    pub failed_body: Option<String>,
}

impl HeardSample {
    /// Extracts the values of a sample. Its time stamp is its start if `stamp_at_start`, else its end.
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
            active_users: sample.all_threads,
            detail: None,
        }
    }

    /// Adds all details except the body.
    #[must_use]
    pub fn with_detail(mut self, sample: &Sample) -> HeardSample {
        self.detail = Some(Box::new(HeardDetail {
            code: sample.code.to_string(),
            is_http: sample.kind == SampleKind::Http,
            count: sample.sample_count,
            received_bytes: sample.counted_bytes(),
            sent_bytes: sample.sent_bytes,
            assertion_message: sample.first_assertion_message().map(str::to_owned),
            failed_body: None,
        }));
        self
    }
}

/// Samples that wait to be sent. Clones share one queue.
#[derive(Clone, Debug)]
pub struct SampleQueue(Arc<Mutex<HeardState>>);

#[derive(Debug)]
struct HeardState {
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
    /// A queue for up to `room` samples.
    pub fn new(room: usize) -> SampleQueue {
        SampleQueue(Arc::new(Mutex::new(HeardState {
            samples: VecDeque::new(),
            room,
            dropped: 0,
        })))
    }

    /// Adds a sample; a full queue drops and counts it.
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

    fn lock(&self) -> MutexGuard<'_, HeardState> {
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
