//! Which user's call is running on a thread.

use std::cell::Cell;
use std::ptr::null_mut;

use drumfire_engine::java::Visit;

thread_local! {
    static CURRENT: Cell<*mut Visit<'static>> = const { Cell::new(null_mut()) };
}

/// Lets Java code that `run` starts on this thread reach a visit.
pub fn during<R>(visit: &mut Visit<'_>, run: impl FnOnce() -> R) -> R {
    /// Puts the visit of the call around this one back, also when `run` panics.
    struct Back(*mut Visit<'static>);
    impl Drop for Back {
        fn drop(&mut self) {
            CURRENT.set(self.0);
        }
    }
    let own: *mut Visit<'_> = visit;
    let _back = Back(CURRENT.replace(own.cast()));
    run()
}

/// The visit of the call that is running on this thread; `None` if there is none.
pub fn visit<R>(use_it: impl FnOnce(&mut Visit<'_>) -> R) -> Option<R> {
    let pointer = CURRENT.get();
    if pointer.is_null() {
        return None;
    }
    // SAFETY: `during` holds the visit exclusively borrowed for as long as the pointer is set on this thread, and uses it for
    // nothing else. While `use_it` runs nothing else on this thread reads the pointer, except for Java code that `use_it`
    // itself starts, which runs in a `during` of its own.
    Some(use_it(unsafe { &mut *pointer }))
}
