//! The meaning of the options of a run on several machines and of its agents.

use std::path::PathBuf;

use drumfire_fleet::{LinkOptions, Selection};

use crate::options::PropertyOptions;

/// A run on several machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetOptions {
    /// The agents to run on.
    pub selection: Selection,
    /// How to reach NATS.
    pub link: LinkOptions,
    /// How long to wait for them.
    pub wait_ms: u64,
    /// Every agent runs the whole plan.
    pub is_each: bool,
    /// The handling of users of a lost agent.
    pub on_lost: LostAgents,
    /// The handling of rows; by default, they are collected if there is a result file.
    pub rows: Option<RowsOfAgents>,
    /// Files to send beside those that the plan names.
    pub send: Vec<PathBuf>,
    /// Run even if the clocks of agents are uncertain.
    pub allows_skew: bool,
    /// Go on with this run, whose coordinator is gone.
    pub attach: Option<String>,
    /// End the agents after the run.
    pub ends_agents: bool,
    /// The run was ordered by JMeter's command line, so the properties of JMeter's remote testing
    /// apply.
    pub is_jmeter: bool,
}

/// How to handle the users of a lost agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LostAgents {
    /// The other agents go on with their own users
    #[default]
    Continue,
    /// The other agents take them over
    Redistribute,
    /// The run ends
    Stop,
}

/// How to handle the rows of samples that agents write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RowsOfAgents {
    /// Agents send them when the run has ended
    Collect,
    /// They stay on the agents
    Keep,
    /// Agents write no rows
    None,
}

/// The options of `agent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentOrder {
    /// How to reach NATS.
    pub link: LinkOptions,
    /// The agent's name.
    pub name: Option<String>,
    /// Labels, `NAME=VALUE`.
    pub labels: Vec<String>,
    /// Its part of the load, relative to the others.
    pub weight: u32,
    /// Leave after one run.
    pub is_once: bool,
    /// End when standard input ends.
    pub is_tied: bool,
    /// The folder for the files of plans and for runs.
    pub cache: Option<PathBuf>,
    /// Worker threads; 0 is one per core.
    pub workers: usize,
    /// Public keys, or files with them, of coordinators whose plans it runs.
    pub trust: Vec<String>,
    /// Its own properties, which override those of runs.
    pub properties: PropertyOptions,
    /// It was started by JMeter's command line (`-s`).
    pub is_jmeter: bool,
    /// How far its clock is deliberately wrong, in milliseconds.
    pub clock_error_ms: i64,
}

/// The options of `agents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsOrder {
    /// How to reach NATS.
    pub link: LinkOptions,
    /// Print JSON instead of a table.
    pub json: bool,
}
