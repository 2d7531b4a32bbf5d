//! Reacts when agents are silent, lost, back, or told to end.

use drumfire_platform::words::counted;

use super::watch::{self, AgentNews, OnLost, clock_text};
use super::{Coordinator, HEARTBEAT};

impl Coordinator<'_, '_, '_> {
    pub(super) fn react(&mut self, news: &AgentNews) {
        let now_ms = self.clock.now_ms();
        match *news {
            AgentNews::Suspected(index) => {
                let name = self.name(index);
                let seconds = watch::SUSPECTED.as_secs();
                self.warn(format!("agent `{name}` has been silent for {seconds} s"));
            }
            AgentNews::Back(index) => {
                let name = self.name(index);
                self.merger.set_over(index, false);
                self.mark(now_ms, format!("agent `{name}` is back"));
                self.warn(format!("agent `{name}` is back at {}", clock_text(now_ms)));
            }
            AgentNews::Lost(index) => self.lose(index, now_ms),
            AgentNews::Leaving(index) => self.release(index, now_ms),
        }
    }

    pub(super) fn lose(&mut self, index: u32, now_ms: i64) {
        let name = self.name(index);
        let users = self.users[index as usize].active;
        self.merger.set_over(index, true);
        let mut then = match self.order.on_lost {
            OnLost::Continue => "the others go on".to_owned(),
            OnLost::Stop => {
                self.control.shutdown_soon();
                "the run ends".to_owned()
            }
            OnLost::Redistribute => {
                let taken = self.hand_over(index, now_ms);
                self.state.fenced.push(self.agents[index as usize].token);
                format!("its users go to {taken}")
            }
        };
        self.pass_tear_down_on(index);
        if self.state.start_ms.is_none() {
            self.control.shutdown_soon();
            then = "the run ends, since it has not started".to_owned();
        }
        self.mark(now_ms, format!("agent `{name}` lost"));
        let heard_ms = self.agents[index as usize]
            .gaps_ms
            .last()
            .map(|(from_ms, _)| *from_ms)
            .unwrap_or(now_ms);
        let missing = self.undelivered(index as usize, heard_ms);
        let silent_s = (now_ms - heard_ms) as f64 / 1000.0;
        self.warn(format!(
            "agent `{name}` lost at {}, {}, {missing}; {then} after {silent_s:.0} s",
            clock_text(heard_ms),
            counted(users, "user")
        ));
    }

    /// Gives the users of an agent to the others from a time on. Returns the names of those that take some.
    fn hand_over(&mut self, index: u32, from_ms: i64) -> String {
        let weights = self.weights(|other, agent| other != index && agent.can_adopt());
        let users = self.planned_users();
        let receipts = self.division(&weights).hand_over(index as usize, &users);
        let takeovers = watch::takeovers(receipts, from_ms, false);
        let taken: Vec<String> = takeovers.iter().map(|to| self.name(to.agent)).collect();
        self.state.takeovers.extend(takeovers);
        if taken.is_empty() {
            "nobody, since no agent is left".to_owned()
        } else {
            format!("`{}`", taken.join("`, `"))
        }
    }

    /// Lets another agent run the tearDown thread groups, if this one was to.
    fn pass_tear_down_on(&mut self, index: u32) {
        if self.state.tear_down_by != index {
            return;
        }
        let next = self.agents.iter().position(|agent| agent.can_adopt());
        self.state.tear_down_by = next.map(|next| next as u32).unwrap_or(index);
    }

    /// Lets an agent go that was told to end. It delivers everything that it has measured.
    fn release(&mut self, index: u32, now_ms: i64) {
        let name = self.name(index);
        let users = self.agents[index as usize].state.users.active;
        let mut until_ms = now_ms;
        let mut then = match self.order.on_lost {
            OnLost::Continue => "the others go on".to_owned(),
            OnLost::Stop => {
                self.control.shutdown_soon();
                "the run ends".to_owned()
            }
            OnLost::Redistribute => {
                let leaves_ms = self.agents[index as usize].state.leaves_ms;
                until_ms = leaves_ms.unwrap_or(now_ms);
                let taken = self.hand_over(index, until_ms);
                format!("its users go to {taken}")
            }
        };
        self.pass_tear_down_on(index);
        if self.state.start_ms.is_none() {
            self.control.shutdown_soon();
            then = "the run ends, since it has not started".to_owned();
        }
        let agent = &mut self.agents[index as usize];
        agent.left_ms = Some(until_ms);
        self.state.leaving.push((agent.token, until_ms));
        self.mark(now_ms, format!("agent `{name}` was told to end"));
        self.warn(format!(
            "agent `{name}` was told to end at {}, {}; it delivers what it has measured; {then}",
            clock_text(now_ms),
            counted(users, "user")
        ));
    }

    /// Describes the measurements that an agent had not delivered when it was last heard.
    fn undelivered(&self, index: usize, heard_ms: i64) -> String {
        let agent = &self.agents[index];
        let delivered = self.merger.samples().get(index).copied().unwrap_or(0);
        let samples = (agent.before + agent.state.samples).saturating_sub(delivered);
        let from_ms = self.state.start_ms.unwrap_or(heard_ms);
        let told_ms = agent
            .second
            .as_ref()
            .map(|second| self.started_ms.saturating_add_unsigned(second.to_ms))
            .unwrap_or(from_ms);
        // It may have been alive until just before its next heartbeat.
        let missing_s = (heard_ms - told_ms).max(0) as f64 / 1000.0 + HEARTBEAT.as_secs_f64();
        match samples {
            0 => format!("up to {missing_s:.1} s of its data"),
            samples => format!(
                "up to {missing_s:.1} s of its data, {} or more",
                counted(samples, "sample")
            ),
        }
    }
}
