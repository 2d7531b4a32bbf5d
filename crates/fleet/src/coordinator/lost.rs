//! The course of a run when agents are silent, lost, or back.

use super::Coordinator;
use super::watch::{self, News, OnLost, clock_text};

impl Coordinator<'_, '_, '_> {
    pub(super) fn react(&mut self, news: &News) {
        let now_ms = self.clock.now_ms();
        match *news {
            News::Suspected(index) => {
                let name = self.name(index);
                let seconds = watch::SUSPECTED.as_secs();
                self.warn(format!("agent `{name}` has been silent for {seconds} s"));
            }
            News::Back(index) => {
                let name = self.name(index);
                self.merger.set_over(index, false);
                self.mark(now_ms, format!("agent `{name}` is back"));
                self.warn(format!("agent `{name}` is back at {}", clock_text(now_ms)));
            }
            News::Lost(index) => self.lose(index, now_ms),
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
                let alive: Vec<u32> = (0..)
                    .zip(&self.agents)
                    .filter(|(_, agent)| !agent.is_lost() && !agent.is_done())
                    .map(|(index, _)| index)
                    .collect();
                let takeovers = watch::redistribute(&mut self.owned, index, &alive, now_ms);
                let taken: Vec<String> = takeovers.iter().map(|to| self.name(to.agent)).collect();
                self.state.takeovers.extend(takeovers);
                self.state.fenced.push(self.agents[index as usize].token);
                format!("its users go to `{}`", taken.join("`, `"))
            }
        };
        if self.state.start_ms.is_none() {
            self.control.shutdown_soon();
            then = "the run ends, since it has not started".to_owned();
        }
        self.mark(now_ms, format!("agent `{name}` lost"));
        self.warn(format!(
            "agent `{name}` lost at {}, {users} users; {then}",
            clock_text(now_ms)
        ));
    }
}
