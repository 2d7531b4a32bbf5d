//! The meaning of the options of a run on several machines and of its agents.

use std::path::PathBuf;

use drumfire_fleet::{LinkOptions, Selection};

use crate::options::PropertyOptions;

/// A run on several machines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FleetOptions {
    /// Which agents.
    pub selection: Selection,
    /// Where they are.
    pub link: LinkOptions,
    /// How long to wait for them.
    pub wait_ms: u64,
    /// Every agent runs the whole plan.
    pub is_each: bool,
    /// The fate of the users of a lost agent.
    pub on_lost: LostAgents,
    /// The fate of rows; else they are collected if there is a result file.
    pub rows: Option<RowsOfAgents>,
    /// Files to send beside those that the plan names.
    pub send: Vec<PathBuf>,
    /// Uncertain clocks do not matter.
    pub allows_skew: bool,
    /// Go on with this run, whose coordinator is gone.
    pub attach: Option<String>,
    /// Agents end after the run.
    pub ends_agents: bool,
    /// JMeter's command line asked for it: properties of its remote testing count.
    pub is_jmeter: bool,
}

/// The fate of the users of a lost agent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LostAgents {
    /// The others go on with theirs
    #[default]
    Continue,
    /// The others take them over
    Redistribute,
    /// The run ends
    Stop,
}

/// The fate of the rows of samples that agents write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum RowsOfAgents {
    /// Agents send them when the run has ended
    Collect,
    /// They stay on the agents
    Keep,
    /// There are none
    None,
}

/// The options of `agent`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentOrder {
    /// Where NATS is.
    pub link: LinkOptions,
    /// The agent's name.
    pub name: Option<String>,
    /// Labels, `NAME=VALUE`.
    pub labels: Vec<String>,
    /// Its part of the load.
    pub weight: u32,
    /// Leave after one run.
    pub is_once: bool,
    /// End with standard input.
    pub is_tied: bool,
    /// Where files are kept.
    pub cache: Option<PathBuf>,
    /// Worker threads; 0 is one per core.
    pub workers: usize,
    /// Public keys, or files with them, of coordinators whose plans it runs.
    pub trust: Vec<String>,
    /// Properties of its own, which stand above those of runs.
    pub properties: PropertyOptions,
    /// JMeter's command line started it (`-s`).
    pub is_jmeter: bool,
    /// How far its clock is wrong on purpose.
    pub clock_error_ms: i64,
}

/// The options of `agents`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentsOrder {
    /// Where NATS is.
    pub link: LinkOptions,
    /// JSON instead of a table.
    pub json: bool,
}
