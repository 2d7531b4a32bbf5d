//! The numbers of a run at one moment, as the terminal shows them.

use drumfire_health::Grade;
use drumfire_results::{Recording, StatisticsRow};
use serde::Serialize;

use super::format::cut_middle;
use crate::engine::{AgentPhase, Stopping};

/// The state of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Snapshot {
    /// Time since the start, in milliseconds.
    pub elapsed_ms: u64,
    /// How long the run takes according to the plan, in milliseconds; `None` if that depends on the server.
    pub planned_ms: Option<u64>,
    /// How long the run has been ending, in milliseconds: users have finished or were told to, and no more will start.
    pub ending_ms: Option<u64>,
    /// The virtual users.
    pub users: Users,
    /// All labels together.
    pub total: LabelSnapshot,
    /// One row per label, in the order of their first sample.
    pub labels: Vec<LabelSnapshot>,
    /// The agents of a run on several machines.
    pub agents: Vec<AgentRow>,
    /// The latest failed samples, oldest first.
    pub recent_errors: Vec<RecentError>,
    /// Bytes of result rows that are waiting for the disk.
    pub backlog_bytes: u64,
    /// Whether the run was told to stop, and how.
    pub stopping: Stopping,
    /// How long current samples may still take before they are interrupted, in milliseconds; `None` if no signal has
    /// come.
    pub grace_left_ms: Option<u64>,
}

/// An agent of a run on several machines.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct AgentRow {
    /// Its name.
    pub name: String,
    /// Its state.
    pub phase: AgentPhase,
    /// Users that run there.
    pub users: u64,
    /// Its samples so far.
    pub samples: u64,
    /// Its samples per second in its last second.
    pub rate_now: f64,
    /// Cores that it used in its last second.
    pub cores: f64,
    /// The longest delay of one of its users in its last second, in milliseconds.
    pub late_ms: f64,
    /// Its verdict on its numbers.
    pub grade: Option<Grade>,
}

impl AgentRow {
    /// How urgent it is to show this agent: agents with trouble come first.
    pub fn trouble(&self) -> u8 {
        match (self.phase, self.grade) {
            (AgentPhase::Lost, _) => 4,
            (AgentPhase::Silent, _) => 3,
            (_, Some(Grade::Invalid)) => 2,
            (_, Some(Grade::Degraded)) => 1,
            _ => 0,
        }
    }
}

/// The virtual users of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Users {
    /// How many users the plan has, as far as that is known.
    pub planned: u64,
    /// How many have started.
    pub started: u64,
    /// How many run now.
    pub active: u64,
    /// How many have ended.
    pub finished: u64,
}

/// The samples of one label, or of all.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct LabelSnapshot {
    /// The label.
    pub label: String,
    /// Whether the samples are those of a transaction controller, which the total excludes.
    pub transaction: bool,
    /// How many samples.
    pub samples: u64,
    /// How many of them failed.
    pub errors: u64,
    /// Current rate, in samples a second.
    pub rate_now: f64,
    /// Samples a second over the whole run.
    pub rate: f64,
    /// The mean elapsed time, in milliseconds.
    pub mean_ms: f64,
    /// The shortest elapsed time, in milliseconds.
    pub min_ms: f64,
    /// The median elapsed time, in milliseconds.
    pub p50_ms: f64,
    /// The 90th percentile of the elapsed time, in milliseconds.
    pub p90_ms: f64,
    /// The 95th percentile of the elapsed time, in milliseconds.
    pub p95_ms: f64,
    /// The 99th percentile of the elapsed time, in milliseconds.
    pub p99_ms: f64,
    /// The longest elapsed time, in milliseconds.
    pub max_ms: f64,
    /// KiB received a second, over the whole run.
    pub received_kib_s: f64,
    /// KiB sent a second, over the whole run.
    pub sent_kib_s: f64,
}

/// The mark behind the label of a transaction.
pub const TRANSACTION: &str = "(T)";

impl LabelSnapshot {
    /// The label in at most this many columns, with its mark if it is that of a transaction.
    pub fn marked(&self, columns: usize) -> String {
        if !self.transaction {
            return cut_middle(&self.label, columns);
        }
        let room = columns.saturating_sub(TRANSACTION.len() + 1);
        format!("{} {TRANSACTION}", cut_middle(&self.label, room))
    }

    /// The percentage of failed samples.
    pub fn error_percent(&self) -> f64 {
        if self.samples == 0 {
            0.0
        } else {
            self.errors as f64 * 100.0 / self.samples as f64
        }
    }
}

/// A failed sample.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecentError {
    /// When it ended, in milliseconds since the epoch.
    pub at_ms: i64,
    /// Its label.
    pub label: String,
    /// Its response code.
    pub code: String,
    /// Its response message, or the message of the assertion.
    pub message: String,
}

/// Failed samples of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ErrorKind {
    /// The response code.
    pub code: String,
    /// The response message, or the message of the assertion.
    pub message: String,
    /// How many.
    pub count: u64,
}

impl From<StatisticsRow> for LabelSnapshot {
    fn from(row: StatisticsRow) -> LabelSnapshot {
        LabelSnapshot {
            label: row.label,
            transaction: row.transaction,
            samples: row.count,
            errors: row.errors,
            rate_now: 0.0,
            rate: row.throughput_per_s,
            mean_ms: row.mean_ms,
            min_ms: row.min_ms,
            p50_ms: row.p50_ms,
            p90_ms: row.p90_ms,
            p95_ms: row.p95_ms,
            p99_ms: row.p99_ms,
            max_ms: row.max_ms,
            received_kib_s: row.received_kib_per_s,
            sent_kib_s: row.sent_kib_per_s,
        }
    }
}

/// One row per label, then the total.
pub fn rows(recording: &Recording) -> Vec<LabelSnapshot> {
    recording
        .rows()
        .into_iter()
        .map(LabelSnapshot::from)
        .collect()
}

/// The failures by kind, most frequent first.
pub fn error_kinds(recording: &Recording) -> Vec<ErrorKind> {
    let list = recording.errors.list().into_iter();
    list.map(|kind| ErrorKind {
        code: kind.code,
        message: kind.message,
        count: kind.count,
    })
    .collect()
}
