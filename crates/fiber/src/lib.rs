//! Futures whose synchronous code may wait for other futures.
//!
//! A [`Fiber`] polls a future on its own stack. Code that the future calls, at any depth, may [`wait`] for another future: the
//! fiber then suspends, leaves its stack as it is, and returns pending to its executor. When it is woken, it resumes in the
//! middle of that code. Meanwhile other tasks of the thread run, so code must not wait while it holds a lock or a `RefCell` that
//! they need.
//!
//! Code that must run on the thread's own stack, such as a Java virtual machine, is called [`outside`] of all fibers.

use std::cell::{Cell, RefCell};
use std::io;
use std::pin::{Pin, pin};
use std::ptr::NonNull;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

/// The size of a fiber's stack in bytes. The system only allocates a page when it is first touched.
const STACK_BYTES: usize = 1 << 20;

thread_local! {
    /// The fiber whose code runs on this thread.
    static CURRENT: RefCell<Option<Rc<Place>>> = const { RefCell::new(None) };
}

/// The fiber's state that its code needs.
#[derive(Default)]
struct Place {
    /// Set once the fiber has started.
    yielder: Cell<Option<NonNull<Yielder<(), ()>>>>,
    /// Wakes the fiber's task.
    waker: RefCell<Option<Waker>>,
    /// The fiber that polls this one.
    outer: RefCell<Option<Rc<Place>>>,
}

impl Place {
    fn waker(&self) -> Waker {
        let waker = self.waker.borrow().clone();
        waker.expect("a fiber that runs has been polled")
    }

    fn yielder(&self) -> &Yielder<(), ()> {
        let yielder = self.yielder.get().expect("the fiber has started");
        // SAFETY: the yielder lives in the frame at the bottom of the fiber's stack, which stays until the fiber's code has
        // ended. Only code of the current fiber calls this: `CURRENT` holds a place only while its fiber runs.
        unsafe { yielder.as_ref() }
    }
}

/// Sets the current fiber, and restores the previous one when dropped.
struct Entered(Option<Rc<Place>>);

impl Entered {
    fn new(place: Option<Rc<Place>>) -> Entered {
        Entered(CURRENT.replace(place))
    }
}

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// A future with its own stack. If it is dropped before it completes, its stack is unwound.
pub struct Fiber<T> {
    coroutine: Coroutine<(), (), T, DefaultStack>,
    place: Rc<Place>,
}

impl<T: 'static> Fiber<T> {
    /// Creates a fiber that runs this future.
    ///
    /// # Errors
    /// The system has no memory for its stack.
    pub fn new(future: impl Future<Output = T> + 'static) -> io::Result<Fiber<T>> {
        let stack = DefaultStack::new(STACK_BYTES)?;
        let place = Rc::new(Place::default());
        let own = place.clone();
        // Box large values, because they cannot be moved to the other stack.
        let mut future = Box::pin(future);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            own.yielder.set(Some(NonNull::from(yielder)));
            loop {
                let waker = own.waker();
                match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                    Poll::Ready(output) => return output,
                    Poll::Pending => yielder.suspend(()),
                }
            }
        });
        Ok(Fiber { coroutine, place })
    }
}

impl<T: 'static> Future for Fiber<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<T> {
        let fiber = self.get_mut();
        fiber.place.waker.replace(Some(task.waker().clone()));
        let outer = CURRENT.with_borrow(Clone::clone);
        fiber.place.outer.replace(outer);
        let _entered = Entered::new(Some(fiber.place.clone()));
        match fiber.coroutine.resume(()) {
            CoroutineResult::Yield(()) => Poll::Pending,
            CoroutineResult::Return(output) => Poll::Ready(output),
        }
    }
}

/// Runs a future in a [`Fiber`].
///
/// # Panics
/// The system has no memory for its stack.
pub async fn on_own_stack<T: 'static>(future: impl Future<Output = T> + 'static) -> T {
    match Fiber::new(future) {
        Ok(fiber) => fiber.await,
        Err(error) => panic!("there is no memory for a stack: {error}"),
    }
}

/// Waits for a future in the middle of synchronous code. Returns `None` if the code does not run in a fiber; the future is then
/// not polled.
pub fn wait<T>(future: impl Future<Output = T>) -> Option<T> {
    let place = CURRENT.with_borrow(Clone::clone)?;
    let mut future = pin!(future);
    loop {
        let waker = place.waker();
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(output) => return Some(output),
            Poll::Pending => place.yielder().suspend(()),
        }
    }
}

/// Calls code on the thread's own stack, where it cannot [`wait`].
pub fn outside<R>(code: impl FnOnce() -> R) -> R {
    let mut code = Some(code);
    let mut result = None;
    call_outside(&mut || result = code.take().map(|code| code()));
    result.expect("the code has been called")
}

fn call_outside(code: &mut dyn FnMut()) {
    let Some(place) = CURRENT.with_borrow(Clone::clone) else {
        return code();
    };
    let _entered = Entered::new(place.outer.borrow().clone());
    let code = Lent(code);
    place
        .yielder()
        .on_parent_stack(move || call_outside(code.get()));
}

/// A closure lent to another stack of the same thread.
struct Lent<'c>(&'c mut dyn FnMut());

// SAFETY: it never leaves its thread. The bound of `on_parent_stack` exists to keep a yielder off the parent's stack, and code
// that is called there finds none: `CURRENT` is what it was for the fiber's caller.
unsafe impl Send for Lent<'_> {}

impl<'c> Lent<'c> {
    fn get(self) -> &'c mut dyn FnMut() {
        self.0
    }
}
