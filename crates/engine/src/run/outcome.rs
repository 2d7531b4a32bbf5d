//! How a run went.

use std::time::Duration;

use drumfire_health::{Second, StageTimes, Verdict};
use drumfire_results::{Connections, FileReport, Recording, SampleBalance, ThreadCounts};

use crate::run::control::{Mark, Stopping};

/// How a run went.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// The sum of all increments.
    pub recording: Recording,
    /// The counts of connections.
    pub connections: Connections,
    /// The fate of the samples that users began; `None` if a machine of the run did not tell.
    pub balance: Option<SampleBalance>,
    /// How long the run took.
    pub elapsed: Duration,
    /// Start of the run, in milliseconds since the Unix epoch.
    pub started_ms: i64,
    /// End of the run, in milliseconds since the Unix epoch.
    pub ended_ms: i64,
    /// The virtual users.
    pub users: ThreadCounts,
    /// The result files.
    pub files: Vec<FileReport>,
    /// The problems, such as a full disk; the run is a failure if there is one.
    pub faults: Vec<String>,
    /// Why the run sent nothing, if it did not.
    pub nothing_sent: Option<String>,
    /// Warnings at the end: how much longer than planned the run lasted, and failures that no row shows.
    pub warnings: Vec<String>,
    /// Whether and how the run was told to stop.
    pub stopped: Stopping,
    /// The work of the machine and the generator, second by second.
    pub seconds: Vec<Second>,
    /// How the timed samples spent their time.
    pub stages: StageTimes,
    /// Whether the numbers can be trusted; `None` if nothing was watched.
    pub verdict: Option<Verdict>,
    /// The notes and orders of the run, each with its time.
    pub marks: Vec<Mark>,
    /// The hosts that HTTP requests went to, each with its port.
    pub targets: Vec<String>,
}
