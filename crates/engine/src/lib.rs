//! From a plan's tree to samples: compile, schedule, walk, sample.

mod body;
mod clock;
mod compile;
mod context;
mod control;
pub mod elements;
mod log;
mod number;
mod program;
mod run;
mod sample;
mod schedule;
mod transaction;
mod user;
mod walk;
mod worker;

pub use clock::Clock;
pub use compile::{Compiled, Settings, compile};
pub use control::{Control, Stopping};
pub use program::{Group, GroupKind, Program, Shape};
pub use run::{Observer, Options, Outcome, Progress, run};
pub use schedule::Window;
