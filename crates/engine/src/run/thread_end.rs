//! Ways in which an element ends its user outside of a sampler.

use crate::base::exception_text::ExceptionText;
use crate::run::context::{Context, StateId};
use crate::run::failures::Failed;
use crate::run::program::GroupKind;

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
pub fn ended_by_exception(cx: &mut Context) -> bool {
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
pub fn stop_thread(cx: &mut Context, reason: &str) {
    tracing::info!(
        "Stop Thread seen for thread {}, reason: {reason}",
        cx.thread_name
    );
    note(cx, reason);
    cx.facts.alive = false;
}

/// Evaluates with the variables a user starts with. Test beans that listen to iterations are prepared once, when their
/// thread starts (`TestCompiler#trackIterationListeners`): they never see a variable that is set later.
fn as_at_thread_start<T>(cx: &mut Context, evaluate: impl FnOnce(&mut Context) -> T) -> T {
    let initial = cx.shared.initial_vars();
    let now = std::mem::replace(&mut cx.vars, initial.clone());
    let value = evaluate(cx);
    let after = std::mem::replace(&mut cx.vars, now);
    cx.vars.follow(&initial, &after); // what functions have set
    value
}

/// A listener's settings as [`as_at_thread_start`] evaluates them, once for each user; `None` if that ends the user. Return
/// them with [`Context::put_state`].
pub fn bound_once<T: 'static>(
    cx: &mut Context,
    state: StateId,
    bind: impl FnOnce(&mut Context) -> Result<T, ExceptionText>,
) -> Option<Box<T>> {
    if let Some(bound) = cx.take_state(state) {
        return Some(bound);
    }
    match as_at_thread_start(cx, bind) {
        Ok(_) if ended_by_exception(cx) => None,
        Ok(bound) => Some(Box::new(bound)),
        Err(reason) => {
            test_failed(cx, reason.as_ref());
            None
        }
    }
}
