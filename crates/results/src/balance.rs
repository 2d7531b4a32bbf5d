//! Whether every sample that users began is accounted for.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::handover::Handover;

/// The turns of samplers on one worker. Only the worker counts; others read.
#[derive(Debug, Default)]
pub struct TurnCounts {
    begun: AtomicU64,
    skipped: AtomicU64,
}

impl TurnCounts {
    /// A user's turn at a sampler begins.
    pub fn begin(&self) {
        add(&self.begun, 1);
    }

    /// The turns that ended without a sample of their own, as the plan says.
    pub fn skip(&self, turns: u64) {
        add(&self.skipped, turns);
    }

    /// Adds the turns so far to a balance.
    pub fn add_to(&self, balance: &mut SampleBalance) {
        balance.begun += self.begun.load(Ordering::Relaxed);
        balance.skipped += self.skipped.load(Ordering::Relaxed);
    }
}

/// Adds without the cost of an atomic addition, as there is a single writer.
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

/// Turns whose samples are parts of a transaction that is not recorded yet. If it never is, because the plan leaves it early, they
/// are skipped.
#[derive(Debug)]
pub struct HeldTurns {
    handover: Arc<Handover>,
    turns: u64,
}

impl HeldTurns {
    pub(crate) fn new(handover: Arc<Handover>) -> HeldTurns {
        HeldTurns { handover, turns: 0 }
    }

    /// Holds so many more.
    pub fn hold(&mut self, turns: u64) {
        self.turns += turns;
    }

    /// Gives them up, to be recorded or held elsewhere.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.turns)
    }
}

impl Drop for HeldTurns {
    fn drop(&mut self) {
        self.handover.turns.skip(self.turns);
    }
}

/// The fate of all samples that users began. A run is complete if every one was recorded or skipped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampleBalance {
    /// Turns of samplers that users began.
    pub begun: u64,
    /// Samples in the statistics, without those of Transaction Controllers.
    pub recorded: u64,
    /// Turns without a sample of their own, as the plan says: Flow Control Actions, cached resources, samples that a script or an
    /// exception discarded.
    pub skipped: u64,
}

impl SampleBalance {
    /// Turns that ended in no result: their users were ended by force or by a defect, or their results were lost.
    pub fn lost(&self) -> u64 {
        self.begun.saturating_sub(self.recorded + self.skipped)
    }

    /// Results that no user began, which would be counted twice.
    pub fn surplus(&self) -> u64 {
        (self.recorded + self.skipped).saturating_sub(self.begun)
    }

    /// Adds the samples of another machine.
    pub fn add(&mut self, other: SampleBalance) {
        self.begun += other.begun;
        self.recorded += other.recorded;
        self.skipped += other.skipped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_turn_is_recorded_skipped_or_lost() {
        let turns = TurnCounts::default();
        (0..10).for_each(|_| turns.begin());
        turns.skip(2);
        let balance = |recorded| {
            let mut balance = SampleBalance {
                recorded,
                ..SampleBalance::default()
            };
            turns.add_to(&mut balance);
            (balance.lost(), balance.surplus())
        };
        assert_eq!(balance(8), (0, 0));
        assert_eq!(balance(5), (3, 0));
        assert_eq!(balance(9), (0, 1));
    }
}
