//! Wraps the elements of a plan that is debugged. Each reports its turns to the debugger, which may stop the user there.

use std::sync::Arc;

use drumfire_expr::Template;
use drumfire_results::{AssertionResult, Sample};

use crate::run::context::Context;
use crate::run::debug::{Debugger, ElementTurn, VariableValues, edit, values};
use crate::run::needs::Needs;
use crate::run::roles::{
    Act, AssertionRole, PostProcessorRole, PreProcessorRole, ResultScope, TimerRole,
};
use crate::run::view::{AssertionView, PostProcessorView, PreProcessorView, TimerView};

/// An element whose turns a debugger follows.
pub struct Watched<T: ?Sized> {
    pub inner: Arc<T>,
    pub turn: ElementTurn,
    pub debugger: Arc<dyn Debugger>,
}

/// Tells the debugger that an element is about to have its turn, and stops the user there if the debugger asks for it.
pub async fn enter(
    debugger: &dyn Debugger,
    turn: &ElementTurn,
    cx: &mut Context,
) -> VariableValues {
    let before = values(&cx.vars);
    let Some(wait) = debugger.before(&cx.thread_name, turn, &before) else {
        return before;
    };
    let worker = cx.worker.clone();
    let stop = worker.stop.notified();
    let edits = tokio::select! {
        edits = wait => edits.unwrap_or_default(),
        () = stop => return before,
    };
    edit(&mut cx.vars, edits);
    values(&cx.vars)
}

impl<T: ?Sized> Watched<T> {
    async fn enter(&self, cx: &mut Context) -> VariableValues {
        enter(&*self.debugger, &self.turn, cx).await
    }

    fn leave(&self, cx: &Context, before: &VariableValues) {
        let after = values(&cx.vars);
        self.debugger
            .after(&cx.thread_name, &self.turn, before, &after);
    }
}

impl PreProcessorRole for Watched<dyn PreProcessorRole> {
    fn turn<'a>(&'a self, cx: &'a mut PreProcessorView) -> Act<'a> {
        Act::wait(async move {
            let before = self.enter(&mut cx.user).await;
            self.inner.turn(cx).finish().await;
            self.leave(&cx.user, &before);
        })
    }
}

impl TimerRole for Watched<dyn TimerRole> {
    fn turn<'a>(&'a self, cx: &'a mut TimerView) -> Act<'a, i64> {
        Act::wait(async move {
            let before = self.enter(&mut cx.user).await;
            let delay_ms = self.inner.turn(cx).finish().await;
            self.leave(&cx.user, &before);
            delay_ms
        })
    }

    fn has_factor(&self) -> bool {
        self.inner.has_factor()
    }
}

impl PostProcessorRole for Watched<dyn PostProcessorRole> {
    fn turn<'a>(&'a self, cx: &'a mut PostProcessorView, sample: &'a mut Sample) -> Act<'a> {
        Act::wait(async move {
            let before = self.enter(&mut cx.user).await;
            self.inner.turn(cx, sample).finish().await;
            self.leave(&cx.user, &before);
        })
    }

    fn reads(&self) -> Needs {
        self.inner.reads()
    }
}

impl AssertionRole for Watched<dyn AssertionRole> {
    fn turn<'a>(
        &'a self,
        cx: &'a mut AssertionView,
        sample: &'a mut Sample,
    ) -> Act<'a, AssertionResult> {
        Act::wait(async move {
            let before = self.enter(&mut cx.user).await;
            let verdict = self.inner.turn(cx, sample).finish().await;
            self.leave(&cx.user, &before);
            verdict
        })
    }

    fn applies_to(&self, cx: &mut AssertionView) -> ResultScope {
        self.inner.applies_to(cx)
    }

    fn row_name(&self) -> &Template {
        self.inner.row_name()
    }

    fn reads(&self) -> Needs {
        self.inner.reads()
    }
}
