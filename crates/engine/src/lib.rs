//! From a plan's tree to samples: resolve, bind, schedule, walk, sample.

mod base;
mod bind;
mod decode;
pub mod elements;
#[cfg(test)]
mod fixture;
#[cfg(fuzzing)]
pub mod fuzzing;
mod inspect;
mod resolve;
mod run;
#[cfg(test)]
mod tour;

pub use base::clock::Clock;
pub use bind::{Compiled, Draft, absent_classes, bind};
pub use decode::LEFT_OUT;
pub use elements::Rung;
pub use elements::config::csv_file::RowBlocks;
pub use elements::plugins::{absent, artifact_of, plugin_of};
pub use inspect::advice::{Advice, AdvicePlace, Effect};
pub use inspect::demand::MachineDemand;
pub use inspect::describe::{
    GroupView, PlanView, PropertyRow, TreeRow, UserWindow, describe, groups,
};
pub use inspect::java_runs::JavaRuns;
pub use inspect::labels::{PlanLabels, SilentElement, labels};
pub use inspect::plan_files::{plan_files, read_files, shared_row_files};
pub use inspect::preflight::{compile, draft};
pub use inspect::split::{ElementSplit, GroupSplit, SplitView, split};
pub use inspect::survey::{Glance, Survey, SurveyRow, glance, survey};
pub use resolve::{LoadError, LoadOverride, Plan, resolve};
pub use run::action::Action;
pub use run::control::{Control, ControlError, Mark, Steered, SteeredGroup, Stopping};
pub use run::debug::{
    Debugger, Debugging, Edits, ElementKind, ElementPlace, ElementTurn, SampleView, VariableValues,
};
pub use run::division::{Division, Receipt};
pub use run::engine::{EngineOptions, StartError, result_files, run};
pub use run::events::{
    AgentPhase, AgentTick, Event, Inbox, Mailbox, Started, Subscriber, Tick, mailbox,
};
pub use run::fleet::{
    Fleet, GroupPhase, Lease, LeaseError, LeaseRequest, Move, MoveKind, RowReading, RowsRequest,
    StartGate,
};
pub use run::journey::BoundPlan;
pub use run::outcome::Outcome;
pub use run::program::{
    BackendSpec, Group, GroupKind, MonitorSpec, Program, SshMonitorSpec, SshSettings,
};
pub use run::schedule::{LevelStretch, LevelUnit, Shape, Window};
pub use run::settings::RunSettings;
pub use run::share::{MOST_WEIGHT, Share, Slots};
pub use run::summaries::SummaryLines;

/// Elements and scripts that Java code runs.
pub mod java {
    pub use crate::decode::script_words::{text_blocks, text_sees};
    pub use crate::run::action::OnError;
    pub use crate::run::java::host::{Apart, Interrupter, Java, JavaFailure, JavaHost, TicketAsk};
    pub use crate::run::java::plan::*;
    pub use crate::run::java::visit::{RunUsers, Visit};
    pub use crate::run::orders::Halt;
    pub use crate::run::request::{Request, RequestArgument, RequestFile, SeenCookie};
    pub use drumfire_web::cookies::Cookie;
}
