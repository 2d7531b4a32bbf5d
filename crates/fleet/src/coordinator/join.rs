//! Lets agents join a run: those that come later than others, up to the number that the user allows, and those that are started
//! again in place of agents that were told to end.

use std::time::{Duration, Instant};

use drumfire_engine::{Division, MOST_WEIGHT, Slots};
use drumfire_expr::Random;
use drumfire_platform::words::counted;
use drumfire_results::ThreadCounts;

use super::receive::Heard;
use super::watch::{self, Agent, OnLost};
use super::{Coordinator, gather};
use crate::wire::{Member, Stage, Takeover};

/// How often the coordinator looks for agents that may join.
const LOOK: Duration = Duration::from_secs(2);
/// How long agents have to answer.
const ANSWERS: Duration = Duration::from_millis(500);
/// How far ahead a takeover is announced, so that all agents know of it in time.
const AHEAD_MS: i64 = 2_000;

impl Coordinator<'_, '_, '_> {
    /// Offers a part of the run to an idle agent, if one may join.
    pub(super) fn look_for_joining(&mut self) {
        let is_running =
            self.state.start_ms.is_some() && !self.manifest.is_each && !self.control.stopping();
        if !is_running || self.is_joining || self.looked_for_joining.elapsed() < LOOK {
            return;
        }
        self.looked_for_joining = Instant::now();
        // A coordinator that has taken the run over does not know which agents the user selected.
        let has_room = self.order.attach.is_none()
            && self.agents.iter().filter(is_present).count() < self.manifest.most as usize;
        let vacant: Vec<String> = self.vacant().map(|agent| agent.name.clone()).collect();
        // When all others are done, nothing is left to do.
        let others_work = self.agents.iter().any(Agent::can_adopt);
        if !others_work || !has_room && vacant.is_empty() {
            return;
        }
        self.is_joining = true;
        // A lost agent may come back under its own number.
        let known: Vec<String> = self
            .agents
            .iter()
            .filter(|agent| agent.left_ms.is_none())
            .map(|agent| agent.name.clone())
            .collect();
        let index = self.agents.len() as u32;
        let (link, tell) = (self.link.clone(), self.tell_heard.clone());
        let (assigner, selection) = (self.assigner.clone(), self.order.selection.clone());
        self.runtime.spawn(async move {
            let idle = gather::who(&link, ANSWERS).await.unwrap_or_default();
            let mut fit = idle.into_iter().filter(|hello| {
                let is_successor = vacant.contains(&hello.name);
                let is_new = has_room && selection.covers(hello) && !known.contains(&hello.name);
                hello.run.is_none()
                    && hello.protocol == crate::wire::PROTOCOL
                    && (is_successor || is_new)
            });
            let mut joined = None;
            if let Some(hello) = fit.next() {
                let token = Random::from_entropy().next_u64();
                let assignment = assigner.assignment(index, token, false);
                let member = Member {
                    name: hello.name,
                    weight: hello.weight,
                };
                let offered = gather::offer(&link, &member.name, &assignment).await;
                joined = offered.is_ok().then_some((member, token));
            }
            // The receiver is gone if the run has ended.
            let _ = tell.send(Heard::Joined(joined));
        });
    }

    /// Agents that were told to end and whose users nobody has.
    fn vacant(&self) -> impl Iterator<Item = &Agent> {
        let agents = self.agents.iter().zip(&self.owned);
        let is_vacant = self.order.on_lost == OnLost::Continue;
        agents
            .filter(move |(agent, owned)| {
                is_vacant && agent.left_ms.is_some() && agent.is_done() && !owned.is_empty()
            })
            .map(|(agent, _)| agent)
    }

    /// Takes an agent in that has accepted a part of the run.
    pub(super) fn join(&mut self, joined: Option<(Member, u64)>) {
        self.is_joining = false;
        let Some((member, token)) = joined else {
            return;
        };
        let mut agent = Agent::new(&member, token, Instant::now());
        agent.is_joining = true;
        self.agents.push(agent);
        let period = self.owned.first().map(Slots::period).unwrap_or(1);
        self.owned.push(Slots::new(period, Vec::new()));
        self.users.push(ThreadCounts::default());
        self.connections.push(Default::default());
        self.merger.add_agent();
        self.store_agents();
        self.push_state(true);
    }

    /// Gives agents that have joined and are ready their users. Lets them go if there is nothing left to do.
    pub(super) fn share_with_joined(&mut self, now_ms: i64) {
        for index in 0..self.agents.len() {
            let agent = &self.agents[index];
            if !agent.is_joining {
                continue;
            }
            if agent.state.stage == Stage::Refused || agent.is_lost() {
                let why = agent.state.faults.join("; ");
                let text = format!("agent `{}` does not join the run: {why}", agent.name);
                self.agents[index].is_joining = false;
                self.warn(text);
                continue;
            }
            let others_work = self.agents.iter().any(Agent::can_adopt);
            if !others_work || agent.state.is_leaving {
                let token = agent.token;
                self.agents[index].is_joining = false;
                self.state.fenced.push(token);
                continue;
            }
            if agent.state.stage < Stage::AtStart {
                continue;
            }
            let takeovers = self.takeovers_of(index as u32, now_ms + AHEAD_MS);
            self.agents[index].is_joining = false;
            let name = self.name(index as u32);
            self.mark(now_ms, format!("agent `{name}` joins"));
            let count = self.agents.iter().filter(|agent| agent.can_adopt()).count();
            self.warn(format!(
                "agent `{name}` joins at {}; the load is now that of {}",
                watch::clock_text(now_ms + AHEAD_MS),
                counted(count as u64, "agent")
            ));
            self.state.takeovers.extend(takeovers);
            self.push_state(true);
        }
    }

    /// The users of an agent that has joined: those of an agent of its name that has left, or else its part of all.
    fn takeovers_of(&mut self, index: u32, from_ms: i64) -> Vec<Takeover> {
        let name = self.name(index);
        let vacant = self.vacant().find(|agent| agent.name == name);
        let token = vacant.map(|agent| agent.token);
        let left = self
            .agents
            .iter()
            .position(|agent| Some(agent.token) == token);
        let users = self.planned_users();
        if let Some(left) = left {
            self.agents[left].replaced_ms = Some(from_ms);
            let weights = self.weights(|other, _| other == index);
            let receipts = self.division(&weights).hand_over(left, &users);
            return watch::takeovers(receipts, from_ms, false);
        }
        let weights = self.weights(|other, agent| other == index || agent.can_adopt());
        let receipts = self.division(&weights).share_with(index as usize, &users);
        watch::takeovers(receipts, from_ms, true)
    }

    /// The weights of the agents among which slots are divided; 0 for each other one.
    pub(super) fn weights(&self, is_meant: impl Fn(u32, &Agent) -> bool) -> Vec<u32> {
        let agents = (0..).zip(&self.agents);
        agents
            .map(|(index, agent)| {
                let weight = agent.weight.clamp(1, MOST_WEIGHT);
                if is_meant(index, agent) { weight } else { 0 }
            })
            .collect()
    }

    /// The numbers of users of the plan's thread groups.
    pub(super) fn planned_users(&self) -> Vec<u32> {
        self.order.groups.iter().map(|group| group.users).collect()
    }

    /// The slots of all agents, to be divided anew.
    pub(super) fn division<'d>(&'d mut self, weights: &'d [u32]) -> Division<'d> {
        Division {
            owned: &mut self.owned,
            weights,
        }
    }
}

fn is_present(agent: &&Agent) -> bool {
    !agent.is_lost() && agent.left_ms.is_none() && agent.state.stage != Stage::Refused
}
