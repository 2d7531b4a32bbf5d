//! From a plan's tree to samples: compile, schedule, walk, sample.

mod advice;
mod alarm;
mod body;
mod branch;
mod clock;
mod compile;
mod compiled;
mod context;
mod control;
mod defects;
mod demand;
mod describe;
pub mod elements;
#[cfg(test)]
mod fixture;
pub mod java;
mod log;
mod number;
mod parsed;
mod program;
mod room;
mod run;
mod sample;
mod schedule;
mod scoped;
mod setting;
mod shared;
mod stages;
mod supply;
mod survey;
#[cfg(test)]
mod tour;
mod transaction;
mod user;
mod walk;
mod worker;

pub use advice::{Advice, Effect, Place as AdvicePlace};
pub use clock::Clock;
pub use compile::{Compiled, Settings, compile};
pub use control::{Control, Stopping};
pub use demand::Demand;
pub use describe::{GroupView, PlanView, PropertyRow, TreeRow, UserWindow, describe};
pub use elements::Rung;
pub use program::{Group, GroupKind, Program};
pub use run::{Observer, Options, Outcome, Progress, StartError, run};
pub use schedule::{LevelUnit, Shape, Stretch, Window};
pub use survey::{Survey, SurveyRow, survey};
