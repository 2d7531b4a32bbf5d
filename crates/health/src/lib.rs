//! Decides whether a run's numbers can be trusted, from what the machine and the generator did during the run.
//!
//! [`Machine`] reads counters of the operating system, [`Watch`] turns them into [`Second`]s, and [`judge`] derives
//! a [`Verdict`] from those. [`ceilings`] predicts from the same counters which limits a plan would reach.

#![warn(missing_docs)]

mod cause;
mod ceilings;
mod clocks;
mod evidence;
mod group_memory;
mod machine;
mod open_files;
mod programs;
mod rare_lookup;
mod sockets;
mod stages;
mod verdict;
mod watch;

pub use cause::Cause;
pub use ceilings::{Ceiling, PlanDemands, ceilings, dangerous_settings};
pub use group_memory::GroupMemory;
pub use machine::{Limits, Machine, MachineCounters, time_in_queue};
pub use open_files::raise_open_files;
pub use programs::{BusyProgram, Locality};
pub use stages::{Stage, StageTimes};
pub use verdict::{Failures, Grade, Reason, Verdict, judge};
pub use watch::{Arrivals, Delay, EngineCounters, Opened, Second, Segments, Shortages, Watch};
