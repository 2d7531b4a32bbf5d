//! Hands the users that the Java object of a thread group starts to the workers.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use crate::run::java::plan::JavaUser;

#[derive(Default)]
pub struct JavaSupply {
    workers: Mutex<Workers>,
    /// The reason why the object failed.
    fault: OnceLock<String>,
}

#[derive(Default)]
struct Workers {
    inlets: Vec<UnboundedSender<JavaUser>>,
    /// How many users have been handed out.
    handed_out: usize,
}

impl JavaSupply {
    fn workers(&self) -> MutexGuard<'_, Workers> {
        self.workers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a worker, which takes users until the group has ended.
    pub fn join(&self) -> UnboundedReceiver<JavaUser> {
        let (inlet, users) = unbounded_channel();
        self.workers().inlets.push(inlet);
        users
    }

    /// How many workers take users.
    pub fn joined(&self) -> usize {
        self.workers().inlets.len()
    }

    /// Hands a user to the worker whose turn it is; false if none takes users any more.
    pub fn start(&self, user: JavaUser) -> bool {
        let mut workers = self.workers();
        let count = workers.inlets.len();
        if count == 0 {
            return false;
        }
        workers.handed_out += 1;
        let turn = (workers.handed_out - 1) % count;
        workers.inlets[turn].send(user).is_ok()
    }

    /// Records that the group has ended, so that no user starts any more.
    pub fn end(&self, fault: Option<String>) {
        self.workers().inlets.clear();
        if let Some(fault) = fault {
            // A group ends once.
            let _ = self.fault.set(fault);
        }
    }

    /// The reason why the object failed, if it did.
    pub fn fault(&self) -> Option<String> {
        self.fault.get().cloned()
    }
}
