//! State of a user that few users or few moments need: limits on the sample at hand, and the samplers' own state.

use std::cell::OnceCell;
use std::time::Instant;

use crate::run::alarm::Wait;
use crate::run::context::Context;
use crate::run::slots::UserSlot;

/// The limits on a sample. Few users have any, and a box is smaller.
#[derive(Default)]
pub struct SampleLimits {
    /// Set if the sample reached a limit of an element. Its row then fails with this message.
    met: Option<String>,
    /// The times at which the sample is interrupted, if it is still running.
    interruptions: Vec<Instant>,
}

impl Context {
    /// Interrupts the sample at hand at this time, if it is still running.
    pub fn interrupt_at(&mut self, at: Instant) {
        self.limits.get_or_insert_default().interruptions.push(at);
    }

    /// Fails the row of the sample at hand because it reached a limit of an element.
    pub fn fail_by_limit(&mut self, message: String) {
        self.limits.get_or_insert_default().met = Some(message);
    }

    /// Takes the message of the limit that the sample at hand reached.
    pub(in crate::run) fn take_limit_met(&mut self) -> Option<String> {
        self.limits.as_mut()?.met.take()
    }

    /// Forgets the times at which the sample at hand is interrupted.
    pub(in crate::run) fn end_interruptions(&mut self) {
        if let Some(limits) = &mut self.limits {
            limits.interruptions.clear();
        }
    }

    pub(in crate::run) fn interruptions(&self) -> &[Instant] {
        self.limits
            .as_ref()
            .map_or(&[], |limits| &limits.interruptions)
    }

    /// The waits for the times at which Sample Timeouts interrupt the sample at hand, in order.
    pub fn sample_limits(&self) -> Vec<Wait> {
        let mut limits = self.interruptions().to_vec();
        limits.sort_unstable();
        let waits = limits.iter();
        waits.map(|at| self.worker.alarms.wait_until(*at)).collect()
    }

    /// The samplers' state of this user.
    pub fn slot(&self) -> &dyn UserSlot {
        &**self.slot.get_or_init(|| self.worker.slot.user())
    }

    /// The samplers' state of this user.
    pub fn slot_mut(&mut self) -> &mut dyn UserSlot {
        let worker = &self.worker;
        self.slot.get_or_init(|| worker.slot.user());
        let slot = self.slot.get_mut();
        &mut **slot.expect("it was opened by the line before")
    }

    /// The samplers' state of this user, if an element has used it.
    pub(in crate::run) fn opened_slot(&mut self) -> Option<&mut dyn UserSlot> {
        let slot = self.slot.get_mut()?;
        Some(&mut **slot)
    }

    /// Replaces the samplers' state of this user.
    pub(in crate::run) fn set_slot(&mut self, slot: Box<dyn UserSlot>) {
        self.slot = OnceCell::from(slot);
    }

    /// Tells the samplers' state that a sampler's turn begins. Without a state there is nothing to reset.
    pub(in crate::run) fn begin_slot_sample(&mut self, is_request: bool) {
        if is_request {
            self.slot_mut().begin_sample(true);
        } else if let Some(slot) = self.opened_slot() {
            slot.begin_sample(false);
        }
    }
}
