//! Which user's call is running on a thread. A call in place uses its user's visit directly. A call apart, on another thread,
//! asks the thread of its user, which lends the visit for the time of each question.
//!
//! Threads that Java code starts belong to no call. While a call of their user is running, they reach the user through its
//! [`Line`]. If the call is in place, they use the visit whenever the call's own thread does not; if it is apart, they ask
//! questions as the call does.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};

use drumfire_engine::java::Visit;

use crate::user_link::UserLink;

#[derive(Clone)]
enum Current {
    /// The visit, and the line over which other threads reach it, if there is one.
    Here(*mut Visit<'static>, *const Line),
    Apart(Arc<UserLink>),
}

thread_local! {
    static CURRENT: RefCell<Current> = const { RefCell::new(Current::Here(null_mut(), null())) };
    /// The line whose visit this thread is using.
    static HELD: Cell<*const Line> = const { Cell::new(null()) };
    /// The lines that this thread has joined, innermost last, with what was current before.
    static JOINED: RefCell<Vec<Joined>> = const { RefCell::new(Vec::new()) };
}

/// How threads that belong to no call reach one user.
pub struct Line {
    number: u64,
    state: Mutex<CallState>,
    freed: Condvar,
}

#[derive(Default)]
struct CallState {
    call: Option<RunningCall>,
    /// Whether a thread is using the visit.
    is_taken: bool,
    /// The number of threads that wait for it.
    waiting: u32,
}

/// The call of a user that is running.
#[derive(Clone)]
enum RunningCall {
    Here(Pointer),
    Apart(Arc<UserLink>),
}

#[derive(Clone, Copy)]
struct Pointer(*mut Visit<'static>);

// SAFETY: only a thread that has taken the line uses the pointer. The thread of the call itself takes the line for each use, too,
// and is in Java code, away from the engine, whenever another thread has it.
unsafe impl Send for Pointer {}

static LINES: Mutex<Option<HashMap<u64, Weak<Line>>>> = Mutex::new(None);
static NEXT: AtomicU64 = AtomicU64::new(1);

fn lines<R>(use_them: impl FnOnce(&mut HashMap<u64, Weak<Line>>) -> R) -> R {
    let mut lines = LINES.lock().unwrap_or_else(PoisonError::into_inner);
    use_them(lines.get_or_insert_default())
}

impl Line {
    pub fn new() -> Arc<Line> {
        let line = Arc::new(Line {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            state: Mutex::default(),
            freed: Condvar::new(),
        });
        lines(|lines| lines.insert(line.number, Arc::downgrade(&line)));
        line
    }

    /// The number by which Java knows it.
    pub fn number(&self) -> u64 {
        self.number
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self) {
        let mut state = self.state();
        while state.is_taken {
            state.waiting += 1;
            state = self
                .freed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.is_taken = true;
    }

    fn give_back(&self) {
        let mut state = self.state();
        state.is_taken = false;
        let has_waiting = state.waiting > 0;
        drop(state);
        if has_waiting {
            self.freed.notify_one();
        }
    }

    /// Sets the running call; returns the one before.
    fn turn_to(&self, call: Option<RunningCall>) -> Option<RunningCall> {
        std::mem::replace(&mut self.state().call, call)
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        lines(|lines| lines.remove(&self.number));
    }
}

/// Holds a line until it is dropped.
struct Hold {
    line: *const Line,
    before: *const Line,
}

impl Hold {
    fn of(line: *const Line) -> Hold {
        // SAFETY: a line that is current on a thread lives for as long as the call that made it current.
        if let Some(line) = unsafe { line.as_ref() } {
            line.take();
        }
        Hold {
            line,
            before: HELD.replace(line),
        }
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        HELD.set(self.before);
        // SAFETY: as when it was taken; the call has not ended.
        if let Some(line) = unsafe { self.line.as_ref() } {
            line.give_back();
        }
    }
}

/// Restores the state before a call, even if the call panics.
struct Back<'l> {
    current: Current,
    line: Option<&'l Line>,
    call: Option<RunningCall>,
    /// The line that this thread had when the call began.
    held: *const Line,
}

impl<'l> Back<'l> {
    fn to_after(current: Current, line: Option<&'l Arc<Line>>) -> Back<'l> {
        let line = line.map(|line| &**line);
        let call = match &current {
            Current::Here(visit, _) => RunningCall::Here(Pointer(visit.cast())),
            Current::Apart(far) => RunningCall::Apart(far.clone()),
        };
        let call = line.and_then(|line| line.turn_to(Some(call)));
        let held = HELD.replace(null());
        // SAFETY: this thread has the line, so it lives. The inner call uses the user through the new visit.
        if let Some(held) = unsafe { held.as_ref() } {
            held.give_back();
        }
        Back {
            current: CURRENT.replace(current),
            line,
            call,
            held,
        }
    }
}

impl Drop for Back<'_> {
    fn drop(&mut self) {
        CURRENT.set(self.current.clone());
        if let Some(line) = self.line {
            // The thread that uses the visit now finishes with it first.
            line.take();
            line.turn_to(self.call.take());
            line.give_back();
        }
        // SAFETY: as when it was given back.
        if let Some(held) = unsafe { self.held.as_ref() } {
            held.take();
        }
        HELD.set(self.held);
    }
}

/// Lets Java code that `run` starts on this thread use a visit, and other threads use it over the user's line.
pub fn during<R>(visit: &mut Visit<'_>, line: Option<&Arc<Line>>, run: impl FnOnce() -> R) -> R {
    let own: *mut Visit<'_> = visit;
    let of = line.map(Arc::as_ptr).unwrap_or(null());
    let _back = Back::to_after(Current::Here(own.cast(), of), line);
    run()
}

/// Lets Java code that `run` starts on this thread, which is not the user's, ask questions of the user; so can other threads over
/// the user's line.
pub fn during_apart<R>(far: Arc<UserLink>, line: &Arc<Line>, run: impl FnOnce() -> R) -> R {
    let _back = Back::to_after(Current::Apart(far), Some(line));
    run()
}

/// Uses the visit of the call that is running on this thread, if it is in place.
pub fn here<R>(use_it: impl FnOnce(&mut Visit<'_>) -> R) -> Option<R> {
    let (pointer, line) = CURRENT.with_borrow(|current| match current {
        Current::Here(pointer, line) => (*pointer, *line),
        Current::Apart(_) => (null_mut(), null()),
    });
    if pointer.is_null() {
        return None;
    }
    let _hold = Hold::of(line);
    // SAFETY: `during` holds the visit exclusively borrowed for as long as the pointer is set on this thread, and uses it for
    // nothing else. While `use_it` runs nothing else reads the pointer: other threads wait for the line, and on this one only
    // Java code runs that `use_it` itself starts, in a `during` of its own.
    Some(use_it(unsafe { &mut *pointer }))
}

/// The link to the user of the call that is running on this thread, if it is apart.
pub fn far() -> Option<Arc<UserLink>> {
    CURRENT.with_borrow(|current| match current {
        Current::Here(..) => None,
        Current::Apart(far) => Some(far.clone()),
    })
}

/// Uses the visit of the call that is running on this thread; `None` if there is none, or if its user has gone on without it.
pub fn visit<R: Send + 'static>(
    use_it: impl FnOnce(&mut Visit<'_>) -> R + Send + 'static,
) -> Option<R> {
    match far() {
        Some(far) => far.ask(use_it),
        None => here(use_it),
    }
}

/// As `visit`, for uses that change no variables.
pub fn look<R: Send + 'static>(
    use_it: impl FnOnce(&mut Visit<'_>) -> R + Send + 'static,
) -> Option<R> {
    match far() {
        Some(far) => far.look(use_it),
        None => here(use_it),
    }
}

/// As `look`, for uses without an answer: they may run later, but before any question is answered.
pub fn order(order: impl FnOnce(&mut Visit<'_>) + Send + 'static) -> Option<()> {
    match far() {
        Some(far) => far.order(order),
        None => here(order),
    }
}

/// A line that a thread has joined.
struct Joined {
    line: Arc<Line>,
    before: Current,
    held_before: *const Line,
    /// Whether the call is in place, so that this thread holds the line.
    is_taken: bool,
}

/// Lets this thread, which belongs to no call, use the call of a user until [`leave`]; false if none is running.
pub fn join(number: u64) -> bool {
    let Some(line) = lines(|lines| lines.get(&number).and_then(Weak::upgrade)) else {
        return false;
    };
    let is_inner = HELD.get() == Arc::as_ptr(&line);
    if !is_inner {
        line.take();
    }
    let call = line.state().call.clone();
    let (current, is_taken) = match call {
        // This thread already holds the line, so uses of the visit take no other.
        Some(RunningCall::Here(Pointer(visit))) => (Current::Here(visit, null()), true),
        Some(RunningCall::Apart(far)) => (Current::Apart(far), false),
        None => {
            if !is_inner {
                line.give_back();
            }
            return false;
        }
    };
    if !is_taken && !is_inner {
        line.give_back();
    }
    let is_taken_here = is_taken && !is_inner;
    let held_before = if is_taken {
        HELD.replace(Arc::as_ptr(&line))
    } else {
        HELD.get()
    };
    let before = CURRENT.replace(current);
    JOINED.with_borrow_mut(|joined| {
        joined.push(Joined {
            line,
            before,
            held_before,
            is_taken: is_taken_here,
        });
    });
    true
}

/// Ends what the last [`join`] of this thread began.
pub fn leave() {
    let Some(joined) = JOINED.with_borrow_mut(Vec::pop) else {
        return;
    };
    CURRENT.set(joined.before);
    HELD.set(joined.held_before);
    if joined.is_taken {
        joined.line.give_back();
    }
}
