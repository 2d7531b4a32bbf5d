//! Ways in which an element ends its user outside of a sampler.

use crate::base::exception_text::ExceptionText;
use crate::run::context::{Context, StateId};
use crate::run::failures::Failed;
use crate::run::program::GroupKind;
use crate::run::view::PreProcessorView;

/// `JMeterThread#run`: an exception during the search for the next sampler ends the thread.
pub fn test_failed(cx: &mut Context, reason: &str) {
    tracing::error!("Test failed! {}: {reason}", cx.thread_name);
    note(cx, reason);
    cx.note_failure(Failed::User, None, reason);
    cx.facts.alive = false;
}

/// Records that the user ends earlier than the plan intends.
fn note(cx: &Context, reason: &str) {
    let group = cx.worker.program.groups.get(cx.group);
    let is_main = group.is_some_and(|group| group.kind == GroupKind::Main);
    let is_unused = cx.alive && is_main && cx.sample_number == 0;
    cx.shared.early.note_end(is_unused, reason);
}

/// Whether an evaluation threw. If one did, this ends the user.
fn ended_by_exception(cx: &mut Context) -> bool {
    match cx.take_raised() {
        None => false,
        Some(drumfire_expr::Raised::StopThread(reason)) => {
            stop_thread(cx, &reason);
            true
        }
        Some(raised) => {
            test_failed(cx, &raised.to_string());
            true
        }
    }
}

/// `JMeterStopThreadException` outside of a sampler.
fn stop_thread(cx: &mut Context, reason: &str) {
    tracing::info!(
        "Stop Thread seen for thread {}, reason: {reason}",
        cx.thread_name
    );
    note(cx, reason);
    cx.facts.alive = false;
}

impl PreProcessorView {
    /// See [`test_failed`].
    pub fn test_failed(&mut self, reason: &str) {
        test_failed(&mut self.user, reason);
    }

    /// See [`ended_by_exception`].
    pub fn ended_by_exception(&mut self) -> bool {
        ended_by_exception(&mut self.user)
    }

    /// `JMeterStopThreadException` outside of a sampler.
    pub fn stop_thread(&mut self, reason: &str) {
        stop_thread(&mut self.user, reason);
    }

    /// Evaluates with the variables a user starts with. Test beans that listen to iterations are prepared once, when their
    /// thread starts (`TestCompiler#trackIterationListeners`): they never see a variable that is set later.
    fn as_at_thread_start<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        let initial = self.user.shared.initial_vars();
        let now = std::mem::replace(self.vars_mut(), initial.clone());
        let value = evaluate(self);
        let after = std::mem::replace(self.vars_mut(), now);
        self.vars_mut().follow(&initial, &after); // what functions have set
        value
    }

    /// A listener's settings as it evaluates them when the thread starts, once for each user; `None` if that ends the user. Return them
    /// with [`View::put_state`].
    pub fn bound_once<T: 'static>(
        &mut self,
        state: StateId,
        bind: impl FnOnce(&mut Self) -> Result<T, ExceptionText>,
    ) -> Option<Box<T>> {
        if let Some(bound) = self.take_state(state) {
            return Some(bound);
        }
        match self.as_at_thread_start(bind) {
            Ok(_) if self.ended_by_exception() => None,
            Ok(bound) => Some(Box::new(bound)),
            Err(reason) => {
                self.test_failed(reason.as_ref());
                None
            }
        }
    }
}
