//! Users and thread groups that scripts stop while the run goes on (`StandardJMeterEngine#stopThread`,
//! `AbstractThreadGroup#stop` and `#tellThreadsToStop`).

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

/// How a user is stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Halt {
    /// After the sample at hand (`JMeterThread#stop`).
    Finish,
    /// Interrupts the sample at hand, but no timer (`JMeterThread#interrupt`).
    BreakOff,
    /// Interrupts timers, too (`Thread#interrupt`).
    Now,
}

/// The orders of scripts so far in a run.
#[derive(Debug, Default)]
pub struct Orders {
    /// Whether there is any order. While there is none, users check only this flag.
    given: AtomicBool,
    state: Mutex<OrdersState>,
}

#[derive(Debug, Default)]
struct OrdersState {
    /// The order to each running user by thread name, if scripts may stop users by name.
    users: HashMap<Box<str>, Option<Halt>>,
    groups: HashMap<usize, Halt>,
    /// Wakes the waiting users of each worker.
    waiting: Vec<Arc<Notify>>,
}

impl Orders {
    fn state(&self) -> MutexGuard<'_, OrdersState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a worker, and returns the signal that wakes it when an order is given.
    pub fn join(&self) -> Arc<Notify> {
        let notify = Arc::new(Notify::new());
        self.state().waiting.push(notify.clone());
        notify
    }

    /// Records that a user starts, which scripts may then stop by its name.
    pub fn enter(&self, thread_name: &str) {
        self.state().users.insert(thread_name.into(), None);
    }

    /// Records that the user has ended.
    pub fn leave(&self, thread_name: &str) {
        self.state().users.remove(thread_name);
    }

    /// Stops a user; false if none of that name runs.
    pub fn stop_user(&self, thread_name: &str, halt: Halt) -> bool {
        let mut state = self.state();
        let Some(order) = state.users.get_mut(thread_name) else {
            return false;
        };
        *order = (*order).max(Some(halt));
        self.wake(&state);
        true
    }

    /// Stops all users of a thread group, and starts no others.
    pub fn stop_group(&self, group: usize, halt: Halt) {
        let mut state = self.state();
        let order = state.groups.entry(group).or_insert(halt);
        *order = (*order).max(halt);
        self.wake(&state);
    }

    fn wake(&self, state: &OrdersState) {
        self.given.store(true, Ordering::Release);
        for waiting in &state.waiting {
            waiting.notify_one();
        }
    }

    /// The stronger of the orders to a user and to its thread group.
    pub fn of(&self, group: usize, thread_name: &str) -> Option<Halt> {
        if !self.given.load(Ordering::Acquire) {
            return None;
        }
        let state = self.state();
        let own = state.users.get(thread_name).copied().flatten();
        own.max(state.groups.get(&group).copied())
    }

    /// Whether a thread group starts no more users.
    pub fn ends_group(&self, group: usize) -> bool {
        self.given.load(Ordering::Acquire) && self.state().groups.contains_key(&group)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_stopped_by_its_name_while_it_runs() {
        let orders = Orders::default();
        assert!(!orders.stop_user("g 1-1", Halt::Finish));
        orders.enter("g 1-1");
        assert_eq!(orders.of(0, "g 1-1"), None);
        assert!(orders.stop_user("g 1-1", Halt::Now));
        assert!(orders.stop_user("g 1-1", Halt::Finish));
        assert_eq!(orders.of(0, "g 1-1"), Some(Halt::Now));
        assert_eq!(orders.of(0, "g 1-2"), None);
        orders.leave("g 1-1");
        assert!(!orders.stop_user("g 1-1", Halt::Now));
    }

    #[test]
    fn a_group_is_stopped_with_all_its_users() {
        let orders = Orders::default();
        orders.stop_group(1, Halt::Finish);
        assert_eq!(orders.of(1, "h 1-1"), Some(Halt::Finish));
        assert_eq!((orders.ends_group(1), orders.ends_group(0)), (true, false));
        orders.stop_group(1, Halt::BreakOff);
        assert_eq!(orders.of(1, "h 1-1"), Some(Halt::BreakOff));
    }
}
