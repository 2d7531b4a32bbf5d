//! One run on many machines. Agents wait for work at a NATS server. A coordinator gives each its part of a plan, starts all
//! of them at one instant, and adds up their measurements, second by second.
//!
//! Agents do not negotiate who runs what: each computes its own users and arrivals ([`drumfire_engine::Share`]). Only rows
//! of shared data and shared numbers are leased, in blocks.

mod agent;
mod clock;
mod coordinator;
mod error;
mod files;
#[cfg(fuzzing)]
pub mod fuzzing;
mod init;
mod keys;
mod leases;
mod link;
mod local;
mod log_queue;
mod merge;
mod rows;
mod select;
mod streamed_rows;
pub mod wire;

use std::time::Duration;

pub use agent::{
    AgentOptions, AgentStanding, AgentWork, CompiledPart, Leave, PlanOrder, Served, serve,
};
pub use coordinator::{
    AgentOutcome, BegunPlan, FleetOrder, FleetOutcome, OnLost, PlannedGroup, fetch_plan, run,
};
pub use error::FleetError;
pub use files::{PlanFile, put_end, stays_inside};
pub use init::{
    CERTIFICATE, CERTIFICATE_KEY, FleetFiles, ServerPlace, add_agent, init, write_private,
};
pub use keys::{is_public_key, run_credentials};
pub use link::{COORDINATOR, Link, LinkOptions};
pub use local::{NATS_VARIABLE, find};
pub use log_queue::LogQueue;
pub use select::{BadSelection, Hosts, Selection, agent_name};
pub use wire::{
    AgentEnd, Hello, LogLevel, PROTOCOL, PlanSettings, RowHandling, WaitingRun, is_token,
};

/// The agents that answer at a NATS server within a time, and the runs that wait for agents.
///
/// # Errors
/// If NATS cannot be reached.
pub fn agents(
    options: &LinkOptions,
    patience: Duration,
) -> Result<(Vec<Hello>, Vec<WaitingRun>), FleetError> {
    let runtime = agent::runtime()?;
    let agents = runtime.block_on(async {
        let link = Link::connect(options, COORDINATOR).await?;
        let who = coordinator::who(&link, patience);
        let (agents, runs) = tokio::join!(who, coordinator::waiting(&link, patience));
        Ok((agents?, runs?))
    });
    runtime.shutdown_timeout(Duration::from_secs(1));
    agents
}
