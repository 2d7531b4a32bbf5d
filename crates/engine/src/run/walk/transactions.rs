//! How the walk passes through Transaction Controllers. Their sums are in `transaction.rs`.

use std::rc::Rc;

use super::{ControllerId, Extra, Flow, Step, Walker};
use crate::run::transaction::{IndependentTransaction, ParentTransaction};

impl Walker<'_> {
    /// `TransactionController#nextWithTransactionSampler`.
    pub(super) fn next_with_parent(&mut self, id: ControllerId) -> Option<Step> {
        if let Extra::Parent(run) = &self.state(id).extra
            && run.is_done()
        {
            self.state(id).extra = Extra::None;
            return None;
        }
        if self.begins(id) {
            let (name, start_ms) = self.name_and_start(id);
            let held = self.cx.worker.recorder.borrow().held_turns();
            let thread_name = self.cx.thread_name.clone();
            let run = ParentTransaction::start(name, thread_name, start_ms, held);
            self.state(id).extra = Extra::Parent(Box::new(run));
        }
        // Not `next`: a parent transaction asks `GenericController#next` again, never its own.
        let inner = loop {
            match self.generic(id) {
                Flow::Give(step) => break step,
                Flow::Again => {}
            }
        };
        if inner.is_some_and(Step::is_pause) {
            return inner;
        }
        let end_ms = self.cx.clock().now_ms();
        let include_timers = self.journey.controllers[id as usize].includes_timers();
        if let Extra::Parent(run) = &mut self.state(id).extra {
            run.set_step(inner, include_timers, end_ms);
        }
        Some(Step::Transaction(id))
    }

    /// `TransactionController#nextWithoutTransactionSampler`.
    pub(super) fn pass_without_parent(&mut self, id: ControllerId) -> Flow {
        if self.begins(id) {
            let (name, start_ms) = self.name_and_start(id);
            if !matches!(self.state(id).extra, Extra::Independent(_)) {
                self.walk.open_transactions.push(id);
            }
            self.state(id).extra =
                Extra::Independent(Box::new(IndependentTransaction::start(name, start_ms)));
        }
        let is_last = self.state(id).current as usize == self.child_count(id);
        let flow = self.generic(id);
        match flow {
            Flow::Give(None) if is_last => self.end_independent(id, false),
            Flow::Give(Some(step)) if step.is_pause() => {}
            Flow::Give(step) => self.count_call(id, step.is_some()),
            Flow::Again => {
                if let Some(run) = self.state(id).independent() {
                    run.count_descent();
                }
            }
        }
        flow
    }

    /// Whether a run of the transaction starts with the pass at hand.
    fn begins(&mut self, id: ControllerId) -> bool {
        let state = self.state(id);
        state.first && state.told == 0
    }

    /// The name of a run that starts now, and the time in milliseconds since the Unix epoch.
    fn name_and_start(&mut self, id: ControllerId) -> (Rc<str>, i64) {
        let name = &self.journey.controllers[id as usize].name;
        let name = name.eval(self.cx).into_value();
        (name, self.cx.clock().now_ms())
    }

    pub(super) fn count_call(&mut self, id: ControllerId, found: bool) {
        if let Some(run) = self.state(id).independent() {
            run.count_call(found);
        }
    }

    pub(super) fn end_independent(&mut self, id: ControllerId, early: bool) {
        let Extra::Independent(run) = std::mem::take(&mut self.state(id).extra) else {
            return;
        };
        self.walk.open_transactions.retain(|open| *open != id);
        let include_timers = self.journey.controllers[id as usize].includes_timers();
        let end_ms = self.cx.clock().now_ms();
        let last_ok = early.then_some(self.cx.last_sample_ok);
        let sample = run.finish(end_ms, include_timers, last_ok);
        crate::run::listen::notify_independent_transaction(self.journey, self.cx, sample);
    }

    /// Drops a transaction as if it had not begun.
    pub(super) fn forget_independent(&mut self, id: ControllerId) {
        if let Extra::Independent(_) = &self.state(id).extra {
            self.state(id).extra = Extra::None;
            self.walk.open_transactions.retain(|open| *open != id);
        }
    }

    pub(super) fn end_parent(&mut self, id: ControllerId) {
        let Extra::Parent(mut run) = std::mem::take(&mut self.state(id).extra) else {
            return;
        };
        if let Some(Step::Transaction(inner)) = run.step()
            && let Some(inner) = self.walk.parent_transaction(inner)
            && let Some((result, turns)) = inner.take_result()
            && !run.add(*result, turns)
        {
            self.cx.worker.recorder.borrow().turns().skip(turns);
        }
        let end_ms = self.cx.clock().now_ms();
        let include_timers = self.journey.controllers[id as usize].includes_timers();
        run.set_done(include_timers, end_ms);
        self.state(id).extra = Extra::Ended(run);
    }
}
