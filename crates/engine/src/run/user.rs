//! One virtual user, from its start to its end (`JMeterThread#run`).

use std::rc::Rc;
use std::sync::Arc;

use tokio::task::coop::consume_budget;

use crate::run::action::Action;
use crate::run::action::OnError;
use crate::run::context::{Context, Identity};
use crate::run::controllers::ControllerKind;
use crate::run::held::HeldAt;
use crate::run::java::plan::JavaEvent;
use crate::run::journey::{BoundPlan, Journey};
use crate::run::program::GroupKind;
use crate::run::sample;
use crate::run::schedule::Shape;
use crate::run::shared::Shared;
use crate::run::step::{ControllerId, Step};
use crate::run::thread_end;
use crate::run::view::View;
use crate::run::walk::{Walk, Walker};
use crate::run::worker::Worker;

pub struct User {
    pub cx: Context,
    pub walk: Walk,
    plan: WorkerPlan,
}

/// The plan, shared by the users of one worker. The worker's own refcount costs less than one that all cores contend for.
pub type WorkerPlan = Rc<Arc<BoundPlan>>;

/// The journey of a user, for as long as a step takes.
pub struct JourneyRef(WorkerPlan, usize);

impl std::ops::Deref for JourneyRef {
    type Target = Journey;
    fn deref(&self) -> &Journey {
        &self.0.journeys[self.1]
    }
}

impl User {
    pub fn new(
        shared: &Arc<Shared>,
        worker: &Rc<Worker>,
        plan: &WorkerPlan,
        identity: Identity,
    ) -> User {
        let walk = Walk::new(&plan.journeys[identity.group]);
        User {
            cx: Context::new(shared, worker, identity),
            walk,
            plan: plan.clone(),
        }
    }

    pub fn plan(&self) -> &WorkerPlan {
        &self.plan
    }

    pub fn journey(&self) -> JourneyRef {
        JourneyRef(self.plan.clone(), self.cx.group)
    }

    pub(crate) fn walker<'a>(&'a mut self, journey: &'a Journey) -> Walker<'a> {
        Walker {
            journey,
            cx: &mut self.cx,
            walk: &mut self.walk,
        }
    }

    /// Runs until the group's loop is done or the run is told to stop.
    pub async fn run(&mut self) {
        let journey = self.journey();
        if self.cx.shared.program.groups[self.cx.group].kind == GroupKind::Main {
            let debugging = &self.cx.shared.program.settings.debugging;
            if let Some(debugger) = debugging.debugger()
                && !debugger.follows(self.cx.number + 1)
            {
                return;
            }
            self.cx.shared.early.note_start();
        }
        self.cx.tell_java(&journey.java, JavaEvent::ThreadStarted);
        self.cx.set_last_sample_ok(true);
        self.prepare_transactions(&journey);
        self.walker(&journey).initialize(0);
        while self.cx.running() {
            let mut step = self.walker(&journey).next(0);
            while let Some(current) = step {
                if !self.cx.running() {
                    break;
                }
                self.process(current, None).await;
                let restart = self.cx.on_error == OnError::StartNextLoop && !self.cx.last_sample_ok;
                let action = std::mem::take(&mut self.cx.action);
                if restart || action != Action::Continue {
                    let action = if restart {
                        Action::NextThreadIteration
                    } else {
                        action
                    };
                    Box::pin(self.jump(&journey, current, action)).await;
                    step = None;
                    self.cx.set_last_sample_ok(true);
                } else {
                    step = self.walker(&journey).next(0);
                }
            }
            if self.walker(&journey).root_is_done() {
                break;
            }
            let is_left = self.walker(&journey).is_root_left();
            if !is_left && !Box::pin(self.arrive_again()).await {
                break;
            }
        }
        self.note_end();
        self.cx.tell_java(&journey.java, JavaEvent::ThreadFinished);
        self.walk.give_locks_back(&journey);
    }

    /// `TestCompiler#saveTransactionControllerConfigs` makes a sampler of each transaction's name when a user starts.
    fn prepare_transactions(&mut self, journey: &Journey) {
        for controller in &journey.controllers {
            if matches!(controller.kind, ControllerKind::Transaction { .. }) {
                controller.name.repeat(&mut self.cx, 1);
            }
        }
    }

    /// Records how far the user came, and what held it beyond the planned end of its thread group.
    fn note_end(&self) {
        let shared = &self.cx.shared;
        if shared.program.groups[self.cx.group].kind != GroupKind::Main {
            return;
        }
        let Some(sampler) = self.cx.sampler else {
            return;
        };
        if !self.cx.is_in_timers {
            shared.early.note_reached();
        }
        let place = HeldAt {
            group: self.cx.group,
            sampler,
            is_in_timers: self.cx.is_in_timers,
        };
        shared.overruns.note(place, self.cx.clock().now_ms());
    }

    /// In an Arrivals Thread Group, waits for the next arrival (`ArrivalsThreadGroup#movedToPool`); false if none comes.
    async fn arrive_again(&mut self) -> bool {
        if !matches!(self.cx.shared.shape(self.cx.group), Shape::Arrivals(_))
            || self.cx.limit_reached()
        {
            return true;
        }
        let stop = self.cx.worker.stop.notified();
        if !self.cx.running() {
            return false;
        }
        let Some(released) = self.cx.shared.supplies[self.cx.group].wait_for_arrival() else {
            return false;
        };
        self.cx.shared.counts.rest(self.cx.group);
        let arrival = tokio::select! {
            released = released => released.ok(),
            () = stop => None,
        };
        self.cx.shared.counts.wake(self.cx.group);
        self.cx.arrival = arrival;
        arrival.is_some()
    }

