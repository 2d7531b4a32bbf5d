//! Which user's call is running on a thread. A call in place has its user at hand. A call apart asks the thread of its user,
//! which lends the user out for as long as a question takes.

use std::cell::RefCell;
use std::ptr::null_mut;

use drumfire_engine::java::Visit;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

#[derive(Clone)]
enum Current {
    Here(*mut Visit<'static>),
    Apart(UnboundedSender<Question>),
}

/// A request of a call on another thread to the worker of its user.
pub type Question = Box<dyn FnOnce(&mut Visit<'_>) + Send>;

thread_local! {
    static CURRENT: RefCell<Current> = const { RefCell::new(Current::Here(null_mut())) };
}

/// Puts what was there before back, also when a call panics.
struct Back(Current);

impl Back {
    fn to_after(current: Current) -> Back {
        Back(CURRENT.replace(current))
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        CURRENT.set(self.0.clone());
    }
}

/// Lets Java code that `run` starts on this thread reach a visit.
pub fn during<R>(visit: &mut Visit<'_>, run: impl FnOnce() -> R) -> R {
    let own: *mut Visit<'_> = visit;
    let _back = Back::to_after(Current::Here(own.cast()));
    run()
}

/// The two ends of a call apart: for its own thread, and for the thread of its user.
pub fn line() -> (Line, UnboundedReceiver<Question>) {
    let (questions, asked) = unbounded_channel();
    (Line(questions), asked)
}

pub struct Line(UnboundedSender<Question>);

impl Line {
    /// Lets Java code that `run` starts on this thread ask for its user.
    pub fn during<R>(self, run: impl FnOnce() -> R) -> R {
        let _back = Back::to_after(Current::Apart(self.0));
        run()
    }
}

/// The visit of the call that is running on this thread, if it is in place.
pub fn here<R>(use_it: impl FnOnce(&mut Visit<'_>) -> R) -> Option<R> {
    let pointer = CURRENT.with_borrow(|current| match current {
        Current::Here(pointer) => *pointer,
        Current::Apart(_) => null_mut(),
    });
    if pointer.is_null() {
        return None;
    }
    // SAFETY: `during` holds the visit exclusively borrowed for as long as the pointer is set on this thread, and uses it for
    // nothing else. While `use_it` runs nothing else on this thread reads the pointer, except for Java code that `use_it`
    // itself starts, which runs in a `during` of its own.
    Some(use_it(unsafe { &mut *pointer }))
}

/// Does something with the visit of the call that is running on this thread; `None` if there is none, or if its user has
/// gone on without it.
pub fn visit<R: Send + 'static>(
    use_it: impl FnOnce(&mut Visit<'_>) -> R + Send + 'static,
) -> Option<R> {
    let apart = CURRENT.with_borrow(|current| match current {
        Current::Here(_) => None,
        Current::Apart(questions) => Some(questions.clone()),
    });
    let Some(questions) = apart else {
        return here(use_it);
    };
    let (answer, answered) = oneshot::channel();
    let question: Question = Box::new(move |visit| {
        // The one who asks waits for it.
        let _ = answer.send(use_it(visit));
    });
    questions.send(question).ok()?;
    answered.blocking_recv().ok()
}
