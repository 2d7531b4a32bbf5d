//! The exchange point of a worker and the run. Each worker has its own, so workers never contend for a lock. If the
//! run is slow to take the numbers, they accumulate in sums.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use drumfire_platform::secrets;
use serde::{Deserialize, Serialize};

use crate::balance::TurnCounts;
use crate::collect::LabelCount;
use crate::failures;
use crate::increment::Increment;
use crate::sample::Sample;
use crate::summariser::SummaryDelta;

/// Limit of a worker's failed samples that wait for display.
const RECENT_ERRORS: usize = 20;
/// Limit of seconds that wait for the run; the oldest are merged.
const MOST_SECONDS: usize = 120;

/// A failed sample.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecentError {
    /// When it ended, in milliseconds since the Unix epoch.
    pub end_ms: i64,
    /// Its label.
    pub label: String,
    /// Its response code.
    pub code: String,
    /// Its response message, or the assertion's message if the response code is a success.
    pub message: String,
}

impl RecentError {
    pub(crate) fn of(sample: &Sample) -> RecentError {
        RecentError {
            end_ms: sample.end_ms,
            label: secrets::addresses(&sample.label).into_owned(),
            code: sample.code.as_str().to_owned(),
            message: secrets::text(failures::error_message(sample)).into_owned(),
        }
    }
}

/// The counts of one worker that the run has not taken yet.
#[derive(Debug, Default)]
pub struct Handover {
    pending: Mutex<PendingResults>,
    /// The turns of samplers that the worker's users took.
    pub turns: TurnCounts,
}

/// The pending data of a worker.
#[derive(Debug, Default)]
pub(crate) struct PendingResults {
    pub counts: Vec<LabelCount>,
    seconds: BTreeMap<i64, Increment>,
    pub loose: Increment,
    pub summaries: Vec<SummaryDelta>,
    /// The samples that each backend listener received.
    pub heard: Vec<Increment>,
    recent_errors: VecDeque<RecentError>,
}

/// The data that the run takes from a worker.
#[derive(Debug, Default)]
pub struct Delivery {
    /// Completed seconds, in order.
    pub seconds: Vec<Increment>,
    /// Counts that are not assigned to a second yet: failures, connections, lateness.
    pub loose: Increment,
    /// The samples of each summariser.
    pub summaries: Vec<SummaryDelta>,
    /// The samples that each backend listener received.
    pub heard: Vec<Increment>,
    /// The latest failed samples, oldest first.
    pub recent_errors: Vec<RecentError>,
}

impl PendingResults {
    pub fn add_error(&mut self, error: RecentError) {
        if self.recent_errors.len() == RECENT_ERRORS {
            self.recent_errors.pop_front();
        }
        self.recent_errors.push_back(error);
    }

    pub fn add_seconds(&mut self, seconds: Vec<Increment>) {
        for second in seconds {
            self.seconds
                .entry(second.from_ms)
                .or_insert_with(|| Increment::of_second(second.from_ms.div_euclid(1_000)))
                .merge(second);
        }
        while self.seconds.len() > MOST_SECONDS {
            let Some((_, oldest)) = self.seconds.pop_first() else {
                return;
            };
            if let Some(mut next) = self.seconds.first_entry() {
                next.get_mut().merge(oldest);
            }
        }
    }
}

impl Handover {
    /// An empty handover for this number of summarisers.
    pub fn new(summarisers: usize) -> Handover {
        let handover = Handover::default();
        handover.lock().summaries = vec![SummaryDelta::EMPTY; summarisers];
        handover
    }

    /// Adds room for this number of backend listeners.
    pub fn with_backends(self, backends: usize) -> Handover {
        self.lock().heard = vec![Increment::default(); backends];
        self
    }

    /// Takes everything except the label counts, which keep accumulating.
    pub fn take(&self) -> Delivery {
        let mut waiting = self.lock();
        Delivery {
            seconds: std::mem::take(&mut waiting.seconds).into_values().collect(),
            loose: std::mem::take(&mut waiting.loose),
            summaries: waiting.summaries.iter_mut().map(std::mem::take).collect(),
            heard: waiting.heard.iter_mut().map(std::mem::take).collect(),
            recent_errors: waiting.recent_errors.drain(..).collect(),
        }
    }

    /// Passes the counts of all labels to `look`, including those of transaction controllers.
    pub fn counts<R>(&self, look: impl FnOnce(&[LabelCount]) -> R) -> R {
        look(&self.lock().counts)
    }

    /// Locks the pending data. After a worker's panic, the sums are complete up to a label and remain readable.
    pub(crate) fn lock(&self) -> MutexGuard<'_, PendingResults> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