    /// Takes one step (`JMeterThread#processSampler`).
    pub(crate) async fn process(&mut self, step: Step, outer: Option<ControllerId>) {
        // Without this, a user whose samplers never wait would starve the worker's other users.
        consume_budget().await;
        match step {
            Step::Overflow => self.overflow(),
            Step::Lock(id) => Box::pin(self.take_lock(id)).await,
            Step::Tell(id) => Box::pin(self.tell(id)).await,
            Step::Sampler(sampler) => sample::sample(self, sampler, outer).await,
            Step::Transaction(id) => Box::pin(self.process_transaction(id, outer)).await,
        }
        if let Some(end_ms) = self.cx.end_ms
            && self.cx.clock().now_ms() >= end_ms
        {
            self.cx.facts.alive = false;
        }
    }

    /// `JMeterThread#run` does not catch a `StackOverflowError`: the thread ends, the test goes on.
    fn overflow(&mut self) {
        tracing::error!(
            "Uncaught exception in thread {}: no controller finds a sampler however often it is asked (JMeter: java.lang.StackOverflowError)",
            self.cx.thread_name
        );
        self.cx.end_by_error("java.lang.StackOverflowError");
    }

    /// Waits for the lock of a Critical Section Controller, unless the run is told to stop.
    async fn take_lock(&mut self, id: ControllerId) {
        let Some(lock) = self.walk.lock(id) else {
            return;
        };
        let stop = self.cx.worker.stop.notified();
        if !self.cx.running() {
            return;
        }
        tokio::select! {
            () = lock.take(self.cx.lock_user) => {}
            () = stop => {}
        }
    }

    /// Lets the data source that the walk waits for provide its row.
    async fn tell(&mut self, id: ControllerId) {
        let journey = self.journey();
        if let Some(source) = self.walk.told_now(&journey, id) {
            source.turn(View::of(&mut self.cx)).finish().await;
        }
    }

    async fn process_transaction(&mut self, id: ControllerId, outer: Option<ControllerId>) {
        let Some(run) = self.walk.parent_transaction(id) else {
            return;
        };
        let inner = run.step();
        if !run.is_done()
            && let Some(inner) = inner
        {
            self.process(inner, Some(id)).await;
        }
        let running = self.cx.running();
        let Some(run) = self.walk.parent_transaction(id) else {
            return;
        };
        if run.is_done() || !running {
            sample::tell_transaction(self, id, outer).await;
        }
    }

    /// Carries out an action on the controllers around a step (`JMeterThread#triggerLoopLogicalActionOnParentControllers`).
    pub(crate) async fn jump(&mut self, journey: &Journey, step: Step, action: Action) {
        let Some(ancestors) = self.real_sampler_ancestors(journey, step) else {
            if let Step::Transaction(id) = step {
                let name = journey.controllers[id as usize].name.eval(&mut self.cx);
                let reason = format!(
                    "the transaction `{name}` was over when the next iteration was to start (JMeter: java.lang.IllegalStateException: Got null subSampler calling findRealSampler)"
                );
                thread_end::test_failed(&mut self.cx, &reason);
            }
            return;
        };
        // In a child of a Parallel Controller, the action does not reach the controllers above it.
        let root = self.cx.branch.as_ref().map_or(0, |branch| branch.root);
        let mut walker = self.walker(journey);
        for id in ancestors {
            let iterating = walker.is_iterating(id);
            match action {
                Action::BreakLoop if iterating => {
                    walker.break_loop(id);
                    break;
                }
                Action::NextLoopIteration if iterating => {
                    walker.start_next_loop(id);
                    break;
                }
                _ if id == 0 => walker.start_next_loop(id),
                _ => walker.trigger_end_of_loop(id),
            }
            if id == root {
                break;
            }
        }
        // `JMeterThread` passes the transaction to its listeners even if it goes on, and again at its end.
        if let Step::Transaction(outermost) = step {
            sample::tell_transaction(self, outermost, None).await;
        }
        self.walk.forget_ended();
    }

    fn real_sampler_ancestors(
        &mut self,
        journey: &Journey,
        mut step: Step,
    ) -> Option<Vec<ControllerId>> {
        loop {
            match step {
                Step::Sampler(sampler) => {
                    return Some(journey.samplers[sampler as usize].ancestors.clone());
                }
                Step::Transaction(id) => step = self.walk.parent_transaction(id)?.step()?,
                Step::Overflow | Step::Lock(_) | Step::Tell(_) => return None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn future_size<F: Future>(_: impl FnOnce(&'static mut User) -> F) -> usize {
        size_of::<F>()
    }

    /// These sizes determine the memory that a hundred thousand waiting users need.
    #[test]
    fn a_user_that_waits_is_small() {
        let sizes = (size_of::<User>(), future_size(User::run));
        assert!(sizes.0 + sizes.1 <= 872, "{sizes:?}");
    }
}
