//! Critical Section Controller (`CriticalSectionController`): its children run while the user holds a named lock.
//!
//! The user takes the lock before the first child and releases it when the controller starts anew, is left early, or the user
//! ends. Where JMeter never releases it (the controller is empty, or an If Controller around it turns false meanwhile), the
//! user holds it until the user ends.

use std::sync::Arc;

use drumfire_expr::Template;

use super::{ControllerId, Extra, Flow, Step, Walk, Walker};
use crate::run::journey::Journey;
use crate::run::named_locks::{Held, NamedLock};

impl Walk {
    /// The lock that the user waits for, or holds, in a Critical Section Controller.
    pub fn lock(&self, id: ControllerId) -> Option<Arc<NamedLock>> {
        match &self.states[id as usize].extra {
            Extra::Critical(Some(held)) => Some(held.lock().clone()),
            _ => None,
        }
    }

    /// Releases the locks that the user still holds (`CriticalSectionController#threadFinished`).
    pub fn give_locks_back(&mut self, journey: &Journey) {
        for (state, controller) in self.states.iter_mut().zip(&journey.controllers) {
            let Extra::Critical(held) = &mut state.extra else {
                continue;
            };
            if let Some(held) = held.take()
                && held.is_locked()
            {
                tracing::warn!(
                    "Lock not released in: {}, releasing in threadFinished",
                    controller.name.source()
                );
            }
        }
    }
}

impl Walker<'_> {
    /// `CriticalSectionController#next`: the lock is taken before the first child.
    pub(super) fn pass_critical(&mut self, id: ControllerId, lock: &Template) -> Flow {
        let name = lock.eval(self.cx);
        if name.is_empty() {
            let controller = self.journey.controllers[id as usize].name.eval(self.cx);
            tracing::warn!(
                "Empty lock name in Critical Section Controller: {}",
                &*controller
            );
            return self.generic(id);
        }
        if !self.state(id).first {
            return self.generic(id);
        }
        lock.repeat(self.cx, 1); // getOrCreateLock asks again
        let user = self.cx.lock_user;
        let known = match &self.walk.states[id as usize].extra {
            Extra::Critical(Some(held)) => Some(held.lock().clone()),
            _ => None,
        };
        let lock = known.unwrap_or_else(|| self.cx.shared.locks.get(&name));
        let taken = lock.try_take(user);
        if let Extra::Critical(held @ None) = &mut self.state(id).extra {
            *held = Some(Held::new(lock, user));
        }
        if taken {
            return self.generic(id);
        }
        self.state(id).paused = true;
        Flow::Give(Some(Step::Lock(id)))
    }
}
