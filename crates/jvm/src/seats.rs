//! The threads that run Java code, so that a run which must stop now can interrupt them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use jni::objects::JObject;
use jni::refs::Global;

/// A thread that runs Java code.
pub struct CallSeat {
    busy: AtomicBool,
    thread: Global<JObject<'static>>,
}

static SEATS: Mutex<Vec<Weak<CallSeat>>> = Mutex::new(Vec::new());

thread_local! {
    static OWN: std::cell::OnceCell<Arc<CallSeat>> = const { std::cell::OnceCell::new() };
}

/// The seat of this thread; `thread` returns its `java.lang.Thread`.
pub fn own<E>(
    thread: impl FnOnce() -> Result<Global<JObject<'static>>, E>,
) -> Result<Arc<CallSeat>, E> {
    OWN.with(|own| {
        if let Some(seat) = own.get() {
            return Ok(seat.clone());
        }
        let seat = Arc::new(CallSeat {
            busy: AtomicBool::new(false),
            thread: thread()?,
        });
        let mut seats = SEATS.lock().unwrap_or_else(PoisonError::into_inner);
        seats.retain(|seat| seat.strong_count() > 0);
        seats.push(Arc::downgrade(&seat));
        Ok(own.get_or_init(|| seat).clone())
    })
}

/// Marks a thread as busy until it is dropped; then the thread is as before.
pub struct Busy<'s>(&'s CallSeat, bool);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        self.0.busy.store(self.1, Ordering::Relaxed);
    }
}

/// The threads that are running Java code.
pub fn all_busy() -> Vec<Arc<CallSeat>> {
    let seats = SEATS.lock().unwrap_or_else(PoisonError::into_inner);
    seats
        .iter()
        .filter_map(Weak::upgrade)
        .filter(|seat| seat.busy.load(Ordering::Relaxed))
        .collect()
}

impl CallSeat {
    pub fn busy(&self) -> Busy<'_> {
        Busy(self, self.busy.swap(true, Ordering::Relaxed))
    }

    pub fn thread(&self) -> &JObject<'static> {
        &self.thread
    }
}
