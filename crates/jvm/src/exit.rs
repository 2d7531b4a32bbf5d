//! Java is exiting: a call to `System.exit` never returns. No thread may be stopped any more, since the virtual machine
//! would then end the process in the middle of the run.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

static HAS_BEGUN: AtomicBool = AtomicBool::new(false);
static BEGINS: Notify = Notify::const_new();

pub fn begin() {
    HAS_BEGUN.store(true, Ordering::Release);
    BEGINS.notify_waiters();
}

pub fn has_begun() -> bool {
    HAS_BEGUN.load(Ordering::Acquire)
}

/// Ends when the exit begins.
pub async fn begins() {
    let told = BEGINS.notified();
    if !has_begun() {
        told.await;
    }
}
