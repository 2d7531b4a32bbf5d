//! Watches the agents: their last state, which ones are silent, and who gets the users of a lost agent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use drumfire_engine::{AgentPhase, Receipt, Share, Slots};
use drumfire_health::{Second, Verdict};

use crate::wire::{AgentEnd, AgentState, Member, Stage, Takeover};

/// After this much silence, the user is warned of an agent.
pub const SUSPECTED: Duration = Duration::from_secs(3);
/// After this much silence, an agent counts as lost.
pub const LOST: Duration = Duration::from_secs(10);

/// How to handle the users of a lost agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnLost {
    /// The other agents go on with their own users.
    #[default]
    Continue,
    /// The other agents take them over.
    Redistribute,
    /// The run ends.
    Stop,
}

/// An agent of the run, as the coordinator knows it.
#[derive(Clone, Debug)]
pub struct Agent {
    pub name: String,
    pub weight: u32,
    pub token: u64,
    /// Whether it has joined during the run and has no users yet.
    pub is_joining: bool,
    /// Since when an agent that was started in its place has its users.
    pub replaced_ms: Option<i64>,
    pub state: AgentState,
    heard: Instant,
    is_suspected: bool,
    /// When it was lost, in milliseconds since the Unix epoch.
    pub lost_ms: Option<i64>,
    /// Until when it ran its part, if it was told to end before the others.
    pub left_ms: Option<i64>,
    /// When it was lost and when it came back, or the run ended without it.
    pub gaps_ms: Vec<(i64, Option<i64>)>,
    pub end: Option<AgentEnd>,
    /// Samples that it took before it was restarted.
    pub before: u64,
    /// Its last second, with times by the coordinator's clock.
    pub second: Option<Arc<Second>>,
    /// The start of its run, and its verdict on its numbers.
    pub verdict: Option<(i64, Verdict)>,
}

/// A change of an agent's state that the user is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentNews {
    Suspected(u32),
    Lost(u32),
    Back(u32),
    /// It was told to end.
    Leaving(u32),
}

impl Agent {
    pub fn new(member: &Member, token: u64, now: Instant) -> Agent {
        Agent {
            name: member.name.clone(),
            weight: member.weight,
            is_joining: false,
            replaced_ms: None,
            token,
            state: AgentState::default(),
            heard: now,
            is_suspected: false,
            lost_ms: None,
            left_ms: None,
            gaps_ms: Vec::new(),
            end: None,
            before: 0,
            second: None,
            verdict: None,
        }
    }

    /// Its state, for display.
    pub fn phase(&self) -> AgentPhase {
        match self.state.stage {
            _ if self.is_done() => AgentPhase::Done,
            _ if self.is_lost() => AgentPhase::Lost,
            _ if self.is_suspected => AgentPhase::Silent,
            Stage::Running | Stage::AtEnd => AgentPhase::Running,
            _ => AgentPhase::Waiting,
        }
    }

    /// Takes a heartbeat. Returns news if the agent was lost before, or was told to end.
    pub fn hear(
        &mut self,
        index: u32,
        state: AgentState,
        now: Instant,
        now_ms: i64,
    ) -> Option<AgentNews> {
        if state.token != self.token {
            return None;
        }
        let leaves = state.is_leaving && self.left_ms.is_none() && state.stage < Stage::AtEnd;
        self.state = state;
        self.heard = now;
        self.is_suspected = false;
        if self.lost_ms.take().is_none() {
            return leaves.then_some(AgentNews::Leaving(index));
        }
        if let Some((_, back_ms)) = self.gaps_ms.last_mut() {
            *back_ms = Some(now_ms);
        }
        Some(AgentNews::Back(index))
    }

    /// Checks how long the agent has been silent.
    pub fn look(&mut self, index: u32, now: Instant, now_ms: i64) -> Option<AgentNews> {
        if self.is_done() || self.lost_ms.is_some() {
            return None;
        }
        let silence = now.saturating_duration_since(self.heard);
        if silence > LOST {
            self.lost_ms = Some(now_ms);
            // The gap begins when the agent was last heard.
            let from_ms = now_ms - silence.as_millis() as i64;
            self.gaps_ms.push((from_ms, None));
            return Some(AgentNews::Lost(index));
        }
        if silence > SUSPECTED && !std::mem::replace(&mut self.is_suspected, true) {
            return Some(AgentNews::Suspected(index));
        }
        None
    }

    /// How long it has been silent.
    pub fn silence(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.heard)
    }

    /// Whether it has delivered everything or cannot run the plan.
    pub fn is_done(&self) -> bool {
        matches!(self.state.stage, Stage::Delivered | Stage::Refused)
    }

    pub fn is_lost(&self) -> bool {
        self.lost_ms.is_some()
    }

    /// Whether it can take over users of others.
    pub fn can_adopt(&self) -> bool {
        !self.is_lost()
            && !self.is_joining
            && !self.state.is_leaving
            && self.state.stage < Stage::AtEnd
    }
}

/// The messages about slots that agents receive from others at a time.
pub fn takeovers(receipts: Vec<Receipt>, from_ms: i64, is_shared: bool) -> Vec<Takeover> {
    receipts
        .into_iter()
        .map(|receipt| Takeover {
            agent: receipt.machine as u32,
            period: receipt.slots.period(),
            remainders: receipt.slots.remainders().to_vec(),
            from_ms,
            is_shared,
        })
        .collect()
}

/// The slots of all agents at the start. There are enough of them to divide one agent's users among the others.
pub fn slots(shares: &[Share]) -> Vec<Slots> {
    shares.iter().map(|share| share.slots.clone()).collect()
}

/// Formats a time of day.
pub(super) fn clock_text(at_ms: i64) -> String {
    let seconds = at_ms.div_euclid(1000).rem_euclid(86_400);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    format!("{hours:02}:{minutes:02}:{:02} UTC", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member() -> Member {
        Member {
            name: "a".to_owned(),
            weight: 1,
        }
    }

    #[test]
    fn an_agent_is_suspected_then_lost_then_back() {
        let start = Instant::now();
        let mut agent = Agent::new(&member(), 7, start);
        let at = |seconds| start + Duration::from_secs(seconds);
        assert_eq!(agent.look(0, at(2), 2_000), None);
        assert_eq!(agent.look(0, at(4), 4_000), Some(AgentNews::Suspected(0)));
        assert_eq!(agent.look(0, at(5), 5_000), None, "it is told once");
        assert_eq!(agent.look(0, at(11), 11_000), Some(AgentNews::Lost(0)));
        assert_eq!(agent.look(0, at(12), 12_000), None);
        assert_eq!(agent.gaps_ms, [(0, None)]);
        let other = AgentState {
            token: 8,
            ..AgentState::default()
        };
        assert_eq!(
            agent.hear(0, other, at(13), 13_000),
            None,
            "that is another one"
        );
        let own = AgentState {
            token: 7,
            ..AgentState::default()
        };
        assert_eq!(
            agent.hear(0, own.clone(), at(15), 15_000),
            Some(AgentNews::Back(0))
        );
        assert_eq!(agent.gaps_ms, [(0, Some(15_000))]);
        assert_eq!(agent.hear(0, own, at(16), 16_000), None);
    }

    #[test]
    fn an_agent_that_has_delivered_is_not_lost() {
        let start = Instant::now();
        let mut agent = Agent::new(&member(), 0, start);
        agent.state.stage = Stage::Delivered;
        assert_eq!(agent.look(0, start + LOST * 9, 0), None);
    }
}
