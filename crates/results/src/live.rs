//! The numbers of a running test, shared by all workers.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::failures;
use crate::sample::Sample;
use crate::statistics::Recording;
use crate::summariser::SummaryDelta;

/// Failed samples that are kept for showing.
const RECENT_ERRORS: usize = 20;

/// A failed sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecentError {
    /// When it ended, in milliseconds since the Unix epoch.
    pub end_ms: i64,
    /// Its label.
    pub label: String,
    /// Its response code.
    pub code: String,
    /// Its response message, or what the assertion said of a response that is good by its code.
    pub message: String,
}

/// What became of the connections of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Connections {
    /// Connections opened.
    pub opened: u64,
    /// Exchanges on a connection that an earlier one had opened.
    pub reused: u64,
    /// Full TLS handshakes.
    pub handshakes_full: u64,
    /// Resumed TLS handshakes.
    pub handshakes_resumed: u64,
    /// Connections ended by this side: no keep-alive, a new iteration, their time was up.
    #[serde(default)]
    pub closed_by_us: u64,
    /// Connections ended by a server, or by its word.
    #[serde(default)]
    pub closed_by_peer: u64,
}

impl Connections {
    /// What came since an earlier moment.
    pub fn since(self, then: Connections) -> Connections {
        Connections {
            opened: self.opened.saturating_sub(then.opened),
            reused: self.reused.saturating_sub(then.reused),
            handshakes_full: self.handshakes_full.saturating_sub(then.handshakes_full),
            handshakes_resumed: self
                .handshakes_resumed
                .saturating_sub(then.handshakes_resumed),
            closed_by_us: self.closed_by_us.saturating_sub(then.closed_by_us),
            closed_by_peer: self.closed_by_peer.saturating_sub(then.closed_by_peer),
        }
    }

    /// The sums.
    pub fn plus(self, other: Connections) -> Connections {
        Connections {
            opened: self.opened.saturating_add(other.opened),
            reused: self.reused.saturating_add(other.reused),
            handshakes_full: self.handshakes_full.saturating_add(other.handshakes_full),
            handshakes_resumed: self
                .handshakes_resumed
                .saturating_add(other.handshakes_resumed),
            closed_by_us: self.closed_by_us.saturating_add(other.closed_by_us),
            closed_by_peer: self.closed_by_peer.saturating_add(other.closed_by_peer),
        }
    }
}

impl RecentError {
    pub(crate) fn of(sample: &Sample) -> RecentError {
        RecentError {
            end_ms: sample.end_ms,
            label: sample.label.as_ref().to_owned(),
            code: sample.code.as_str().to_owned(),
            message: failures::error_message(sample).to_owned(),
        }
    }
}

/// The whole run so far, as of each worker's last [`publish`](crate::Recorder::publish), and what summarisers have not
/// yet taken.
#[derive(Debug, Default)]
pub struct Live {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(crate) struct State {
    pub recording: Recording,
    pub summaries: Vec<SummaryDelta>,
    pub recent_errors: VecDeque<RecentError>,
    pub connections: Connections,
}

impl State {
    pub fn add_error(&mut self, error: RecentError) {
        if self.recent_errors.len() == RECENT_ERRORS {
            self.recent_errors.pop_front();
        }
        self.recent_errors.push_back(error);
    }
}

impl Live {
    /// Nothing has happened; `summarisers` is how many summariser numbers there are.
    pub fn new(summarisers: usize) -> Live {
        let live = Live::default();
        live.lock().summaries = vec![SummaryDelta::EMPTY; summarisers];
        live
    }

    /// Looks at the statistics of the whole run so far. Workers cannot publish meanwhile, so be quick.
    pub fn read<R>(&self, look: impl FnOnce(&Recording) -> R) -> R {
        look(&self.lock().recording)
    }

    /// A copy of the statistics of the whole run so far.
    pub fn recording(&self) -> Recording {
        self.read(Clone::clone)
    }

    /// Takes the statistics of the whole run, which then start anew; for the end of a run.
    pub fn take_recording(&self) -> Recording {
        std::mem::take(&mut self.lock().recording)
    }

    /// What became of the connections, as far as workers have told.
    pub fn connections(&self) -> Connections {
        self.lock().connections
    }

    /// Notes how many users run at a moment, in milliseconds since the Unix epoch.
    pub fn note_users(&self, now_ms: i64, users: u64) {
        let users = u32::try_from(users).unwrap_or(u32::MAX);
        self.lock().recording.timeline.note_users(now_ms, users);
    }

    /// Takes what came for a summariser since the last time.
    pub fn take_summary(&self, summariser: usize) -> SummaryDelta {
        self.lock()
            .summaries
            .get_mut(summariser)
            .map_or(SummaryDelta::EMPTY, std::mem::take)
    }

    /// The latest failed samples, oldest first.
    pub fn recent_errors(&self) -> Vec<RecentError> {
        self.lock().recent_errors.iter().cloned().collect()
    }

    /// A worker that panicked leaves sums that are complete up to a label; they stay readable.
    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
