//! Whether a run's numbers can be trusted: what the machine and the generator themselves did while it went on.
//!
//! [`Machine`] reads counters of the operating system, [`Watch`] turns them into one [`Second`] after the other, and
//! [`judge`] makes a [`Verdict`] of those. [`ceilings`] predicts from the same counters where a plan would end.

#![warn(missing_docs)]

mod cause;
mod ceilings;
mod clocks;
mod evidence;
mod machine;
mod open_files;
mod programs;
mod rare_lookup;
mod sockets;
mod stages;
mod verdict;
mod watch;

pub use cause::Cause;
pub use ceilings::{Ceiling, Load, ceilings, dangerous_settings};
pub use machine::{Limits, Machine, Reading, time_in_queue};
pub use open_files::raise_open_files;
pub use programs::{Locality, Program};
pub use stages::{Stage, StageTimes};
pub use verdict::{Failures, Grade, Reason, Verdict, judge};
pub use watch::{Arrivals, Delay, Moment, Opened, Second, Segments, Shortages, Watch};
