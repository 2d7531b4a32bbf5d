//! The order to end that an agent gets by a signal. During a run, the agent first hands everything over.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::member::Member;

/// An order to end. Its copies are the same one.
#[derive(Clone, Debug, Default)]
pub struct Leave(Arc<Mutex<LeaveState>>);

/// An agent's activity at a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentStanding {
    /// The run that it takes part in.
    pub run: Option<String>,
    /// Users that run.
    pub users: u64,
    /// Samples of the run so far.
    pub samples: u64,
    /// Messages with results that NATS does not have yet.
    pub undelivered: u64,
}

#[derive(Debug, Default)]
struct LeaveState {
    is_asked: bool,
    /// Whether the agent has accepted a part of a run that it has not delivered yet.
    is_busy: bool,
    member: Option<Arc<Member>>,
}

impl Leave {
    fn lock(&self) -> MutexGuard<'_, LeaveState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the agent to end. Returns whether the process must go on until the agent's part of a run is delivered.
    pub fn ask(&self) -> bool {
        let mut state = self.lock();
        state.is_asked = true;
        if let Some(member) = &state.member {
            member.leave();
        }
        state.is_busy
    }

    /// The agent's activity now.
    pub fn standing(&self) -> AgentStanding {
        let member = self.lock().member.clone();
        let Some(member) = member else {
            return AgentStanding::default();
        };
        let own = member.own();
        AgentStanding {
            run: Some(member.run.clone()),
            users: own.users.active,
            samples: own.samples,
            undelivered: member.spool.len() as u64,
        }
    }

    /// Interrupts the samples that users were finishing.
    pub fn hurry(&self) {
        if let Some(member) = &self.lock().member {
            member.control.stop_now();
        }
    }

    /// Whether the agent was told to end.
    pub fn is_asked(&self) -> bool {
        self.lock().is_asked
    }

    /// Notes that the agent is about to accept a part of a run; false if it must not, because it was told to end.
    pub(super) fn begin(&self) -> bool {
        let mut state = self.lock();
        state.is_busy = !state.is_asked;
        state.is_busy
    }

    /// Notes that the agent takes part in a run.
    pub(super) fn join(&self, member: &Arc<Member>) {
        let mut state = self.lock();
        state.member = Some(member.clone());
        if state.is_asked {
            member.leave();
        }
    }

    /// Notes that the agent's part of the run is delivered, or was never accepted.
    pub fn end(&self) {
        let mut state = self.lock();
        (state.is_busy, state.member) = (false, None);
    }
}
