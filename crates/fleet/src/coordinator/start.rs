//! Starts a run on its agents: all compile the plan, setUp thread groups run, and all start at one instant.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_engine::{Event, Started, Stopping};
use drumfire_platform::words::counted;

use super::{Coordinator, LEAD, LEAD_LOCAL, LOOK, PREPARATION, UNCERTAIN_NS, USELESS_NS, watch};
use crate::error::FleetError;
use crate::wire::Stage;

impl Coordinator<'_, '_, '_> {
    /// Waits until every agent has compiled the plan.
    pub(super) fn wait_for_ready(&mut self) -> Result<(), FleetError> {
        let since = Instant::now();
        loop {
            self.listen(LOOK);
            let refused = self
                .agents
                .iter()
                .filter(|agent| agent.state.stage == Stage::Refused);
            let lines: Vec<String> = refused
                .flat_map(|agent| {
                    let faults = agent.state.faults.iter();
                    faults.map(|fault| format!("agent `{}`: {fault}", agent.name))
                })
                .collect();
            if !lines.is_empty() {
                return Err(FleetError::Refused(lines));
            }
            let late: Vec<&str> = self
                .agents
                .iter()
                .filter(|agent| agent.state.stage < Stage::Ready)
                .map(|agent| agent.name.as_str())
                .collect();
            if late.is_empty() {
                break;
            }
            let silent = self
                .agents
                .iter()
                .find(|agent| agent.silence(Instant::now()) > watch::LOST);
            if silent.is_some() || since.elapsed() > PREPARATION {
                let late = silent
                    .map(|agent| agent.name.clone())
                    .unwrap_or_else(|| late.join("`, `"));
                return Err(FleetError::Late {
                    what: format!("agent `{late}` to get ready"),
                    waited: since.elapsed(),
                    remedy: "look at its terminal, or choose other agents",
                });
            }
            if let Some(agent) = self.agents.iter().find(|agent| agent.state.is_leaving) {
                let name = &agent.name;
                return Err(FleetError::Other(format!(
                    "agent `{name}` was told to end before the start; choose another one"
                )));
            }
            if self.control.stopping() {
                return Err(FleetError::Other("stopped before the start".to_owned()));
            }
        }
        self.check_clocks()
    }

    pub(super) fn check_clocks(&mut self) -> Result<(), FleetError> {
        for agent in self.agents.clone() {
            let (name, bound_ns) = (&agent.name, agent.state.bound_ns);
            let bound_ms = bound_ns / 1_000_000;
            if bound_ns > USELESS_NS && !self.order.allows_skew {
                return Err(FleetError::Other(format!(
                    "the clock of agent `{name}` is known only to within {bound_ms} ms; check the network, or pass `--allow-skew`"
                )));
            }
            if bound_ns > UNCERTAIN_NS {
                self.warn(format!(
                    "the clock of agent `{name}` is known only to within {bound_ms} ms"
                ));
            }
            for warning in agent.state.warnings {
                self.warn(warning);
            }
        }
        Ok(())
    }

    /// Gives up before the start and makes the agents forget the run.
    pub(super) fn give_up(&mut self) {
        self.state.stopping = Stopping::Now;
        self.end_for_agents();
    }

    /// Begins the run, once all agents are ready: setUp thread groups run, then all start at one instant.
    pub(super) fn begin(&mut self) {
        let names = self.order.groups.iter().map(|group| group.name.clone());
        let started = Started {
            at_ms: self.started_ms,
            groups: names.collect(),
            planned_users: self.order.planned_users,
            planned_ms: self.order.planned_ms,
        };
        self.tell(&Event::Started(Arc::new(started)));
        if !self.is_local {
            let (run, count) = (&self.manifest.run, self.agents.len());
            let line = format!(
                "run {run} on {}; if this terminal closes, continue with: drumfire attach {run}",
                counted(count as u64, "agent")
            );
            self.tell(&Event::Line(line.into()));
        }
        self.push_state(true);
    }

    /// Starts the main thread groups when all agents are at their start, and tearDown thread groups when all are at their end.
    pub(super) fn advance(&mut self, now_ms: i64) {
        let all = |stage: Stage, but: Option<u32>| {
            let agents = (0..).zip(&self.agents);
            let mut there = agents.filter(|(index, agent)| {
                Some(*index) != but && !agent.is_lost() && !agent.is_joining
            });
            there.all(|(_, agent)| agent.state.stage >= stage || agent.is_done())
        };
        if self.state.start_ms.is_none() {
            if all(Stage::AtStart, None) {
                let lead = if self.is_local { LEAD_LOCAL } else { LEAD };
                let slowest = self.agents.iter().map(|agent| agent.state.bound_ns).max();
                let way = Duration::from_nanos(slowest.unwrap_or(0).saturating_mul(20));
                let start_ms = now_ms + lead.max(way).as_millis() as i64;
                self.state.start_ms = Some(start_ms);
                self.state.properties = self.agents[0].state.properties.clone();
                tracing::info!(
                    "{} agents have begun run {}",
                    self.agents.len(),
                    self.manifest.run
                );
            }
        } else if self.state.tear_down_ms.is_none() {
            // If agents may join, others may come while it has work itself.
            let may_grow =
                self.manifest.most > 0 || self.agents.iter().any(|agent| agent.left_ms.is_some());
            let but = Some(self.state.tear_down_by).filter(|_| !may_grow);
            if all(Stage::AtEnd, but) {
                self.state.tear_down_ms = Some(now_ms);
            }
        }
    }
}
