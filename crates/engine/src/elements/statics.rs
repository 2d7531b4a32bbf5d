//! What elements of one class share among all users of a run: JMeter's static fields.

use std::sync::atomic::AtomicU32;

use crate::elements::config::csv_file::CsvFiles;
use crate::elements::samplers::http::hints::Hints;
use crate::elements::timers::constant_throughput_timer::Pacing;
use crate::elements::timers::precise_throughput_timer::Arrivals;
use crate::run::named_locks::NamedLocks;

/// One run's shared state of elements.
#[derive(Default)]
pub struct Statics {
    /// Files that CSV Data Sets read (`FileServer#files`).
    pub csv_files: CsvFiles,
    /// When the shared modes of Constant Throughput Timers last let a sample start.
    pub pacing: Pacing,
    /// Schedules of Precise Throughput Timers.
    pub arrivals: Arrivals,
    /// What failures say of this machine and the targets.
    pub hints: Hints,
    /// Locks of Critical Section Controllers.
    pub locks: NamedLocks,
    /// How many children Parallel Controllers have run.
    pub branches: AtomicU32,
}
