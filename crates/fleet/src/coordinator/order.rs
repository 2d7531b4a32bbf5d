//! What a coordinator is asked to run.

use std::path::PathBuf;
use std::time::Duration;

use super::watch::OnLost;
use crate::files::PlanFile;
use crate::link::LinkOptions;
use crate::select::Selection;
use crate::wire::{PlanSettings, RowHandling};

/// A run on several machines.
#[derive(Clone, Debug)]
pub struct FleetOrder {
    pub link: LinkOptions,
    pub selection: Selection,
    /// The name of this machine.
    pub host: String,
    /// How long to wait for agents.
    pub patience: Duration,
    /// The plan's path, relative to the folder of the files.
    pub plan: String,
    pub files: Vec<PlanFile>,
    pub settings: PlanSettings,
    /// Every agent runs the whole plan.
    pub is_each: bool,
    pub on_lost: OnLost,
    pub rows: RowHandling,
    /// The file for collected rows.
    pub results: Option<PathBuf>,
    pub groups: Vec<PlannedGroup>,
    /// Whether the plan has arrivals or throughput timers.
    pub has_rates: bool,
    /// Whether there are setUp or tearDown thread groups, which the first agent runs once.
    pub has_set_up: bool,
    pub planned_users: u64,
    pub planned_ms: Option<u64>,
    /// The run to continue, which another coordinator has begun.
    pub attach: Option<String>,
    /// End the agents after this run.
    pub ends_agents: bool,
    /// Run even if clocks are uncertain by more than a second.
    pub allows_skew: bool,
}

/// A thread group of the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlannedGroup {
    pub name: String,
    /// The number of its users.
    pub users: u32,
    /// Whether arrivals determine the number of its users.
    pub has_arrivals: bool,
}
