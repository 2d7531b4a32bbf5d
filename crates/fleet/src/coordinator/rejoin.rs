//! Takes back lost agents that are started again during a run, as Kubernetes does with failed pods.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use drumfire_expr::Random;

use super::Coordinator;
use super::gather::{self, Assigner};
use super::receive::Heard;
use super::watch::{Agent, OnLost};
use crate::wire::{self, Handover};

/// How often the coordinator looks for lost agents.
const LOOK: Duration = Duration::from_secs(2);
/// How long agents have to answer.
const ANSWERS: Duration = Duration::from_millis(500);

impl Coordinator<'_, '_, '_> {
    /// Looks for lost agents that have been started again.
    pub(super) fn look_for_lost(&mut self) {
        let may_rejoin = self.order.on_lost == OnLost::Continue
            && self.state.start_ms.is_some()
            && !self.control.stopping();
        if !may_rejoin || self.looked.elapsed() < LOOK {
            return;
        }
        self.looked = Instant::now();
        let agents = (0..).zip(&self.agents);
        // A restarted first agent would run setUp thread groups again.
        let lost: Vec<(u32, String)> = agents
            .filter(|(index, agent)| agent.is_lost() && (*index > 0 || !self.order.has_set_up))
            .map(|(index, agent)| (index, agent.name.clone()))
            .collect();
        if lost.is_empty() {
            return;
        }
        let (link, tell) = (self.link.clone(), self.tell_heard.clone());
        let assigner = self.assigner.clone();
        self.runtime.spawn(async move {
            let idle = gather::who(&link, ANSWERS).await.unwrap_or_default();
            for (index, name) in lost {
                let is_back = idle
                    .iter()
                    .any(|hello| hello.name == name && hello.run.is_none());
                if !is_back {
                    continue;
                }
                let token = Random::from_entropy().next_u64();
                let assignment = assigner.assignment(index, token, true);
                if gather::offer(&link, &name, &assignment).await.is_ok() {
                    // The receiver is gone if the run has ended.
                    let _ = tell.send(Heard::Rejoined(index, token));
                }
            }
        });
    }

    /// Takes back an agent that has been started again.
    pub(super) fn rejoin(&mut self, index: u32, token: u64) {
        let now_ms = self.clock.now_ms();
        let Some(agent) = self
            .agents
            .get_mut(index as usize)
            .filter(|agent| agent.is_lost())
        else {
            return;
        };
        let before = agent.before + agent.state.samples;
        let mut gaps_ms = std::mem::take(&mut agent.gaps_ms);
        if let Some((_, back_ms @ None)) = gaps_ms.last_mut() {
            *back_ms = Some(now_ms);
        }
        let member = wire::Member {
            name: agent.name.clone(),
            weight: agent.weight,
        };
        let mut again = Agent::new(&member, token, Instant::now());
        (again.before, again.gaps_ms) = (before, gaps_ms);
        *agent = again;
        self.merger.begin_again(index);
        let name = self.name(index);
        self.mark(now_ms, format!("agent `{name}` was started again"));
        self.warn(format!(
            "agent `{name}` was started again and runs its part from the beginning"
        ));
        self.store_agents();
        self.push_state(true);
    }

    /// Stores the list of agents for another coordinator.
    pub(super) fn store_agents(&self) {
        let joined = self
            .agents
            .iter()
            .skip(self.manifest.members.len())
            .map(|agent| wire::Member {
                name: agent.name.clone(),
                weight: agent.weight,
            });
        let handover = Handover {
            tokens: self.agents.iter().map(|agent| agent.token).collect(),
            joined: joined.collect(),
        };
        let (link, key) = (self.link.clone(), format!("{}.handover", self.manifest.run));
        self.runtime.spawn(async move {
            let stored = link.runs.put(key, Bytes::from(wire::json(&handover))).await;
            if let Err(error) = stored {
                tracing::warn!("NATS could not store the list of agents: {error}");
            }
        });
    }
}

/// An assigner that the tasks that offer parts share.
pub(super) type SharedAssigner = Arc<Assigner>;
