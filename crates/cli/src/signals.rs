//! Ctrl-C and SIGTERM.

use std::io;
use std::thread::JoinHandle;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::oneshot;

use crate::exit_codes::Exit;

/// After this many signals the process ends at once, in case the orderly end does not come.
const ENOUGH: u32 = 3;

/// Listens for signals until it is dropped.
#[derive(Debug)]
pub struct Listening {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Calls `told` with the number of signals so far, from 1, each time the process gets SIGINT or SIGTERM.
///
/// # Errors
/// A handler or a thread that cannot be made.
pub fn listen(told: impl FnMut(u32) + Send + 'static) -> io::Result<Listening> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let (interrupt, terminate) = {
        let _entered = runtime.enter();
        (
            signal(SignalKind::interrupt())?,
            signal(SignalKind::terminate())?,
        )
    };
    let (stop, stopped) = oneshot::channel();
    let thread = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(move || runtime.block_on(count(interrupt, terminate, stopped, told)))?;
    Ok(Listening {
        stop: Some(stop),
        thread: Some(thread),
    })
}

async fn count(
    mut interrupt: Signal,
    mut terminate: Signal,
    mut stopped: oneshot::Receiver<()>,
    mut told: impl FnMut(u32),
) {
    let mut so_far = 0;
    loop {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
            _ = &mut stopped => return,
        }
        so_far += 1;
        if so_far >= ENOUGH {
            std::process::exit(i32::from(Exit::Interrupted.code()));
        }
        told(so_far);
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The receiver is gone only if the thread has ended already.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
